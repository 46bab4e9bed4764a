#include "forecast.h"

#include "limits.h"
#include "stats.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* ---- what is replayed -----------------------------------------------------------------------------------------------
 */

static bool is_fit(const struct request *r)
{
	return request_ok(r) && r->arrived_ns != REQUEST_ABSENT && r->ended_ns != REQUEST_ABSENT &&
	       r->cpu_ns != REQUEST_ABSENT && r->planned_ns != REQUEST_ABSENT && r->ended_ns >= r->arrived_ns;
}

static int64_t deliberate_ns(const struct request *r)
{
	int64_t sum = 0;
	const int64_t waits[] = {r->wait_ns, r->disk_ns, r->pool_wait_ns};
	for (size_t i = 0; i < ARRAY_LEN(waits); i++)
		if (waits[i] > 0)
			sum += waits[i];
	return sum;
}

static int by_arrival(const void *a, const void *b)
{
	const struct request *x = *(const struct request *const *)a;
	const struct request *y = *(const struct request *const *)b;
	return (x->arrived_ns > y->arrived_ns) - (x->arrived_ns < y->arrived_ns);
}

/* What the cgroup was charged beside what the requests told, in equal shares. */
static int64_t overhead_ns(const struct request *const *fit, size_t n, double cpu_ms_per_request)
{
	double sum_ns = 0;
	for (size_t i = 0; i < n; i++)
		sum_ns += (double)fit[i]->cpu_ns;
	double over_ns = cpu_ms_per_request * 1e6 - sum_ns / (double)n;
	return over_ns > 0 ? (int64_t)over_ns : 0;
}

static void fill(struct forecast_source *out, const struct request *const *fit, size_t n, int64_t over_ns)
{
	out->end_ns = fit[0]->ended_ns;
	for (size_t i = 0; i < n; i++) {
		const struct request *r = fit[i];
		out->list[i] = (struct whatif_request){
			.arrived_ns = r->arrived_ns, .cpu_ns = r->cpu_ns + over_ns, .wait_ns = deliberate_ns(r)};
		out->outside_ns[i] = request_latency_ns(r) - (r->ended_ns - r->arrived_ns);
		if (r->ended_ns > out->end_ns)
			out->end_ns = r->ended_ns;
	}
	out->n = n;
	out->begin_ns = fit[0]->arrived_ns;
}

int forecast_source_make(struct forecast_source *out, const struct requests *r, double cpu_ms_per_request,
			 struct fault *f)
{
	size_t n = 0;
	*out = FORECAST_SOURCE_NONE;
	CLEANUP_FREE const struct request **fit = calloc(r->n ? r->n : 1, sizeof *fit);
	out->list = calloc(r->n ? r->n : 1, sizeof *out->list);
	out->outside_ns = calloc(r->n ? r->n : 1, sizeof *out->outside_ns);
	if (!fit || !out->list || !out->outside_ns)
		return fault_set(f, ENOMEM, "forecast");
	for (size_t i = 0; i < r->n; i++)
		if (is_fit(&r->list[i]))
			fit[n++] = &r->list[i];
	out->left_out = r->n - n;
	if (n == 0)
		return fault_set(
			f, -ENODATA,
			"no request tells its CPU time: a forecast needs the figures that headroom-probe gives");
	qsort(fit, n, sizeof *fit, by_arrival);
	fill(out, fit, n, overhead_ns(fit, n, cpu_ms_per_request));
	return 0;
}

void forecast_source_release(struct forecast_source *s)
{
	free(s->list);
	free(s->outside_ns);
	*s = FORECAST_SOURCE_NONE;
}

/* ---- the replay -----------------------------------------------------------------------------------------------------
 */

static void summarize(const struct forecast_source *s, const struct whatif_outcome *o, int64_t *times_ns,
		      struct forecast *out)
{
	for (size_t i = 0; i < s->n; i++)
		times_ns[i] += s->outside_ns[i] - s->list[i].arrived_ns;
	stats_sort(times_ns, s->n);
	out->p50_ms = (double)stats_percentile(times_ns, s->n, STATS_P50) / 1e6;
	out->p99_ms = (double)stats_percentile(times_ns, s->n, STATS_P99) / 1e6;
	out->p99_low_ms = out->p99_high_ms = out->p99_ms;
	out->throttled_per_s = (double)o->nr_throttled * 1e9 / fmax((double)(s->end_ns - s->begin_ns), 1);
}

int forecast_at_phase(const struct forecast_source *s, const struct forecast_server *server, double cpus,
		      int64_t phase_ns, struct forecast *out, struct fault *f)
{
	const struct whatif_model model = {.quota = limit_quota(cpus),
					   .burst_usec = server->burst_usec,
					   .phase_ns = s->begin_ns + phase_ns,
					   .workers = server->workers,
					   .cpus = server->cpus};
	struct whatif_outcome outcome;
	CLEANUP_FREE int64_t *ended_ns = calloc(s->n + 1, sizeof *ended_ns);
	if (!ended_ns)
		return fault_set(f, ENOMEM, "forecast");
	int rc = whatif_replay(s->list, s->n, &model, ended_ns, &outcome);
	if (rc < 0)
		return fault_set(f, rc, "%u workers, %u CPUs and a limit of %g CPUs are not what the model knows",
				 server->workers, server->cpus, cpus);
	*out = (struct forecast){.cpus = cpus};
	summarize(s, &outcome, ended_ns, out);
	return 0;
}

/* From the first planned send to the first arrival. On another host the server's clock says nothing about it. */
static int64_t way_ns(const struct forecast_source *s, const struct requests *r)
{
	const int64_t believable_ns = LIMIT_PERIOD_USEC * NSEC_PER_USEC / 2;
	int64_t first_ns = r->list[0].planned_ns;
	for (size_t i = 0; i < r->n; i++)
		if (r->list[i].planned_ns < first_ns)
			first_ns = r->list[i].planned_ns;
	int64_t way = s->begin_ns - first_ns;
	return way >= 0 && way < believable_ns ? way : 0;
}

int forecast_of_run(const struct requests *r, double cpu_ms_per_request, double cpus, double phase_ms,
		    const struct forecast_server *server, struct forecast *out, struct fault *f)
{
	struct forecast_source s;
	int rc = forecast_source_make(&s, r, cpu_ms_per_request, f);
	if (rc == 0 && cpus > 0 && isnan(phase_ms))
		rc = fault_set(f, -ENODATA, "the phase of the run is not known");
	if (rc == 0) {
		int64_t phase_ns = cpus > 0 ? (int64_t)(phase_ms * 1e6) : 0;
		rc = forecast_at_phase(&s, server, cpus, phase_ns - way_ns(&s, r), out, f);
	}
	forecast_source_release(&s);
	return rc;
}

static double median(const double *values, size_t n)
{
	int64_t sorted[FORECAST_PHASES];
	for (size_t i = 0; i < n; i++)
		sorted[i] = (int64_t)llround(values[i] * 1e6);
	stats_sort(sorted, n);
	return (double)stats_median(sorted, n) / 1e6;
}

int forecast_make(const struct forecast_source *s, const struct forecast_server *server, double cpus,
		  struct forecast *out, struct fault *f)
{
	double p50[FORECAST_PHASES];
	double p99[FORECAST_PHASES];
	/* without a limit there is no timer */
	size_t n = cpus > 0 ? FORECAST_PHASES : 1;
	struct forecast all = {.cpus = cpus, .p99_low_ms = INFINITY, .p99_high_ms = 0};
	for (size_t i = 0; i < n; i++) {
		struct forecast one = {0};
		int64_t phase_ns = (int64_t)i * LIMIT_PERIOD_USEC * NSEC_PER_USEC / FORECAST_PHASES;
		int rc = forecast_at_phase(s, server, cpus, phase_ns, &one, f);
		if (rc < 0)
			return rc;
		p50[i] = one.p50_ms;
		p99[i] = one.p99_ms;
		all.p99_low_ms = fmin(all.p99_low_ms, one.p99_ms);
		all.p99_high_ms = fmax(all.p99_high_ms, one.p99_ms);
		all.throttled_per_s += one.throttled_per_s / (double)n;
	}
	all.p50_ms = median(p50, n);
	all.p99_ms = median(p99, n);
	*out = all;
	return 0;
}

int forecast_smallest(const struct forecast_source *s, const struct forecast_server *server, double step_cpus,
		      double most_cpus, double wish_ms, struct forecast *out, struct fault *f)
{
	size_t steps = (size_t)floor(most_cpus / step_cpus + 1e-9);
	for (size_t i = 1; i <= steps; i++) {
		int rc = forecast_make(s, server, step_cpus * (double)i, out, f);
		if (rc < 0)
			return rc;
		if (out->p99_high_ms <= wish_ms)
			return 0;
	}
	return fault_set(f, -ENOENT, "no limit up to %g CPUs brings p99 down to %g ms", most_cpus, wish_ms);
}
