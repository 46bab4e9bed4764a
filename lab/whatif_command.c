#include "commands.h"

#include "forecast.h"
#include "session.h"
#include "stats.h"
#include "tables.h"
#include "units.h"
#include "whatif_runs.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>
#include <unistd.h>

enum { LIMITS_MAX = 32, LINE_WIDTH = 110 };

static const double step_cpus = 0.05;

struct options {
	const char *path, *limits_text, *pattern;
	int64_t wish_ns, burst_ns;
	bool wish_given;
	uint64_t workers, cpus;
	int output;
	double limits[LIMITS_MAX]; /* 0 = none */
	size_t n_limits;
};

static const char examples[] =
	"  headroom what-if results/2026-12-01T10-00-00Z --p99 50ms       the smallest limit that keeps p99 below it\n"
	"  headroom what-if all.csv --limits 0.5,1,2,none --workers 4     records of headroom-load --requests all.csv\n";

static const char notes[] =
	"The requests of an observed run (arrivals, CPU time of each) are replayed through a model of the quota. Left out:\n"
	"other work on the CPUs, and that a request may cost another amount of CPU under another limit.\n"
	"Exit status: 0 done, 1 the file could not be used, or no limit meets --p99, 2 wrong options.\n";

static int begin_options(struct options *o, int *argc, char **argv)
{
	const struct opt table[] = {
		{"p99", 0, OPT_DURATION, &o->wish_ns, "TIME", "find the smallest limit with which p99 is at most this",
		 NULL, 1, INT64_MAX, &o->wish_given},
		{"limits", 0, OPT_TEXT, &o->limits_text, "CPUS,CPUS,...|none",
		 "which limits to predict (default: 0.1 to 1, 2, none)", NULL, 0, 0, NULL},
		{"pattern", 0, OPT_TEXT, &o->pattern, "NAME",
		 "of a folder: only the runs with this one (default: each in turn)", NULL, 0, 0, NULL},
		{"workers", 0, OPT_U64, &o->workers, "N", "requests that the service handles at once (default 1)", NULL,
		 1, WHATIF_WORKERS_MAX, NULL},
		{"cpus", 0, OPT_U64, &o->cpus, "N", "CPUs that it can run on at once (default: of this host)", NULL, 1,
		 4096, NULL},
		{"burst", 0, OPT_DURATION, &o->burst_ns, "TIME",
		 "CPU time that may be saved from idle periods: cpu.max.burst (default 0)", NULL, 0, 60 * NSEC_PER_SEC,
		 NULL},
		{"output", 'o', OPT_CHOICE, &o->output, "table|json", "form of the answer (default table)",
		 session_output_names, 0, 0, NULL},
		{NULL, 0, OPT_FLAG, NULL, NULL, NULL, NULL, 0, 0, NULL},
	};
	const struct opts_spec spec = {.program = "headroom what-if",
				       .usage = "RESULTS|REQUESTS.csv [options]",
				       .summary = "What would p99 be under another CPU limit?",
				       .examples = examples,
				       .notes = notes,
				       .table = table};
	return opts_begin(&spec, argc, argv, stdout, stderr);
}

static int usage_error(const char *sentence)
{
	fprintf(stderr, "headroom what-if: %s\n", sentence);
	return 2;
}

static bool take_limit(struct options *o, const char *text)
{
	double cpus = 0;
	if (o->n_limits == LIMITS_MAX)
		return false;
	if (strcmp(text, "none") != 0 && (units_parse_decimal(text, &cpus, NULL) < 0 || cpus < 0.01 || cpus > 4096))
		return false;
	o->limits[o->n_limits++] = cpus;
	return true;
}

/* -1 to go on, else the exit status. */
static int complete_options(struct options *o, int argc, char **argv)
{
	CLEANUP_FREE char *text =
		strdup(o->limits_text ? o->limits_text : "0.1,0.15,0.2,0.25,0.3,0.4,0.5,0.75,1,2,none");
	if (argc != 2)
		return usage_error("takes one folder of results or one requests.csv (headroom what-if --help)");
	o->path = argv[1];
	if (!o->cpus)
		o->cpus = (uint64_t)sysconf(_SC_NPROCESSORS_ONLN);
	char *rest = text;
	for (char *one = rest ? strsep(&rest, ",") : NULL; one; one = strsep(&rest, ","))
		if (!take_limit(o, one))
			return usage_error(
				"--limits is up to 32 numbers of CPUs, 0.01 to 4096, or none: 0.25,0.5,none");
	return text ? -1 : usage_error("out of memory");
}

/* ---- what is predicted ----------------------------------------------------------------------------------------------
 */

/* One pattern: from whose run, and what came of it. */
struct answer {
	const struct whatif_run *from;
	struct forecast_source source;
	struct forecast all[LIMITS_MAX];
	struct forecast smallest;
	bool found; /* there is a limit that meets the wish */
};

static double p99_ms(const struct requests *r)
{
	CLEANUP_FREE int64_t *times = calloc(r->n ? r->n : 1, sizeof *times);
	size_t n = 0;
	for (size_t i = 0; times && i < r->n; i++)
		if (request_ok(&r->list[i]))
			times[n++] = request_latency_ns(&r->list[i]);
	if (n == 0)
		return NAN;
	stats_sort(times, n);
	return (double)stats_percentile(times, n, STATS_P99) / 1e6;
}

/* The range of p99 over the runs with this pattern and limit; false when there is none. */
static bool measured(const struct whatif_runs *runs, const char *pattern, double cpus, double *low, double *high)
{
	*low = INFINITY;
	*high = -INFINITY;
	for (size_t i = 0; i < runs->n; i++) {
		const struct whatif_run *run = &runs->list[i];
		if (strcmp(run->pattern, pattern) != 0 || !(fabs(run->limit_cpus - cpus) < 1e-9))
			continue;
		*low = fmin(*low, p99_ms(&run->requests));
		*high = fmax(*high, p99_ms(&run->requests));
	}
	return *high >= *low;
}

/* The run with the least limit: what is asked is most often what more would bring. */
static const struct whatif_run *source_run(const struct whatif_runs *runs, const char *pattern)
{
	const struct whatif_run *best = NULL;
	for (size_t i = 0; i < runs->n; i++) {
		const struct whatif_run *run = &runs->list[i];
		double limit = run->limit_cpus > 0 ? run->limit_cpus : (double)INFINITY;
		double least = best && best->limit_cpus > 0 ? best->limit_cpus : (double)INFINITY;
		if (strcmp(run->pattern, pattern) == 0 && (!best || limit < least))
			best = run;
	}
	return best;
}

static struct forecast_server server_of(const struct options *o)
{
	return (struct forecast_server){.workers = (unsigned)o->workers,
					.cpus = (unsigned)o->cpus,
					.burst_usec = (uint64_t)(o->burst_ns / NSEC_PER_USEC)};
}

static int predict(struct answer *a, const struct options *o, const struct whatif_run *from, struct fault *f)
{
	struct forecast_server server = server_of(o);
	*a = (struct answer){.from = from};
	int rc = forecast_source_make(&a->source, &from->requests, from->cpu_ms_per_request, f);
	for (size_t i = 0; rc == 0 && i < o->n_limits; i++)
		rc = forecast_make(&a->source, &server, o->limits[i], &a->all[i], f);
	if (rc < 0 || !o->wish_given)
		return rc;
	struct fault unmet = {0};
	rc = forecast_smallest(&a->source, &server, step_cpus, (double)o->cpus, (double)o->wish_ns / 1e6, &a->smallest,
			       &unmet);
	a->found = rc == 0;
	/* a wish that cannot be met is an answer */
	if (rc == 0 || rc == -ENOENT)
		return 0;
	*f = unmet;
	return rc;
}

/* The same limit and the phase that was observed: how good the model is here. NAN where there is no such run. */
static double predicted_at_observed_phase(const struct options *o, const struct whatif_run *run)
{
	struct forecast_server server = server_of(o);
	struct forecast p = {0};
	if (!(run->limit_cpus > 0) || forecast_of_run(&run->requests, run->cpu_ms_per_request, run->limit_cpus,
						      run->phase_ms, &server, &p, NULL) < 0)
		return NAN;
	return p.p99_ms;
}

/* ---- as text --------------------------------------------------------------------------------------------------------
 */

static void limit_cell(struct table *t, double cpus)
{
	if (cpus > 0)
		table_cell(t, "%g", cpus);
	else
		table_cell(t, "none");
}

static void range_cell(struct table *t, bool known, double low, double high)
{
	if (!known)
		table_cell(t, "-");
	else if (high - low < 0.05)
		table_cell(t, "%.1f", high);
	else
		table_cell(t, "%.1f to %.1f", low, high);
}

static int write_limits(FILE *out, const struct options *o, const struct answer *a, const struct whatif_runs *runs,
			bool color)
{
	static const struct table_column columns[] = {
		{"", "limit", true},
		{"predicted", "p50 (ms)", false},
		{"predicted", "p99 (ms)", false},
		{"predicted", "p99 by phase (ms)", false},
		{"predicted", "throttled periods/s", false},
		{"measured", "p99 of runs (ms)", false},
	};
	struct table t;
	table_init(&t, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < o->n_limits; i++) {
		const struct forecast *p = &a->all[i];
		double low;
		double high;
		bool known = measured(runs, a->from->pattern, p->cpus, &low, &high);
		limit_cell(&t, p->cpus);
		table_number(&t, p->p50_ms, 1, "");
		table_number(&t, p->p99_ms, 1, "");
		range_cell(&t, true, p->p99_low_ms, p->p99_high_ms);
		table_number(&t, p->throttled_per_s, 2, "");
		range_cell(&t, known, low, high);
	}
	int rc = table_write(&t, out, color);
	table_release(&t);
	return rc;
}

static int write_runs(FILE *out, const struct options *o, const struct answer *a, const struct whatif_runs *runs,
		      bool color)
{
	static const struct table_column columns[] = {
		{"", "limit", true},
		{"", "run", false},
		{"", "phase (ms)", false},
		{"p99 (ms)", "measured", false},
		{"p99 (ms)", "predicted", false},
		{"", "difference (ms)", false},
	};
	struct table t;
	table_init(&t, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < runs->n; i++) {
		const struct whatif_run *run = &runs->list[i];
		double predicted = predicted_at_observed_phase(o, run);
		if (strcmp(run->pattern, a->from->pattern) != 0 || isnan(predicted))
			continue;
		limit_cell(&t, run->limit_cpus);
		table_cell(&t, "%u", run->repetition);
		table_number(&t, run->phase_ms, 1, "");
		table_number(&t, p99_ms(&run->requests), 1, "");
		table_number(&t, predicted, 1, "");
		table_number(&t, predicted - p99_ms(&run->requests), 1, "");
	}
	if (t.n_rows || t.filled)
		fputs("The same runs at the phase that was observed:\n\n", out);
	int rc = t.n_rows || t.filled ? table_write(&t, out, color) : 0;
	table_release(&t);
	return rc;
}

static void write_sentence(FILE *out, const struct options *o, const struct answer *a)
{
	char text[512];
	double wish_ms = (double)o->wish_ns / 1e6;
	if (!o->wish_given)
		return;
	if (a->found)
		snprintf(
			text, sizeof text,
			"With %g CPUs p99 stays at or below %g ms, whatever the phase: predicted %.1f ms, at worst %.1f ms. It "
			"is the smallest limit that does, in steps of %g CPUs.",
			a->smallest.cpus, wish_ms, a->smallest.p99_ms, a->smallest.p99_high_ms, step_cpus);
	else
		snprintf(text, sizeof text,
			 "No limit up to %" PRIu64 " CPUs brings p99 down to %g ms: what remains is the work of the "
			 "requests and their queue. More workers, or less work, would.",
			 o->cpus, wish_ms);
	tables_wrap(out, "", text, 0, LINE_WIDTH);
	fputc('\n', out);
}

static int write_text(FILE *out, const struct options *o, const struct answer *a, const struct whatif_runs *runs)
{
	bool color = tables_use_color(out);
	const char *pattern = a->from->pattern;
	fprintf(out, "%s%s%zu requests", pattern, *pattern ? ": " : "", a->source.n);
	if (*a->from->limit)
		fprintf(out, ", seen with limit %s (run %u)", a->from->limit, a->from->repetition);
	if (a->source.left_out)
		fprintf(out, "; %zu more tell no CPU time or failed", a->source.left_out);
	fputs("\n\n", out);
	int rc = write_limits(out, o, a, runs, color);
	if (rc == 0)
		rc = write_runs(out, o, a, runs, color);
	write_sentence(out, o, a);
	return rc;
}

/* ---- as JSON --------------------------------------------------------------------------------------------------------
 */

static json_value *forecast_json(const struct forecast *p)
{
	json_value *o = json_new_object();
	if (p->cpus > 0)
		json_set_real(o, "limit_cpus", p->cpus);
	else
		json_set_null(o, "limit_cpus");
	json_set_real(o, "predicted_p50_ms", p->p50_ms);
	json_set_real(o, "predicted_p99_ms", p->p99_ms);
	json_set_real(o, "predicted_p99_low_ms", p->p99_low_ms);
	json_set_real(o, "predicted_p99_high_ms", p->p99_high_ms);
	json_set_real(o, "throttled_periods_per_s", p->throttled_per_s);
	return o;
}

static json_value *run_json(const struct options *o, const struct whatif_run *run)
{
	json_value *v = json_new_object();
	json_set_real(v, "limit_cpus", run->limit_cpus);
	json_set_u64(v, "repetition", run->repetition);
	json_set_real(v, "phase_ms", run->phase_ms);
	json_set_real(v, "measured_p99_ms", p99_ms(&run->requests));
	json_set_real(v, "predicted_p99_ms", predicted_at_observed_phase(o, run));
	return v;
}

static json_value *answer_json(const struct options *o, const struct answer *a, const struct whatif_runs *runs)
{
	json_value *v = json_new_object();
	json_value *limits = json_new_array();
	json_value *seen = json_new_array();
	json_set_text(v, "pattern", *a->from->pattern ? a->from->pattern : NULL);
	json_set_u64(v, "requests", a->source.n);
	for (size_t i = 0; i < o->n_limits; i++)
		json_add_value(limits, forecast_json(&a->all[i]));
	for (size_t i = 0; i < runs->n; i++)
		if (strcmp(runs->list[i].pattern, a->from->pattern) == 0 && runs->list[i].limit_cpus > 0)
			json_add_value(seen, run_json(o, &runs->list[i]));
	json_set_value(v, "limits", limits);
	json_set_value(v, "runs", seen);
	if (o->wish_given && a->found)
		json_set_value(v, "smallest", forecast_json(&a->smallest));
	else
		json_set_null(v, "smallest");
	return v;
}

/* ---- the whole ------------------------------------------------------------------------------------------------------
 */

static bool is_first_of_its_pattern(const struct whatif_runs *runs, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strcmp(runs->list[k].pattern, runs->list[i].pattern) == 0)
			return false;
	return true;
}

static int answer_one(const struct options *o, const struct whatif_runs *runs, const char *pattern, json_value *all,
		      bool *met, struct fault *f)
{
	struct answer a;
	int rc = predict(&a, o, source_run(runs, pattern), f);
	if (rc == 0 && o->output == SESSION_JSON)
		json_add_value(all, answer_json(o, &a, runs));
	else if (rc == 0)
		rc = write_text(stdout, o, &a, runs);
	if (rc == 0 && o->wish_given && !a.found)
		*met = false;
	forecast_source_release(&a.source);
	return rc;
}

/* The exit status. */
static int answer_all(const struct options *o, const struct whatif_runs *runs, struct fault *f)
{
	CLEANUP_JSON json_value *all = json_new_array();
	bool met = true;
	size_t answered = 0;
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < runs->n; i++) {
		const char *pattern = runs->list[i].pattern;
		if (!is_first_of_its_pattern(runs, i) || (o->pattern && strcmp(o->pattern, pattern) != 0))
			continue;
		answered++;
		rc = answer_one(o, runs, pattern, all, &met, f);
	}
	if (rc == 0 && answered == 0)
		rc = fault_set(f, -ENOENT, "%s has no run with the pattern '%.40s'", o->path, o->pattern);
	if (rc == 0 && o->output == SESSION_JSON)
		rc = json_write(all, stdout, 2);
	if (rc == 0 && fflush(stdout) != 0)
		rc = fault_set(f, errno, "cannot write the answer");
	return rc < 0 || !met ? 1 : 0;
}

int command_what_if(int argc, char **argv)
{
	struct options o = {.workers = 1};
	struct whatif_runs runs = WHATIF_RUNS_NONE;
	struct fault f = {0};
	int status = begin_options(&o, &argc, argv);
	if (status < 0)
		status = complete_options(&o, argc, argv);
	if (status >= 0)
		return status;
	status = whatif_runs_load(&runs, o.path, &f) < 0 ? 1 : answer_all(&o, &runs, &f);
	if (f.err)
		fprintf(stderr, "headroom what-if: %s\n", fault_text(&f));
	whatif_runs_release(&runs);
	return status;
}
