#include "page_join.h"

#include "files.h"
#include "limits.h"
#include "requests.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const double period_ms = LIMIT_PERIOD_USEC / 1000.0;

struct key_columns {
	int limit, pattern, repetition, count; /* count: what grows within a run */
};

static int find_key(const struct csv_file *c, const char *count, struct key_columns *k, struct fault *f)
{
	k->limit = csv_file_column(c, "limit_cpus", f);
	k->pattern = k->limit < 0 ? k->limit : csv_file_column(c, "pattern", f);
	k->repetition = k->pattern < 0 ? k->pattern : csv_file_column(c, "repetition", f);
	k->count = k->repetition < 0 ? k->repetition : csv_file_column(c, count, f);
	return k->count < 0 ? k->count : 0;
}

static bool is_of(const struct csv_file *c, const struct key_columns *k, size_t row, const struct page_run *run)
{
	double repetition;
	return strcmp(csv_file_text(c, row, k->limit), run->limit) == 0 &&
	       strcmp(csv_file_text(c, row, k->pattern), run->pattern) == 0 &&
	       csv_file_real(c, row, k->repetition, &repetition, NULL) == 0 && repetition == run->repetition;
}

/* How many rows from `row` on are of this run, or a negative errno. */
static ssize_t rows_of(const struct csv_file *c, const struct key_columns *k, size_t row, const struct page_run *run,
		       struct fault *f)
{
	double before = -1;
	size_t n = 0;
	for (; row + n < c->n_rows && is_of(c, k, row + n, run); n++) {
		double count;
		int rc = csv_file_real(c, row + n, k->count, &count, f);
		if (rc < 0)
			return rc;
		if (count < before)
			break;
		before = count;
	}
	return (ssize_t)n;
}

static int refuse_rest(const struct csv_file *c, size_t row, struct fault *f)
{
	return row == c->n_rows ? 0
				: fault_set(f, -EINVAL, "%s: line %zu belongs to no run of runs.csv", c->path, row + 2);
}

/* ---- requests -------------------------------------------------------------------------------------------------------
 */

static double told_ms(int64_t ns)
{
	return ns == REQUEST_ABSENT ? (double)NAN : (double)ns / 1e6;
}

static void take_request(struct page_request *to, const struct request *from, int64_t start_ns)
{
	*to = (struct page_request){
		.at_ms = (double)(from->planned_ns - start_ns) / 1e6,
		.latency_ms = from->done_ns == REQUEST_ABSENT ? (double)NAN : (double)request_latency_ns(from) / 1e6,
		.queue_ms = told_ms(from->queue_ns),
		.cpu_ms = told_ms(from->cpu_ns),
		.cpu_wait_ms = told_ms(from->runqueue_wait_ns),
		.started_ms =
			from->started_ns == REQUEST_ABSENT ? (double)NAN : (double)(from->started_ns - start_ns) / 1e6,
		.ok = request_ok(from),
	};
}

static int take_requests(struct page_run *run, const struct request *list, size_t n, struct fault *f)
{
	run->requests = calloc(n + 1, sizeof *run->requests);
	if (!run->requests)
		return fault_set(f, ENOMEM, "requests");
	for (size_t i = 0; i < n; i++)
		take_request(&run->requests[i], &list[i], list[0].planned_ns);
	run->n_requests = n;
	return 0;
}

/* starts_ns[i]: the first planned request of run i, INT64_MIN = there is none. */
static int join_requests(struct page_results *r, int64_t *starts_ns, struct fault *f)
{
	CLEANUP_FREE char *text = NULL;
	struct requests all = REQUESTS_NONE;
	struct key_columns k;
	const struct csv_file *c = &r->requests_csv;
	size_t row = 0;
	int rc = find_key(c, "seq", &k, f);
	if (rc == 0)
		rc = file_load(c->path, &text, f);
	if (rc == 0 && (rc = requests_parse(text, &all, f)) < 0)
		fault_prefix(f, rc, "%s", c->path);
	for (size_t i = 0; rc == 0 && i < r->n_runs; i++) {
		ssize_t n = rows_of(c, &k, row, &r->runs[i], f);
		starts_ns[i] = n > 0 ? all.list[row].planned_ns : INT64_MIN;
		rc = n < 0 ? (int)n : take_requests(&r->runs[i], all.list + row, (size_t)n, f);
		row += n > 0 ? (size_t)n : 0;
	}
	requests_release(&all);
	return rc == 0 ? refuse_rest(c, row, f) : rc;
}

/* ---- periods --------------------------------------------------------------------------------------------------------
 */

struct reading {
	double at_ms, nr_periods, throttled_ms, usage_ms;
};

static int read_reading(const struct csv_file *c, size_t row, int64_t start_ns, struct reading *out, struct fault *f)
{
	static const char *const names[] = {"instant_ns", "nr_periods", "throttled_usec", "usage_usec"};
	double value[ARRAY_LEN(names)];
	for (size_t i = 0; i < ARRAY_LEN(names); i++) {
		int column = csv_file_column(c, names[i], f);
		int rc = column < 0 ? column : csv_file_real(c, row, column, &value[i], f);
		if (rc < 0)
			return rc;
	}
	*out = (struct reading){.at_ms = (value[0] - (double)start_ns) / 1e6,
				.nr_periods = value[1],
				.throttled_ms = value[2] / 1e3,
				.usage_ms = value[3] / 1e3};
	return 0;
}

/* An increase of throttled time by d, seen at t, is the interval from t - d to t. */
static void add_throttled(struct page_run *run, const struct reading *before, const struct reading *now)
{
	double more_ms = now->throttled_ms - before->throttled_ms;
	double free_from = run->n_throttled ? run->throttled[run->n_throttled - 1].to_ms : -INFINITY;
	if (more_ms > 0 && now->at_ms > 0)
		run->throttled[run->n_throttled++] = (struct page_span){
			.from_ms = fmax(fmax(now->at_ms - more_ms, free_from), 0), .to_ms = now->at_ms};
}

/* While nothing wants to run the timer rests; what ran since, ran in the period that ends with this tick. */
static void add_period(struct page_run *run, const struct reading *tick_before, const struct reading *now)
{
	double ms = now->usage_ms - tick_before->usage_ms;
	double from_ms = fmax(tick_before->at_ms, now->at_ms - period_ms);
	if (now->at_ms > 0 && ms >= 0)
		run->periods[run->n_periods++] =
			(struct page_period){.from_ms = fmax(from_ms, 0), .to_ms = now->at_ms, .cpu_ms = ms};
}

static int take_readings(struct page_run *run, const struct csv_file *c, size_t row, size_t n, int64_t start_ns,
			 struct fault *f)
{
	struct reading before = {0};
	struct reading tick = {0};
	run->throttled = calloc(n + 1, sizeof *run->throttled);
	run->periods = calloc(n + 1, sizeof *run->periods);
	if (!run->throttled || !run->periods)
		return fault_set(f, ENOMEM, "periods");
	for (size_t i = 0; i < n; i++) {
		struct reading now;
		int rc = read_reading(c, row + i, start_ns, &now, f);
		if (rc < 0)
			return rc;
		if (i > 0)
			add_throttled(run, &before, &now);
		if (i > 0 && now.nr_periods > tick.nr_periods)
			add_period(run, &tick, &now);
		if (i == 0 || now.nr_periods > tick.nr_periods)
			tick = now;
		before = now;
	}
	return 0;
}

static void spread(struct page_run *run, const struct page_request *q)
{
	double left_ms = q->cpu_ms;
	double width_ms = q->cpu_ms + q->cpu_wait_ms;
	for (double at = q->started_ms; left_ms > 1e-6;) {
		size_t slot = (size_t)fmax(0, at / period_ms);
		double here_ms = (double)(slot + 1) * period_ms - at;
		double ms = fmin(left_ms, q->cpu_ms * here_ms / width_ms);
		if (slot >= run->n_periods)
			return;
		run->periods[slot].cpu_ms += ms;
		left_ms -= ms;
		at += here_ms;
	}
}

/* Without a quota the kernel counts no periods: 100 ms steps, from what the server told about its requests. */
static int periods_of_requests(struct page_run *run, struct fault *f)
{
	double end_ms = 0;
	for (size_t i = 0; i < run->n_requests; i++)
		end_ms = fmax(end_ms, run->requests[i].at_ms + fmin(run->requests[i].latency_ms, 60e3));
	free(run->periods);
	size_t n = (size_t)(end_ms / period_ms) + 1;
	run->periods = calloc(n, sizeof *run->periods);
	if (!run->periods)
		return fault_set(f, ENOMEM, "periods");
	run->n_periods = n;
	for (size_t i = 0; i < n; i++)
		run->periods[i] =
			(struct page_period){.from_ms = (double)i * period_ms, .to_ms = (double)(i + 1) * period_ms};
	for (size_t i = 0; i < run->n_requests; i++)
		if (run->requests[i].cpu_ms > 0 && run->requests[i].cpu_wait_ms >= 0 &&
		    run->requests[i].started_ms >= 0)
			spread(run, &run->requests[i]);
	return 0;
}

static int join_periods(struct page_results *r, const int64_t *starts_ns, struct fault *f)
{
	struct key_columns k;
	const struct csv_file *c = &r->periods_csv;
	size_t row = 0;
	int rc = find_key(c, "nr_periods", &k, f);
	for (size_t i = 0; rc == 0 && i < r->n_runs; i++) {
		ssize_t n = rows_of(c, &k, row, &r->runs[i], f);
		rc = n < 0 ? (int)n : 0;
		if (n > 0 && starts_ns[i] != INT64_MIN)
			rc = take_readings(&r->runs[i], c, row, (size_t)n, starts_ns[i], f);
		if (rc == 0 && isnan(r->runs[i].limit_cpus))
			rc = periods_of_requests(&r->runs[i], f);
		row += n > 0 ? (size_t)n : 0;
	}
	return rc == 0 ? refuse_rest(c, row, f) : rc;
}

int page_join(struct page_results *r, struct fault *f)
{
	CLEANUP_FREE int64_t *starts_ns = calloc(r->n_runs + 1, sizeof *starts_ns);
	if (!starts_ns)
		return fault_set(f, ENOMEM, "runs");
	int rc = join_requests(r, starts_ns, f);
	return rc == 0 ? join_periods(r, starts_ns, f) : rc;
}
