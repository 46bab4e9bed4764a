#include "results.h"

#include "clock.h"
#include "csv.h"
#include "files.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* ---- rows -----------------------------------------------------------------------------------------------------------
 */

void results_write_run_head(FILE *out)
{
	fputs("limit_cpus,pattern,repetition,position,phase_ms,requests,ok,duration_s,cpu_observed_s,cpu_cores_mean,"
	      "of_limit,p50_ms,p99_ms,max_ms,lateness_p99_ms,nr_periods,nr_throttled,throttled_usec,psi_cpu_some_usec,"
	      "valid,invalid_reason,planned,p90_ms,mean_ms,psi_io_some_usec,steal_share,rounds,limiter\n",
	      out);
}

static void put_condition(FILE *out, const struct run_plan *plan)
{
	char limit[LIMIT_TEXT_SIZE];
	limit_text(plan->condition.limit_cpus, limit);
	fprintf(out, "%s,%s,%u,%u,", limit, plan->condition.load->name, plan->repetition, plan->position);
}

static void put_extra(FILE *out, const struct run_setup *setup, const struct figures *x)
{
	csv_put_text(out, x->invalid_reason);
	csv_put_count(out, x->planned);
	csv_put_real(out, x->p90_ms, 3);
	csv_put_real(out, x->mean_ms, 3);
	csv_put_count(out, x->psi_io_some_usec);
	csv_put_real(out, x->steal_share, 4);
	csv_put_count(out, setup->rounds);
	fprintf(out, "%s\n", setup->limiter ? limit_way_names[setup->limiter->way] : "remote");
}

void results_write_run_row(FILE *out, const struct run_setup *setup, const struct run_plan *plan,
			   const struct figures *x)
{
	put_condition(out, plan);
	csv_put_real(out, x->phase_ms, 3);
	csv_put_count(out, x->requests);
	csv_put_count(out, x->ok);
	csv_put_real(out, x->duration_s, 3);
	csv_put_real(out, x->cpu_observed_s, 3);
	csv_put_real(out, x->cpu_cores_mean, 5);
	csv_put_real(out, x->of_limit, 4);
	csv_put_real(out, x->p50_ms, 3);
	csv_put_real(out, x->p99_ms, 3);
	csv_put_real(out, x->max_ms, 3);
	csv_put_real(out, x->lateness_p99_ms, 4);
	csv_put_count(out, x->nr_periods);
	csv_put_count(out, x->nr_throttled);
	csv_put_count(out, x->throttled_usec);
	csv_put_count(out, x->psi_cpu_some_usec);
	fputs(x->valid ? "true," : "false,", out);
	put_extra(out, setup, x);
}

void results_write_requests(FILE *out, const struct run_plan *plan, const char *csv, bool with_head)
{
	size_t head = strcspn(csv, "\n");
	if (with_head)
		fprintf(out, "limit_cpus,pattern,repetition,position,%.*s\n", (int)head, csv);
	const char *line = csv + head + (csv[head] == '\n');
	while (*line) {
		size_t len = strcspn(line, "\n");
		put_condition(out, plan);
		fprintf(out, "%.*s\n", (int)len, line);
		line += len + (line[len] == '\n');
	}
}

static void write_periods(FILE *out, const struct run_plan *plan, const struct ticks *ticks)
{
	for (size_t i = 0; i < ticks->n; i++) {
		const struct tick *t = &ticks->list[i];
		put_condition(out, plan);
		fprintf(out, "%" PRId64 ",%" PRId64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 ",%" PRIu64 "\n", t->at.mono_ns,
			t->half_gap_ns, t->at.nr_periods, t->at.nr_throttled, t->at.throttled_usec, t->at.usage_usec);
	}
}

/* ---- the folder -----------------------------------------------------------------------------------------------------
 */

static char *folder_by_time(int64_t wall_ns)
{
	char text[CLOCK_RFC3339_SIZE];
	char *path = NULL;
	clock_rfc3339(wall_ns, text);
	/* without the colons, which some file systems do not like */
	for (char *c = text; *c; c++)
		if (*c == ':')
			*c = '-';
	return asprintf(&path, "results/%s", text) < 0 ? NULL : path;
}

static int refuse_used_folder(const char *folder, struct fault *f)
{
	char path[HEADROOM_PATH_MAX];
	snprintf(path, sizeof path, "%s/runs.csv", folder);
	if (access(path, F_OK) == 0)
		return fault_set(f, -EEXIST, "%s already holds results: choose another --out", folder);
	return 0;
}

int results_begin_runs(struct results *r, struct fault *f)
{
	const struct {
		FILE **file;
		const char *name;
	} all[] = {{&r->runs, "runs.csv"},
		   {&r->requests, "requests.csv"},
		   {&r->periods, "periods.csv"},
		   {&r->sidecar, "sidecar.jsonl"}};
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		*all[i].file = file_append(r->folder, all[i].name, f);
		if (!*all[i].file)
			return f && f->err ? -f->err : -EIO;
	}
	results_write_run_head(r->runs);
	fputs("limit_cpus,pattern,repetition,position,instant_ns,half_gap_ns,nr_periods,nr_throttled,throttled_usec,"
	      "usage_usec\n",
	      r->periods);
	return 0;
}

int results_open(struct results *r, const char *out, struct fault *f)
{
	*r = (struct results){.started_wall_ns = clock_wall_ns()};
	r->folder = out ? strdup(out) : folder_by_time(r->started_wall_ns);
	if (!r->folder)
		return fault_set(f, ENOMEM, "results");
	int rc = folder_make_all(r->folder, f);
	if (rc == 0)
		rc = refuse_used_folder(r->folder, f);
	if (rc < 0) {
		if (rc != -EEXIST)
			fault_prefix(f, rc, "results (--out chooses the folder)");
		results_close(r);
	}
	return rc;
}

int results_add(struct results *r, const struct run_setup *setup, const struct run_plan *plan,
		const struct run_result *run, struct fault *f)
{
	FILE *const files[] = {r->runs, r->requests, r->periods, r->sidecar};
	results_write_run_row(r->runs, setup, plan, &run->figures);
	if (run->requests_csv) {
		results_write_requests(r->requests, plan, run->requests_csv, !r->requests_have_head);
		r->requests_have_head = true;
	}
	write_periods(r->periods, plan, &run->ticks);
	if (run->sidecar_log)
		fputs(run->sidecar_log, r->sidecar);
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (fflush(files[i]) != 0 || ferror(files[i]))
			return fault_set(f, errno ? errno : EIO, "cannot write to %s", r->folder);
	return 0;
}

int results_write_json(const struct results *r, const char *name, const json_value *value, struct fault *f)
{
	char path[HEADROOM_PATH_MAX];
	char fresh[HEADROOM_PATH_MAX + 8];
	snprintf(path, sizeof path, "%s/%s", r->folder, name);
	snprintf(fresh, sizeof fresh, "%s.new", path);
	CLEANUP_FCLOSE FILE *out = fopen(fresh, "we");
	if (!out)
		return fault_set(f, errno, "cannot write %s", fresh);
	int rc = json_write(value, out, 2);
	if (rc < 0)
		return fault_set(f, -rc, "cannot write %s", fresh);
	return rename(fresh, path) < 0 ? fault_set(f, errno, "cannot write %s", path) : 0;
}

void results_close(struct results *r)
{
	FILE *const files[] = {r->runs, r->requests, r->periods, r->sidecar};
	for (size_t i = 0; i < ARRAY_LEN(files); i++)
		if (files[i])
			fclose(files[i]);
	free(r->folder);
	*r = RESULTS_NONE;
}
