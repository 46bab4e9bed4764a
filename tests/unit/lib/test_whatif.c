/* The replay under another limit, against what was measured and what can be computed by hand. */
#include "tests/unit/check.h"

#include "whatif.h"

enum { MANY = 400 };
static const int64_t ms = NSEC_PER_MSEC;

static struct whatif_request requests[MANY];
static int64_t ended[MANY];

/* `bursts` bursts of `size` requests of cpu_ms each, every `every_ms`. */
static size_t make_bursts(size_t bursts, size_t size, int64_t every_ms, double cpu_ms)
{
	size_t n = 0;
	for (size_t b = 0; b < bursts; b++)
		for (size_t i = 0; i < size; i++)
			requests[n++] = (struct whatif_request){
				.arrived_ns = 1000 * ms + (int64_t)b * every_ms * ms,
				.cpu_ns = (int64_t)(cpu_ms * 1e6),
			};
	return n;
}

static struct whatif_model model_of(uint64_t quota_usec, int64_t tick_after_burst_us, unsigned workers, unsigned cpus)
{
	return (struct whatif_model){
		.quota = {.quota_usec = quota_usec, .period_usec = 100000},
		.phase_ns = 1000 * ms + tick_after_burst_us * 1000,
		.workers = workers,
		.cpus = cpus,
	};
}

static double slowest_ms(size_t n)
{
	int64_t worst = 0;
	for (size_t i = 0; i < n; i++)
		if (ended[i] - requests[i].arrived_ns > worst)
			worst = ended[i] - requests[i].arrived_ns;
	return (double)worst / 1e6;
}

static void assert_near(double value, double wanted, double tolerance)
{
	if (!(value >= wanted - tolerance && value <= wanted + tolerance))
		fail_msg("%g is not within %g of %g", value, tolerance, wanted);
}

static struct whatif_outcome replay(size_t n, const struct whatif_model *m)
{
	struct whatif_outcome outcome;
	assert_int_equal(whatif_replay(requests, n, m, ended, &outcome), 0);
	return outcome;
}

/* One worker, 8 x 4 ms at 0.25 CPU: measured p99 by the time from the burst to the next tick (6.18, v1). */
static void test_measured_phases(void **state)
{
	static const struct {
		int64_t to_tick_us;
		double p99_ms;
	} measured[] = {{41700, 48.1}, {54800, 61.6}, {46700, 52.8}, {30900, 38.1}};
	(void)state;
	size_t n = make_bursts(10, 8, 400, 4);
	for (size_t i = 0; i < ARRAY_LEN(measured); i++) {
		struct whatif_model m = model_of(25000, measured[i].to_tick_us, 1, 2);
		struct whatif_outcome o = replay(n, &m);
		assert_near(slowest_ms(n), measured[i].p99_ms, 1);
		assert_int_equal(o.nr_throttled, 10);
	}
}

static void test_without_a_limit(void **state)
{
	(void)state;
	size_t n = make_bursts(3, 8, 400, 4);
	struct whatif_model m = model_of(QUOTA_NONE, 0, 1, 2);
	struct whatif_outcome o = replay(n, &m);
	assert_near(slowest_ms(n), 32, 0.1);
	assert_int_equal(o.nr_throttled, 0);
	assert_int_equal(o.stopped_ns, 0);
}

static void test_even_load_is_not_throttled(void **state)
{
	(void)state;
	size_t n = make_bursts(100, 1, 50, 4);
	struct whatif_model m = model_of(25000, 13000, 1, 2);
	struct whatif_outcome o = replay(n, &m);
	assert_near(slowest_ms(n), 4, 0.1);
	assert_int_equal(o.nr_throttled, 0);
	assert_near((double)o.nr_periods, 50, 1);
}

/* A tick in the middle of the burst fills the pool again: nothing stops. */
static void test_refill_in_time(void **state)
{
	(void)state;
	size_t n = make_bursts(5, 8, 400, 4);
	struct whatif_model m = model_of(25000, 12000, 1, 2);
	struct whatif_outcome o = replay(n, &m);
	assert_near(slowest_ms(n), 32, 0.1);
	assert_int_equal(o.nr_throttled, 0);
}

/* 100 ms of work at 0.25: 25 ms, then 25 behind each of three ticks. */
static void test_several_refills(void **state)
{
	(void)state;
	requests[0] = (struct whatif_request){.arrived_ns = 1000 * ms, .cpu_ns = 100 * ms};
	struct whatif_model m = model_of(25000, 40000, 1, 2);
	struct whatif_outcome o = replay(1, &m);
	assert_near(slowest_ms(1), 40 + 200 + 25, 0.2);
	assert_int_equal(o.nr_throttled, 3);
	assert_near((double)o.stopped_ns / 1e6, 15 + 75 + 75, 0.5);
}

static void test_burst_allowance(void **state)
{
	(void)state;
	size_t n = make_bursts(5, 8, 400, 4);
	struct whatif_model m = model_of(25000, 40000, 1, 2);
	m.burst_usec = 10000;
	struct whatif_outcome o = replay(n, &m);
	assert_near(slowest_ms(n), 32, 0.1);
	assert_int_equal(o.nr_throttled, 0);
}

/* Two workers on two CPUs spend the quota twice as fast. */
static void test_two_workers(void **state)
{
	(void)state;
	size_t n = make_bursts(1, 8, 400, 4);
	struct whatif_model m = model_of(25000, 60000, 2, 2);
	struct whatif_outcome o = replay(n, &m);
	assert_near(slowest_ms(n), 60 + 3.5, 1.5);
	assert_int_equal(o.nr_throttled, 1);
	m.quota.quota_usec = QUOTA_NONE;
	replay(n, &m);
	assert_near(slowest_ms(n), 16, 0.1);
	/* and on one CPU they take turns */
	m.cpus = 1;
	replay(n, &m);
	assert_near(slowest_ms(n), 32, 0.5);
}

/* A deliberate wait holds the worker but not the CPU. */
static void test_wait_holds_its_worker(void **state)
{
	(void)state;
	size_t n = make_bursts(1, 2, 400, 4);
	requests[0].wait_ns = requests[1].wait_ns = 20 * ms;
	struct whatif_model m = model_of(QUOTA_NONE, 0, 1, 1);
	replay(n, &m);
	assert_near((double)(ended[0] - requests[0].arrived_ns) / 1e6, 24, 0.1);
	assert_near((double)(ended[1] - requests[1].arrived_ns) / 1e6, 48, 0.2);
	m.workers = 2;
	replay(n, &m);
	assert_near(slowest_ms(n), 28, 0.3);
}

static void test_bounds(void **state)
{
	struct whatif_outcome o;
	(void)state;
	size_t n = make_bursts(1, 1, 1, 0);
	struct whatif_model m = model_of(25000, 0, 0, 1);
	assert_int_equal(whatif_replay(requests, n, &m, ended, &o), -EINVAL);
	m.workers = WHATIF_WORKERS_MAX + 1;
	assert_int_equal(whatif_replay(requests, n, &m, ended, &o), -EINVAL);
	m.workers = 1;
	m.cpus = 0;
	assert_int_equal(whatif_replay(requests, n, &m, ended, &o), -EINVAL);
	m.cpus = 1;
	m.quota.period_usec = 0;
	assert_int_equal(whatif_replay(requests, n, &m, ended, &o), -EINVAL);
	/* no sum of these in ns would be a number; found by fuzzing */
	m.quota.period_usec = UINT64_C(1) << 62;
	assert_int_equal(whatif_replay(requests, n, &m, ended, &o), -EINVAL);
	m.quota = (struct cpu_quota){999, 100000};
	assert_int_equal(whatif_replay(requests, n, &m, ended, &o), -EINVAL);
	m.quota = (struct cpu_quota){QUOTA_NONE - 1, 100000};
	assert_int_equal(whatif_replay(requests, n, &m, ended, &o), -EINVAL);
	m.quota.quota_usec = 25000;
	m.burst_usec = UINT64_MAX;
	assert_int_equal(whatif_replay(requests, n, &m, ended, &o), -EINVAL);
	m.burst_usec = 0;
	m.phase_ns = INT64_MIN;
	assert_int_equal(whatif_replay(requests, n, &m, ended, &o), 0);
	/* no request, and one that costs nothing */
	assert_int_equal(whatif_replay(requests, 0, &m, ended, &o), 0);
	assert_int_equal(whatif_replay(requests, n, &m, ended, &o), 0);
	assert_true(ended[0] >= requests[0].arrived_ns);
	assert_near(slowest_ms(1), 0, 0.1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_measured_phases),
		cmocka_unit_test(test_without_a_limit),
		cmocka_unit_test(test_even_load_is_not_throttled),
		cmocka_unit_test(test_refill_in_time),
		cmocka_unit_test(test_several_refills),
		cmocka_unit_test(test_burst_allowance),
		cmocka_unit_test(test_two_workers),
		cmocka_unit_test(test_wait_holds_its_worker),
		cmocka_unit_test(test_bounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
