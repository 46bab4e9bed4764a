#include "summary.h"

#include "forecast.h"
#include "stats.h"

#include <errno.h>
#include <math.h>

static bool counts(const struct experiment_run *run, size_t condition)
{
	return run->condition == condition && run->result.measured && run->result.figures.valid;
}

/* A sum of which one part is missing is missing. */
static void add_count(uint64_t *sum, uint64_t more)
{
	*sum = *sum == FIGURE_ABSENT || more == FIGURE_ABSENT ? FIGURE_ABSENT : *sum + more;
}

static void add_run(struct summary *s, const struct figures *x)
{
	s->runs++;
	s->requests += x->requests;
	s->ok += x->ok;
	s->cpu_cores_mean += x->cpu_cores_mean;
	s->of_limit += x->of_limit;
	s->cpu_ms_per_request += x->cpu_cores_mean * x->cpu_observed_s * 1000 / (double)x->requests;
	s->p99_low_ms = fmin(s->p99_low_ms, x->p99_ms);
	s->p99_high_ms = fmax(s->p99_high_ms, x->p99_ms);
	s->lateness_p99_ms = fmax(s->lateness_p99_ms, x->lateness_p99_ms);
	add_count(&s->nr_periods, x->nr_periods);
	add_count(&s->nr_throttled, x->nr_throttled);
	add_count(&s->throttled_usec, x->throttled_usec);
	add_count(&s->psi_cpu_some_usec, x->psi_cpu_some_usec);
}

static size_t collect(const struct experiment *e, size_t condition, int64_t *latencies_ns)
{
	size_t n = 0;
	for (size_t i = 0; i < e->n_runs; i++) {
		const struct requests *all = &e->runs[i].result.requests;
		for (size_t k = 0; counts(&e->runs[i], condition) && k < all->n; k++)
			if (request_ok(&all->list[k]))
				latencies_ns[n++] = request_latency_ns(&all->list[k]);
	}
	return n;
}

static void add_parts(const struct experiment_run *run, int64_t from_ns, struct summary *s)
{
	for (size_t k = 0; k < run->result.requests.n; k++) {
		const struct request *r = &run->result.requests.list[k];
		int64_t ns[PARTS];
		if (!request_ok(r) || request_latency_ns(r) < from_ns || !parts_of(r, &run->result.ticks, ns))
			continue;
		for (int p = 0; p < PARTS; p++)
			s->parts_ms[p] += (double)ns[p] / 1e6;
		s->parts_total_ms += (double)request_latency_ns(r) / 1e6;
		s->n_parts++;
	}
}

static void take_parts(const struct experiment *e, size_t condition, int64_t from_ns, struct summary *s)
{
	for (size_t i = 0; i < e->n_runs; i++)
		if (counts(&e->runs[i], condition))
			add_parts(&e->runs[i], from_ns, s);
	for (int p = 0; p < PARTS; p++)
		s->parts_ms[p] = s->n_parts ? s->parts_ms[p] / (double)s->n_parts : (double)NAN;
	s->parts_total_ms = s->n_parts ? s->parts_total_ms / (double)s->n_parts : (double)NAN;
}

static int take_latencies(const struct experiment *e, size_t condition, struct summary *s, struct fault *f)
{
	CLEANUP_FREE int64_t *ns = calloc(s->requests + 1, sizeof *ns);
	if (!ns)
		return fault_set(f, ENOMEM, "summary");
	size_t n = collect(e, condition, ns);
	const struct {
		double *into;
		uint32_t ppm;
	} wanted[] = {
		{&s->p50_ms, STATS_P50}, {&s->p90_ms, STATS_P90}, {&s->p99_ms, STATS_P99}, {&s->max_ms, STATS_MAX}};
	stats_sort(ns, n);
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++)
		*wanted[i].into = n ? (double)stats_percentile(ns, n, wanted[i].ppm) / 1e6 : (double)NAN;
	take_parts(e, condition, n ? stats_percentile(ns, n, STATS_P95) : INT64_MAX, s);
	return 0;
}

/* The probe of a study has one worker. A run that cannot be replayed is left out. */
static int take_predictions(const struct experiment *e, size_t condition, struct summary *s, struct fault *f)
{
	const struct forecast_server server = {.workers = 1, .cpus = 1};
	CLEANUP_FREE int64_t *p99_ns = calloc(e->n_runs + 1, sizeof *p99_ns);
	size_t n = 0;
	if (!p99_ns)
		return fault_set(f, ENOMEM, "summary");
	for (size_t i = 0; i < e->n_runs; i++) {
		const struct figures *x = &e->runs[i].result.figures;
		struct forecast p = {0};
		if (!counts(&e->runs[i], condition))
			continue;
		double cpu_ms = x->cpu_cores_mean * x->cpu_observed_s * 1000 / (double)x->requests;
		if (forecast_of_run(&e->runs[i].result.requests, cpu_ms, s->condition.limit_cpus, x->phase_ms, &server,
				    &p, NULL) == 0)
			p99_ns[n++] = (int64_t)(p.p99_ms * 1e6);
	}
	stats_sort(p99_ns, n);
	s->predicted_p99_ms = n ? (double)stats_median(p99_ns, n) / 1e6 : (double)NAN;
	s->predicted_p99_low_ms = n ? (double)p99_ns[0] / 1e6 : (double)NAN;
	s->predicted_p99_high_ms = n ? (double)p99_ns[n - 1] / 1e6 : (double)NAN;
	return 0;
}

int summary_make(const struct experiment *e, size_t condition, struct summary *s, struct fault *f)
{
	*s = (struct summary){.condition = e->conditions[condition],
			      .p99_low_ms = (double)NAN,
			      .p99_high_ms = (double)NAN,
			      .lateness_p99_ms = (double)NAN};
	for (size_t i = 0; i < e->n_runs; i++) {
		const struct experiment_run *run = &e->runs[i];
		if (counts(run, condition))
			add_run(s, &run->result.figures);
		else if (run->condition == condition)
			s->invalid++;
	}
	/* 0 / 0 is NAN: no valid run, no mean */
	s->cpu_cores_mean /= (double)s->runs;
	s->of_limit /= (double)s->runs;
	s->cpu_ms_per_request /= (double)s->runs;
	int rc = take_latencies(e, condition, s, f);
	return rc ? rc : take_predictions(e, condition, s, f);
}

static void set_count(json_value *o, const char *key, uint64_t count)
{
	if (count == FIGURE_ABSENT)
		json_set_null(o, key);
	else
		json_set_u64(o, key, count);
}

static json_value *parts_json(const struct summary *s)
{
	json_value *parts = json_new_object();
	json_set_u64(parts, "requests", s->n_parts);
	json_set_real(parts, "response_ms", s->parts_total_ms);
	for (enum part p = 0; p < PARTS; p++)
		json_set_real(parts, part_key(p), s->parts_ms[p]);
	return parts;
}

static void set_times(json_value *o, const struct summary *s)
{
	json_set_real(o, "p50_ms", s->p50_ms);
	json_set_real(o, "p90_ms", s->p90_ms);
	json_set_real(o, "p99_ms", s->p99_ms);
	json_set_real(o, "max_ms", s->max_ms);
	json_set_real(o, "p99_low_ms", s->p99_low_ms);
	json_set_real(o, "p99_high_ms", s->p99_high_ms);
	json_set_real(o, "lateness_p99_ms", s->lateness_p99_ms);
	json_set_real(o, "predicted_p99_ms", s->predicted_p99_ms);
	json_set_real(o, "predicted_p99_low_ms", s->predicted_p99_low_ms);
	json_set_real(o, "predicted_p99_high_ms", s->predicted_p99_high_ms);
}

json_value *summary_json(const struct summary *s)
{
	json_value *o = json_new_object();
	if (s->condition.limit_cpus == LIMIT_NO_CPUS)
		json_set_null(o, "limit_cpus");
	else
		json_set_real(o, "limit_cpus", s->condition.limit_cpus);
	json_set_text(o, "pattern", s->condition.load->name);
	json_set_u64(o, "runs", s->runs);
	json_set_u64(o, "runs_invalid", s->invalid);
	json_set_u64(o, "requests", s->requests);
	json_set_u64(o, "ok", s->ok);
	json_set_real(o, "cpu_cores_mean", s->cpu_cores_mean);
	json_set_real(o, "of_limit", s->of_limit);
	json_set_real(o, "cpu_ms_per_request", s->cpu_ms_per_request);
	set_times(o, s);
	set_count(o, "nr_periods", s->nr_periods);
	set_count(o, "nr_throttled", s->nr_throttled);
	set_count(o, "throttled_usec", s->throttled_usec);
	set_count(o, "psi_cpu_some_usec", s->psi_cpu_some_usec);
	json_set_value(o, "above_p95", parts_json(s));
	return o;
}
