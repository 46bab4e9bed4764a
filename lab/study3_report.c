#include "study3_report.h"

#include "clock.h"
#include "host.h"
#include "study1_tables.h"
#include "tables.h"

#include <inttypes.h>
#include <math.h>

void study3_write_intro(FILE *out, const struct study3_report *r, bool color)
{
	const struct session *s = r->session;
	char kernel[128];
	host_kernel(kernel, sizeof kernel);
	tables_style(out, "\033[1m", color);
	fprintf(out, "Study 3: how many threads, under a limit of %g CPUs", r->cpus);
	tables_style(out, "\033[0m", color);
	fprintf(out, "\n\nmachine   %s, %u CPUs\nlimiter   %s (%s)\n", kernel, host_nproc(),
		limit_way_names[s->limiter.way], s->limiter.text);
	fprintf(out, "work      %" PRIu64 " rounds of SHA-256 for %d ms of CPU%s\n", s->calibration.rounds,
		CALIBRATED_CPU_MS, isnan(s->calibration.cpu_ms) ? " (given)" : ", calibrated outside of any limit");
	fprintf(out,
		"load      closed loop: each thread sends its next request when it has its answer\n"
		"runs      %zu x %g s for each number of threads, in drawn order; seed %" PRIu64 "\n\n",
		r->repetitions, r->seconds, s->seed);
	fflush(out);
}

/* ---- tables ---------------------------------------------------------------------------------------------------------
 */

static const struct table_column columns[] = {
	{NULL, "threads", false},
	{NULL, "of law's N", false},
	{NULL, "mean response (ms)", false},
	{NULL, "p99 (ms)", false},
	{NULL, "requests/s", false},
	{NULL, "of the most", false},
	{NULL, "CPU", false},
	{NULL, "of the limit", false},
	{NULL, "throttled periods", false},
	{"of one request (ms)", "CPU", false},
	{"of one request (ms)", "wait", false},
};

static void put_point(struct table *t, const struct study3_outcome *o, const struct study3_point *p)
{
	table_cell(t, "%" PRIu64, p->threads);
	table_number(t, (double)p->threads / o->law_threads, 2, "");
	table_number(t, p->mean_ms, 1, "");
	table_number(t, p->p99_ms, 1, "");
	table_number(t, p->requests_per_s, 1, "");
	table_number(t, p->requests_per_s / o->max_rate * 100, 0, "%");
	table_number(t, p->cpu_cores_mean, 3, "");
	table_number(t, p->of_limit * 100, 0, "%");
	table_number(t, p->nr_throttled == FIGURE_ABSENT ? (double)NAN : (double)p->nr_throttled, 0, "");
	table_number(t, p->cpu_ms, 2, "");
	table_number(t, p->wait_ms, 1, "");
}

static int write_table(FILE *out, const struct study3_outcome *o, bool color)
{
	struct table t;
	table_init(&t, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < o->n; i++)
		put_point(&t, o, &o->points[i]);
	int rc = table_write(&t, out, color);
	table_release(&t);
	return rc;
}

static const struct table_column published_columns[] = {
	{NULL, "threads", false},
	{NULL, "of law's N", false},
	{NULL, "mean response (ms)", false},
	{NULL, "requests/s", false},
};

static int write_published(FILE *out, const struct study3_published *p, bool color)
{
	struct table t;
	if (p->n == 0)
		return 0;
	fprintf(out, "Published, with 2 CPUs (N = %.1f):\n\n", p->law_threads);
	table_init(&t, published_columns, ARRAY_LEN(published_columns));
	for (size_t i = 0; i < p->n; i++) {
		table_number(&t, p->points[i].threads, 0, "");
		table_number(&t, p->points[i].threads / p->law_threads, 2, "");
		table_number(&t, p->points[i].mean_ms, 0, "");
		table_number(&t, p->points[i].requests_per_s, 1, "");
	}
	int rc = table_write(&t, out, color);
	table_release(&t);
	return rc;
}

static int write_case(FILE *out, const struct study3_report *r, size_t c, bool color)
{
	const struct study3_outcome *o = &r->outcomes[c];
	char text[STUDY3_TEXT_SIZE];
	fprintf(out, "Case %zu, %s: %s. N = %.2f as asked for, %.2f with the measured CPU and wait.\n\n", c + 1,
		o->of->name, o->of->text, o->law_nominal, o->law_threads);
	int rc = write_table(out, o, color);
	study3_sentence(o, r->cpus, text);
	study1_put_paragraph(out, text);
	return rc == 0 ? write_published(out, &study3_published[c], color) : rc;
}

static void write_left_out(FILE *out, const struct study3_report *r)
{
	for (size_t i = 0; i < r->n_runs; i++)
		if (!r->runs[i].valid)
			fprintf(out, "left out: %s with %" PRIu64 " threads, repetition %u: %s\n", r->runs[i].of->name,
				r->runs[i].threads, r->runs[i].repetition, r->runs[i].invalid_reason);
}

int study3_write_text(FILE *out, const struct study3_report *r, bool color)
{
	const struct study3_judgement *j = r->judgement;
	int rc = 0;
	for (size_t c = 0; rc == 0 && c < STUDY3_CASES; c++)
		if (r->outcomes[c].n > 0)
			rc = write_case(out, r, c, color);
	write_left_out(out, r);
	if (!j) {
		fprintf(out, "shape: not judged, the study is not finished (%s)\n", r->unfinished);
		return rc;
	}
	tables_style(out, j->n ? "\033[31m" : "\033[32m", color);
	fprintf(out, "shape: %s", j->n ? "differs from the published one" : "as published");
	tables_style(out, "\033[0m", color);
	fputc('\n', out);
	for (size_t i = 0; i < j->n; i++)
		fprintf(out, "  - %s\n", j->differences[i]);
	return rc;
}

/* ---- JSON -----------------------------------------------------------------------------------------------------------
 */

static json_value *point_json(const struct study3_point *p)
{
	json_value *o = json_new_object();
	json_set_u64(o, "threads", p->threads);
	json_set_u64(o, "runs", p->runs);
	json_set_real(o, "mean_ms", p->mean_ms);
	json_set_real(o, "p50_ms", p->p50_ms);
	json_set_real(o, "p99_ms", p->p99_ms);
	json_set_real(o, "requests_per_s", p->requests_per_s);
	json_set_real(o, "cpu_cores_mean", p->cpu_cores_mean);
	json_set_real(o, "of_limit", p->of_limit);
	if (p->nr_throttled == FIGURE_ABSENT)
		json_set_null(o, "nr_throttled");
	else
		json_set_u64(o, "nr_throttled", p->nr_throttled);
	json_set_real(o, "cpu_ms_per_request", p->cpu_ms);
	json_set_real(o, "wait_ms_per_request", p->wait_ms);
	return o;
}

static json_value *published_json(const struct study3_published *p)
{
	json_value *points = json_new_array();
	for (size_t i = 0; i < p->n; i++) {
		json_value *o = json_new_object();
		json_set_real(o, "threads", p->points[i].threads);
		json_set_real(o, "mean_ms", p->points[i].mean_ms);
		json_set_real(o, "requests_per_s", p->points[i].requests_per_s);
		json_add_value(points, o);
	}
	return points;
}

static json_value *case_json(const struct study3_outcome *c, const struct study3_published *published, double cpus)
{
	json_value *o = json_new_object();
	json_value *points = json_new_array();
	char text[STUDY3_TEXT_SIZE];
	json_set_text(o, "name", c->of->name);
	json_set_text(o, "text", c->of->text);
	json_set_real(o, "cpu_ms", c->of->cpu_ms);
	json_set_real(o, "wait_ms", c->of->wait_ms);
	json_set_u64(o, "pool_units", c->of->pool_units);
	json_set_real(o, "pool_hold_ms", c->of->hold_ms);
	json_set_real(o, "measured_cpu_ms", c->cpu_ms);
	json_set_real(o, "measured_wait_ms", c->wait_ms);
	json_set_real(o, "law_threads_nominal", c->law_nominal);
	json_set_real(o, "law_threads", c->law_threads);
	json_set_real(o, "max_requests_per_s", c->max_rate);
	json_set_real(o, "knee_threads", c->knee_threads);
	json_set_text(o, "knee_method", study3_method_names[c->method]);
	json_set_real(o, "difference", c->difference);
	for (size_t i = 0; i < c->n; i++)
		json_add_value(points, point_json(&c->points[i]));
	json_set_value(o, "points", points);
	json_set_value(o, "published", published_json(published));
	study3_sentence(c, cpus, text);
	json_set_text(o, "sentence", *text ? text : NULL);
	return o;
}

static json_value *judgement_json(const struct study3_judgement *j)
{
	json_value *o = json_new_object();
	json_value *differences = json_new_array();
	json_set_bool(o, "as_published", j->n == 0);
	for (size_t i = 0; i < j->n; i++)
		json_add_text(differences, j->differences[i]);
	json_set_value(o, "differences", differences);
	return o;
}

json_value *study3_json(const struct study3_report *r)
{
	const struct session *s = r->session;
	json_value *o = json_new_object();
	json_value *cases = json_new_array();
	char text[128];
	json_set_u64(o, "schema_version", 1);
	json_set_text(o, "study", "3");
	clock_rfc3339(s->results.started_wall_ns, text);
	json_set_text(o, "started", text);
	host_kernel(text, sizeof text);
	json_set_text(o, "kernel", text);
	json_set_u64(o, "nproc", host_nproc());
	json_set_text(o, "limiter", limit_way_names[s->limiter.way]);
	json_set_real(o, "limit_cpus", r->cpus);
	json_set_u64(o, "rounds", s->calibration.rounds);
	json_set_real(o, "calibrated_cpu_ms", s->calibration.cpu_ms);
	json_set_real(o, "seconds", r->seconds);
	json_set_u64(o, "repetitions", r->repetitions);
	json_set_u64(o, "seed", s->seed);
	for (size_t c = 0; c < STUDY3_CASES; c++)
		if (r->outcomes[c].n > 0)
			json_add_value(cases, case_json(&r->outcomes[c], &study3_published[c], r->cpus));
	json_set_value(o, "cases", cases);
	if (r->judgement)
		json_set_value(o, "judgement", judgement_json(r->judgement));
	else
		json_set_null(o, "judgement");
	json_set_text(o, "unfinished", r->unfinished);
	json_set_text(o, "results", s->results.folder);
	return o;
}
