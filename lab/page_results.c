#include "page_results.h"

#include "limits.h"
#include "page_join.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { SCHEMA_VERSION = 1 };

double page_number(const json_value *object, const char *key)
{
	double value;
	return json_get_real(object, key, &value) ? value : (double)NAN;
}

/* ---- summary.json ---------------------------------------------------------------------------------------------------
 */

static int load_summary(struct page_results *r, struct fault *f)
{
	CLEANUP_FREE char *path = NULL;
	int64_t version = 0;
	if (asprintf(&path, "%s/summary.json", r->folder) < 0) {
		path = NULL;
		return fault_set(f, ENOMEM, "summary.json");
	}
	if (access(r->folder, F_OK) < 0)
		return fault_set(f, errno, "cannot open %s", r->folder);
	if (access(path, F_OK) < 0)
		return fault_set(f, -ENOENT, "%s holds no summary.json: no study was finished there", r->folder);
	r->summary = json_parse_file(path, f);
	if (!r->summary)
		return f && f->err ? -f->err : -EINVAL;
	if (!json_get_i64(r->summary, "schema_version", &version) || version != SCHEMA_VERSION)
		return fault_set(f, -EINVAL,
				 "%s: schema_version %lld: this headroom reads version %d; use the one that wrote it",
				 path, (long long)version, SCHEMA_VERSION);
	r->study = json_get_text(r->summary, "study");
	return r->study ? 0 : fault_set(f, -EINVAL, "%s does not tell its study", path);
}

/* ---- runs.csv of study 1 --------------------------------------------------------------------------------------------
 */

struct real_column {
	const char *name;
	size_t offset;
	double unit;
};

static const struct real_column real_columns[] = {
	{"phase_ms", offsetof(struct page_run, phase_ms), 1},
	{"cpu_cores_mean", offsetof(struct page_run, cpu_cores_mean), 1},
	{"of_limit", offsetof(struct page_run, of_limit), 1},
	{"p50_ms", offsetof(struct page_run, p50_ms), 1},
	{"p99_ms", offsetof(struct page_run, p99_ms), 1},
	{"max_ms", offsetof(struct page_run, max_ms), 1},
	{"lateness_p99_ms", offsetof(struct page_run, lateness_p99_ms), 1},
	{"nr_periods", offsetof(struct page_run, nr_periods), 1},
	{"nr_throttled", offsetof(struct page_run, nr_throttled), 1},
	{"throttled_usec", offsetof(struct page_run, throttled_ms), 1e-3},
};

static int take_reals(struct page_run *run, const struct csv_file *c, size_t row, struct fault *f)
{
	for (size_t i = 0; i < ARRAY_LEN(real_columns); i++) {
		double value;
		int column = csv_file_column(c, real_columns[i].name, f);
		int rc = column < 0 ? column : csv_file_real(c, row, column, &value, f);
		if (rc < 0)
			return rc;
		*(double *)(void *)((char *)run + real_columns[i].offset) = value * real_columns[i].unit;
	}
	return 0;
}

static int take_run(struct page_run *run, const struct csv_file *c, size_t row, struct fault *f)
{
	double repetition;
	int limit = csv_file_column(c, "limit_cpus", f);
	int pattern = limit < 0 ? limit : csv_file_column(c, "pattern", f);
	int number = pattern < 0 ? pattern : csv_file_column(c, "repetition", f);
	int valid = number < 0 ? number : csv_file_column(c, "valid", f);
	int rc = valid < 0 ? valid : csv_file_real(c, row, number, &repetition, f);
	if (rc < 0)
		return rc;
	*run = (struct page_run){.limit = csv_file_text(c, row, limit),
				 .pattern = csv_file_text(c, row, pattern),
				 .limit_cpus = (double)NAN,
				 .repetition = repetition >= 1 && repetition < 1e6 ? (unsigned)repetition : 0,
				 .valid = strcmp(csv_file_text(c, row, valid), "true") == 0,
				 .invalid_reason = csv_file_text(c, row, csv_file_column(c, "invalid_reason", NULL))};
	if (strcmp(run->limit, "none") != 0)
		rc = csv_file_real(c, row, limit, &run->limit_cpus, f);
	return rc == 0 ? take_reals(run, c, row, f) : rc;
}

static int take_runs(struct page_results *r, struct fault *f)
{
	int rc = 0;
	r->runs = calloc(r->runs_csv.n_rows + 1, sizeof *r->runs);
	if (!r->runs)
		return fault_set(f, ENOMEM, "runs");
	for (size_t i = 0; rc == 0 && i < r->runs_csv.n_rows; i++) {
		rc = take_run(&r->runs[i], &r->runs_csv, i, f);
		r->n_runs += rc == 0;
	}
	return rc;
}

static int load_study1(struct page_results *r, struct fault *f)
{
	int rc = csv_file_load(&r->requests_csv, r->folder, "requests.csv", f);
	if (rc == 0)
		rc = csv_file_load(&r->periods_csv, r->folder, "periods.csv", f);
	if (rc == 0)
		rc = take_runs(r, f);
	return rc == 0 ? page_join(r, f) : rc;
}

/* ---- the whole ------------------------------------------------------------------------------------------------------
 */

static const char *last_part(const char *folder)
{
	const char *slash = strrchr(folder, '/');
	return slash && slash[1] ? slash + 1 : folder;
}

int page_results_load(struct page_results *r, const char *folder, struct fault *f)
{
	size_t len = strlen(folder);
	*r = (struct page_results){.runs_csv = CSV_FILE_NONE, .folder = strdup(folder)};
	if (!r->folder)
		return fault_set(f, ENOMEM, "results");
	while (len > 1 && r->folder[len - 1] == '/')
		r->folder[--len] = '\0';
	r->name = last_part(r->folder);
	int rc = load_summary(r, f);
	if (rc == 0)
		rc = csv_file_load(&r->runs_csv, r->folder, "runs.csv", f);
	if (rc == 0 && strcmp(r->study, "1") == 0)
		rc = load_study1(r, f);
	if (rc < 0)
		page_results_release(r);
	return rc;
}

void page_results_release(struct page_results *r)
{
	for (size_t i = 0; i < r->n_runs; i++) {
		free(r->runs[i].requests);
		free(r->runs[i].throttled);
		free(r->runs[i].periods);
	}
	free(r->runs);
	csv_file_release(&r->runs_csv);
	csv_file_release(&r->requests_csv);
	csv_file_release(&r->periods_csv);
	json_release(r->summary);
	free(r->folder);
	*r = (struct page_results){.folder = NULL};
}
