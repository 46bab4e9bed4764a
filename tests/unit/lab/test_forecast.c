/* Requests replayed under another limit, with figures that can be worked out by hand. */
#include "tests/unit/check.h"

#include "lab/forecast.h"

#include <errno.h>
#include <math.h>

#define MS                         NSEC_PER_MSEC
#define assert_near(a, b, epsilon) assert_true(fabs((a) - (b)) <= (epsilon))

enum { BURST = 8 };

/* Bursts of 8 requests of 4 ms of CPU every 400 ms; 1 ms of each passes outside of the server. */
static void bursts(struct request *list, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int64_t planned_ns = 1000 * MS + (int64_t)(i / BURST) * 400 * MS;
		int64_t arrived_ns = planned_ns + MS / 2;
		int64_t ended_ns = arrived_ns + (int64_t)(i % BURST + 1) * 4 * MS;
		list[i] = (struct request){.planned_ns = planned_ns,
					   .sent_ns = planned_ns,
					   .first_byte_ns = ended_ns,
					   .done_ns = ended_ns + MS / 2,
					   .status = 200,
					   .arrived_ns = arrived_ns,
					   .started_ns = arrived_ns,
					   .ended_ns = ended_ns,
					   .cpu_ns = 4 * MS,
					   .wait_ns = REQUEST_ABSENT,
					   .disk_ns = REQUEST_ABSENT,
					   .pool_wait_ns = REQUEST_ABSENT};
	}
}

static const struct forecast_server one_worker = {.workers = 1, .cpus = 2};

static void source(struct forecast_source *s, double cpu_ms_per_request)
{
	struct request list[4 * BURST];
	struct requests r = {.list = list, .n = ARRAY_LEN(list)};
	bursts(list, ARRAY_LEN(list));
	assert_int_equal(forecast_source_make(s, &r, cpu_ms_per_request, NULL), 0);
}

/* Without a limit: eight requests one after the other, and the 1 ms outside. */
static void test_no_limit(void **state)
{
	(void)state;
	struct forecast_source s;
	struct forecast p;
	source(&s, (double)NAN);
	assert_int_equal(s.n, 4 * BURST);
	assert_int_equal(forecast_make(&s, &one_worker, 0, &p, NULL), 0);
	assert_near(p.p99_ms, 33, 0.2);
	assert_near(p.p50_ms, 17, 0.2);
	assert_near(p.p99_low_ms, p.p99_high_ms, 1e-9);
	assert_near(p.throttled_per_s, 0, 1e-9);
	forecast_source_release(&s);
}

/* 32 ms against 25 ms a period, the next tick 60 ms after the arrival: the end is the tick and the 7 ms that were left,
 * plus 1 ms outside. One throttled period for each of the 4 bursts. */
static void test_quarter_at_a_phase(void **state)
{
	(void)state;
	struct forecast_source s;
	struct forecast p;
	source(&s, (double)NAN);
	assert_int_equal(forecast_at_phase(&s, &one_worker, 0.25, 60 * MS, &p, NULL), 0);
	assert_near(p.p99_ms, 60 + 7 + 1, 0.3);
	double seconds = (double)(s.end_ns - s.begin_ns) / 1e9;
	assert_near(p.throttled_per_s * seconds, 4, 0.01);
	forecast_source_release(&s);
}

/* Over all phases: from two budgets in time (no stop at all) to a tick that has just passed. */
static void test_range_over_phases(void **state)
{
	(void)state;
	struct forecast_source s;
	struct forecast p;
	source(&s, (double)NAN);
	assert_int_equal(forecast_make(&s, &one_worker, 0.25, &p, NULL), 0);
	assert_near(p.p99_low_ms, 33, 0.3);
	assert_in_range((int64_t)p.p99_high_ms, 95, 110);
	assert_true(p.p99_low_ms < p.p99_ms && p.p99_ms < p.p99_high_ms);
	forecast_source_release(&s);
}

/* What the cgroup was charged beside the requests counts as their CPU time. */
static void test_overhead_is_charged(void **state)
{
	(void)state;
	struct forecast_source s;
	struct forecast p;
	source(&s, 5);
	assert_int_equal(forecast_make(&s, &one_worker, 0, &p, NULL), 0);
	assert_near(p.p99_ms, 41, 0.2);
	forecast_source_release(&s);
	/* less than they told themselves is no figure about them */
	source(&s, 3);
	assert_int_equal(s.list[0].cpu_ns, 4 * MS);
	forecast_source_release(&s);
}

/* 32 ms of work need 0.32 CPUs to fit into one period: 0.35 is the first step of 0.05 that keeps every phase quick. */
static void test_smallest_limit(void **state)
{
	(void)state;
	struct forecast_source s;
	struct forecast p;
	struct fault f = {0};
	source(&s, (double)NAN);
	assert_int_equal(forecast_smallest(&s, &one_worker, 0.05, 2, 40, &p, &f), 0);
	assert_near(p.cpus, 0.35, 1e-9);
	assert_fault(forecast_smallest(&s, &one_worker, 0.05, 2, 20, &p, &f), &f, ENOENT);
	/* more workers on more CPUs share the burst */
	struct forecast_server two = {.workers = 2, .cpus = 2};
	assert_int_equal(forecast_smallest(&s, &two, 0.05, 2, 20, &p, NULL), 0);
	forecast_source_release(&s);
}

static void test_what_does_not_fit_is_left_out(void **state)
{
	(void)state;
	struct request list[BURST];
	struct requests r = {.list = list, .n = BURST};
	struct forecast_source s;
	struct fault f = {0};
	bursts(list, BURST);
	list[2].status = 500;
	list[3].cpu_ns = REQUEST_ABSENT;
	assert_int_equal(forecast_source_make(&s, &r, (double)NAN, &f), 0);
	assert_int_equal(s.n, BURST - 2);
	assert_int_equal(s.left_out, 2);
	forecast_source_release(&s);
	for (size_t i = 0; i < BURST; i++)
		list[i].cpu_ns = REQUEST_ABSENT;
	assert_fault(forecast_source_make(&s, &r, (double)NAN, &f), &f, ENODATA);
	forecast_source_release(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_no_limit),          cmocka_unit_test(test_quarter_at_a_phase),
		cmocka_unit_test(test_range_over_phases), cmocka_unit_test(test_overhead_is_charged),
		cmocka_unit_test(test_smallest_limit),    cmocka_unit_test(test_what_does_not_fit_is_left_out),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
