#include "study3_run.h"

#include "clock.h"
#include "csv.h"
#include "sender.h"
#include "stats.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const int64_t settle_ns = 700 * NSEC_PER_MSEC;
static const int64_t step_ns = 20 * NSEC_PER_MSEC;
static const int64_t ready_timeout_ns = 30 * NSEC_PER_SEC;

/* ---- waiting --------------------------------------------------------------------------------------------------------
 */

static int step(struct study3_service *s, struct fault *f)
{
	struct signals *signals = s->setup->signals;
	progress_tick(s->setup->progress);
	(void)clock_sleep_until_ns(clock_mono_ns() + step_ns, NULL);
	if (signals_take(signals))
		return fault_set(f, -EINTR, "interrupted by SIG%s", sigabbrev_np(signals->last));
	if (program_has_ended(&s->probe))
		return program_failed(&s->probe, "while it was needed", f);
	return 0;
}

static int wait_until(struct study3_service *s, int64_t until_ns, struct fault *f)
{
	int rc = 0;
	while (rc == 0 && clock_mono_ns() < until_ns)
		rc = step(s, f);
	return rc;
}

/* ---- the service ----------------------------------------------------------------------------------------------------
 */

/* The work of a request is said in its URL, so that one set of calibrated rounds serves every case. */
static int take_url(struct study3_service *s, const char *line, struct fault *f)
{
	CLEANUP_JSON json_value *ready = json_parse(line, strlen(line), f);
	const char *url = ready ? json_get_text(ready, "url") : NULL;
	if (!url)
		return fault_set(f, -EPROTO, "headroom-probe did not say where it listens: %.200s", line);
	snprintf(s->url, sizeof s->url, "%s/work?cpu_ms=%g&wait_ms=%g%s", url, s->of->cpu_ms, s->of->wait_ms,
		 s->of->pool_units ? "&pool=units" : "");
	return 0;
}

static int wait_until_ready(struct study3_service *s, struct fault *f)
{
	int64_t give_up_ns = clock_mono_ns() + ready_timeout_ns;
	CLEANUP_FREE char *line = NULL;
	int rc = 0;
	while (rc == 0 && !(line = capture_first_line(&s->probe.out))) {
		rc = step(s, f);
		if (rc == 0 && clock_mono_ns() > give_up_ns)
			rc = fault_set(f, -ETIMEDOUT, "headroom-probe was not ready within 30 s");
	}
	return rc < 0 ? rc : take_url(s, line, f);
}

static int start_probe(struct study3_service *s, uint64_t workers, struct fault *f)
{
	char rounds[24], threads[24], pool[48];
	const char *argv[LIMIT_PREFIX_MAX + 16];
	size_t n = 0;
	limit_command_prefix(&s->group, argv);
	while (argv[n])
		n++;
	snprintf(rounds, sizeof rounds, "%llu", (unsigned long long)s->setup->rounds);
	snprintf(threads, sizeof threads, "%llu", (unsigned long long)workers);
	snprintf(pool, sizeof pool, "units=%u:%gms", s->of->pool_units, s->of->hold_ms);
	const char *const own[] = {s->setup->probe,
				   "--listen",
				   "127.0.0.1:0",
				   "--workers",
				   threads,
				   "--rounds",
				   rounds,
				   s->of->pool_units ? "--pool" : NULL,
				   pool,
				   NULL};
	memcpy(argv + n, own, sizeof own);
	struct child_spec spec = {.argv = argv, .cgroup_procs = s->group.procs};
	int rc = program_start(&s->probe, &spec, f);
	if (rc == 0)
		rc = wait_until_ready(s, f);
	if (rc == 0)
		rc = limit_adopt(&s->group, s->probe.child.pid, f);
	return rc == 0 ? watch_open(&s->watch, s->group.pid, f) : rc;
}

static int start_sidecar(struct study3_service *s, struct fault *f)
{
	char pid[16];
	snprintf(pid, sizeof pid, "%d", (int)s->group.pid);
	const char *const argv[] = {s->setup->sidecar, "--pid", pid, "--listen", "127.0.0.1:0", NULL};
	struct child_spec spec = {.argv = argv};
	return s->setup->sidecar ? program_start(&s->sidecar, &spec, f) : 0;
}

int study3_service_open(struct study3_service *s, const struct run_setup *setup, const struct study3_case *of,
			double cpus, uint64_t workers, struct fault *f)
{
	char label[64];
	*s = (struct study3_service){
		.setup = setup, .of = of, .cpus = cpus, .group = LIMIT_GROUP_NONE, .watch = WATCH_CLOSED};
	program_init(&s->probe, "headroom-probe");
	program_init(&s->sidecar, "headroom-sidecar");
	snprintf(label, sizeof label, "study3-%s", of->name);
	int rc = limit_open(&s->group, setup->limiter, label, f);
	if (rc < 0)
		return rc;
	limit_prefer(&s->group);
	rc = limit_set(&s->group, cpus, f);
	if (rc == 0)
		rc = start_probe(s, workers, f);
	return rc == 0 ? start_sidecar(s, f) : rc;
}

int study3_service_close(struct study3_service *s, char **sidecar_log, struct fault *f)
{
	int rc = child_end(&s->sidecar.child, SENDER_END_GRACE_NS, f);
	int probe_rc = child_end(&s->probe.child, SENDER_END_GRACE_NS, rc ? NULL : f);
	rc = rc ? rc : probe_rc;
	int group_rc = limit_close(&s->group, rc ? NULL : f);
	*sidecar_log = capture_text(&s->sidecar.out);
	watch_close(&s->watch);
	program_release(&s->probe);
	program_release(&s->sidecar);
	return rc ? rc : group_rc;
}

/* ---- a point --------------------------------------------------------------------------------------------------------
 */

/* No warm-up of its own: under a quota that would take longer than settle_ns, which serves as one. */
static int start_load(const struct study3_service *s, struct program *load, uint64_t threads, struct fault *f)
{
	char users[24], duration[32];
	int64_t duration_ns = settle_ns + s->setup->duration_ns + 100 * NSEC_PER_MSEC;
	snprintf(users, sizeof users, "%llu", (unsigned long long)threads);
	snprintf(duration, sizeof duration, "%lldms", (long long)(duration_ns / NSEC_PER_MSEC));
	const char *const argv[] = {s->setup->load, s->url,   "--pattern",  "closed",
				    "--threads",    users,    "--warmup",   "0",
				    "--duration",   duration, "--requests", s->setup->requests_path,
				    "-o",           "json",   NULL};
	struct child_spec spec = {.argv = argv};
	return program_start(load, &spec, f);
}

static int wait_for_load(struct study3_service *s, struct program *load, struct fault *f)
{
	int64_t give_up_ns = clock_mono_ns() + 120 * NSEC_PER_SEC;
	int rc = 0;
	while (rc == 0 && !program_has_ended(load)) {
		rc = step(s, f);
		if (rc == 0 && clock_mono_ns() > give_up_ns)
			rc = fault_set(f, -ETIMEDOUT, "headroom-load is still not done 120 s after its time");
	}
	if (rc == 0 && child_exit_code(&load->child) != 0)
		rc = program_failed(load, "while it measured", f);
	return rc;
}

static double mean_of(double sum, size_t n)
{
	return n ? sum / (double)n : (double)NAN;
}

static double percentile_ms(const int64_t *sorted, size_t n, uint32_t ppm)
{
	return n ? (double)stats_percentile(sorted, n, ppm) / 1e6 : (double)NAN;
}

/* The part of a request's life in the window, from 0 to 1. */
static double share_in(const struct request *r, int64_t from_ns, int64_t to_ns)
{
	int64_t begin_ns = r->sent_ns > from_ns ? r->sent_ns : from_ns;
	int64_t end_ns = r->done_ns < to_ns ? r->done_ns : to_ns;
	return end_ns > begin_ns ? (double)(end_ns - begin_ns) / (double)(r->done_ns - r->sent_ns) : 0;
}

void study3_take_requests(struct study3_point *p, const struct requests *r, int64_t from_ns, int64_t to_ns)
{
	CLEANUP_FREE int64_t *latencies = calloc(r->n + 1, sizeof *latencies);
	double served = 0;
	double sum_ns = 0;
	double cpu_ns = 0;
	double wait_ns = 0;
	size_t n = 0;
	for (size_t i = 0; latencies && i < r->n; i++) {
		const struct request *q = &r->list[i];
		if (!request_ok(q))
			continue;
		served += share_in(q, from_ns, to_ns);
		if (q->done_ns < from_ns || q->done_ns >= to_ns)
			continue;
		latencies[n++] = q->done_ns - q->sent_ns;
		sum_ns += (double)(q->done_ns - q->sent_ns);
		cpu_ns += q->cpu_ns == REQUEST_ABSENT ? (double)NAN : (double)q->cpu_ns;
		wait_ns += q->wait_ns == REQUEST_ABSENT ? (double)NAN : (double)q->wait_ns;
	}
	if (latencies)
		stats_sort(latencies, n);
	p->requests_per_s = served * 1e9 / (double)(to_ns - from_ns);
	p->mean_ms = mean_of(sum_ns, n) / 1e6;
	p->cpu_ms = mean_of(cpu_ns, n) / 1e6;
	p->wait_ms = mean_of(wait_ns, n) / 1e6;
	p->p50_ms = percentile_ms(latencies, n, STATS_P50);
	p->p99_ms = percentile_ms(latencies, n, STATS_P99);
}

static void invalidate(struct study3_run *run, const char *reason)
{
	run->valid = false;
	run->point.runs = 0;
	snprintf(run->invalid_reason, sizeof run->invalid_reason, "%s", reason);
}

static int64_t first_sent_ns(const struct requests *r)
{
	int64_t first_ns = INT64_MAX;
	for (size_t i = 0; i < r->n; i++)
		if (r->list[i].sent_ns < first_ns)
			first_ns = r->list[i].sent_ns;
	return first_ns;
}

/* The sender may have been slow to start, or a request may have failed: then the point says nothing. */
static void check(struct study3_run *run, const struct requests *r, int64_t from_ns)
{
	run->valid = true;
	run->point.runs = 1;
	for (size_t i = 0; i < r->n; i++)
		if (!request_ok(&r->list[i]))
			invalidate(run, "a request failed");
	if (first_sent_ns(r) > from_ns - settle_ns / 4)
		invalidate(run, "the sender was late to start");
	if (run->valid && !(run->point.mean_ms > 0))
		invalidate(run, "no request was answered within the time: more of --seconds");
	if (run->valid && !(run->point.cpu_ms > 0))
		invalidate(run, "the probe did not tell the CPU time of its requests");
}

static int evaluate(struct study3_service *s, struct study3_run *run, const struct snapshot *begin,
		    const struct snapshot *end, struct fault *f)
{
	struct run_result result = {.measured = false};
	struct figures x;
	struct study3_point *p = &run->point;
	int rc = sender_take_requests(s->setup, &result, f);
	if (rc == 0) {
		study3_take_requests(p, &result.requests, begin->mono_ns, end->mono_ns);
		figures_init(&x);
		figures_take_counters(&x, begin, end, s->cpus);
		p->cpu_cores_mean = x.cpu_cores_mean;
		p->of_limit = x.of_limit;
		p->nr_throttled = x.nr_throttled;
		run->throttled_usec = x.throttled_usec;
		check(run, &result.requests, begin->mono_ns);
	}
	run_result_release(&result);
	return rc;
}

int study3_measure(struct study3_service *s, struct study3_run *run, struct fault *f)
{
	struct snapshot begin = {0};
	struct snapshot end = {0};
	struct program load;
	program_init(&load, "headroom-load");
	study3_point_init(&run->point, run->threads);
	run->throttled_usec = FIGURE_ABSENT;
	int64_t from_ns = clock_mono_ns() + settle_ns;
	int rc = start_load(s, &load, run->threads, f);
	if (rc == 0)
		rc = wait_until(s, from_ns, f);
	if (rc == 0)
		rc = watch_snapshot(&s->watch, &begin, f);
	if (rc == 0)
		rc = wait_until(s, begin.mono_ns + s->setup->duration_ns, f);
	if (rc == 0)
		rc = watch_snapshot(&s->watch, &end, f);
	if (rc == 0)
		rc = wait_for_load(s, &load, f);
	int end_rc = child_end(&load.child, SENDER_END_GRACE_NS, rc ? NULL : f);
	rc = rc ? rc : end_rc;
	if (rc == 0)
		rc = evaluate(s, run, &begin, &end, f);
	else
		unlink(s->setup->requests_path);
	if (rc < 0)
		invalidate(run, rc == -EINTR ? "interrupted" : fault_text(f));
	program_release(&load);
	return rc;
}

/* ---- runs.csv -------------------------------------------------------------------------------------------------------
 */

void study3_write_head(FILE *out)
{
	fputs("case,threads,repetition,position,mean_ms,p50_ms,p99_ms,requests_per_s,cpu_cores_mean,of_limit,nr_throttled,"
	      "throttled_usec,cpu_ms_per_request,wait_ms_per_request,valid,invalid_reason,limit_cpus\n",
	      out);
}

void study3_write_row(FILE *out, const struct study3_run *run, double cpus)
{
	const struct study3_point *p = &run->point;
	csv_put_text(out, run->of->name);
	csv_put_count(out, run->threads);
	csv_put_count(out, run->repetition);
	csv_put_count(out, run->position);
	csv_put_real(out, p->mean_ms, 3);
	csv_put_real(out, p->p50_ms, 3);
	csv_put_real(out, p->p99_ms, 3);
	csv_put_real(out, p->requests_per_s, 3);
	csv_put_real(out, p->cpu_cores_mean, 4);
	csv_put_real(out, p->of_limit, 4);
	csv_put_count(out, p->nr_throttled);
	csv_put_count(out, run->throttled_usec);
	csv_put_real(out, p->cpu_ms, 3);
	csv_put_real(out, p->wait_ms, 3);
	csv_put_text(out, run->valid ? "true" : "false");
	csv_put_text(out, run->valid ? "" : run->invalid_reason);
	fprintf(out, "%g\n", cpus);
	fflush(out);
}
