/* Demand inside single periods, from made-up usage curves sampled every 10 ms. */
#include "tests/unit/check.h"

#include "demand.h"

#include <math.h>

#define assert_near(a, b, epsilon) assert_true(fabs((a) - (b)) <= (epsilon))

#define MS NSEC_PER_MSEC

static const struct cpu_quota none = {QUOTA_NONE, CPU_PERIOD_DEFAULT_USEC};
static const struct cpu_quota quarter = {25000, 100000};

/* A container whose period timer ticks at phase + k x period: what it used, and how many periods were counted. */
struct curve {
	int64_t phase_ns, period_ns;
	double burst_usec;      /* CPU time it uses from the start of each period on, one CPU at full speed */
	int64_t active_from_ns; /* no use before */
};

static uint64_t usage_at(const struct curve *c, int64_t ns)
{
	double usec = 0;
	for (int64_t start = c->phase_ns - c->period_ns; start < ns; start += c->period_ns) {
		double run = (double)(ns - start) / 1e3;
		if (start >= c->active_from_ns)
			usec += run < c->burst_usec ? run : c->burst_usec;
	}
	return (uint64_t)usec;
}

static uint64_t periods_at(const struct curve *c, int64_t ns)
{
	return (uint64_t)((ns - c->phase_ns) / c->period_ns + 1);
}

static void feed(struct demand *d, const struct curve *c, const struct cpu_quota *quota, int64_t from_ns, int64_t to_ns,
		 int64_t every_ns)
{
	for (int64_t t = from_ns; t <= to_ns; t += every_ns)
		demand_take(d, t, usage_at(c, t), quota, quota->quota_usec == QUOTA_NONE ? 0 : periods_at(c, t));
}

static uint64_t bucket_sum(const struct demand *d)
{
	uint64_t sum = 0;
	for (size_t i = 0; i <= DEMAND_BUCKETS; i++)
		sum += d->buckets[i];
	return sum;
}

/* Distance on the circle of the period. */
static int64_t phase_error(const struct demand *d, int64_t phase_ns)
{
	int64_t e = ((d->phase_ns - phase_ns) % d->period_ns + d->period_ns) % d->period_ns;
	return e > d->period_ns / 2 ? d->period_ns - e : e;
}

static void test_empty(void **state)
{
	(void)state;
	struct demand d;
	demand_init(&d);
	assert_true(isnan(demand_mean_cores(&d)));
	assert_true(isnan(demand_exhausted_at_ms(&d)));
	assert_false(d.have_phase);
	demand_take(&d, 5 * MS, 100, &none, 0);
	assert_int_equal(d.periods, 0);
}

static void test_bounds_rise(void **state)
{
	(void)state;
	for (size_t i = 1; i < DEMAND_BUCKETS; i++)
		assert_true(demand_bounds_cores[i] > demand_bounds_cores[i - 1]);
}

/* Without a quota: a grid of 100 ms, nothing runs out. */
static void test_without_quota(void **state)
{
	(void)state;
	struct demand d;
	demand_init(&d);
	for (int64_t t = 0; t <= 10000; t += 10)
		demand_take(&d, t * MS, (uint64_t)t * 300, &none, 0);
	/* 10 s, less the part of a period at either end */
	assert_in_range(d.periods, 98, 100);
	assert_int_equal(bucket_sum(&d), d.periods);
	assert_near(demand_mean_cores(&d), 0.3, 1e-6);
	assert_int_equal(d.buckets[5], d.periods); /* (0.25, 0.5] */
	assert_int_equal(d.exhausted, 0);
	assert_true(isnan(demand_exhausted_at_ms(&d)));
}

/* Bounds are inclusive. */
static void test_bucket_of_bound(void **state)
{
	(void)state;
	struct demand d;
	demand_init(&d);
	for (int64_t t = 0; t <= 1000; t += 10)
		demand_take(&d, t * MS, (uint64_t)t * 500, &none, 0); /* exactly 0.5 */
	assert_int_equal(d.buckets[5], d.periods);
	assert_true(d.periods >= 8);
}

static void test_beyond_the_last_bound(void **state)
{
	(void)state;
	struct demand d;
	demand_init(&d);
	for (int64_t t = 0; t <= 1000; t += 10)
		demand_take(&d, t * MS, (uint64_t)t * 100000, &none, 0);
	assert_int_equal(d.buckets[DEMAND_BUCKETS], d.periods);
}

/* The tick lies between the two samples around which nr_periods grew; after many ticks at other offsets it is narrower.
 */
static void test_phase_is_learnt(void **state)
{
	(void)state;
	static const int64_t phases_ms[] = {0, 1, 37, 50, 99};
	for (size_t i = 0; i < ARRAY_LEN(phases_ms); i++) {
		struct curve c = {.phase_ns = phases_ms[i] * MS, .period_ns = 100 * MS, .burst_usec = 10000};
		struct demand d;
		demand_init(&d);
		/* 10.3 ms between samples: the tick falls at another place between two of them each time */
		feed(&d, &c, &quarter, 200 * MS, 5000 * MS, 10300000);
		assert_true(d.have_phase);
		assert_case(d.phase_width_ns > 0 && d.phase_width_ns <= 10300000, "width");
		assert_case(phase_error(&d, c.phase_ns) <= d.phase_width_ns / 2 + 1, "error within its own bounds");
		assert_case(d.phase_width_ns < 2 * MS, "narrower with time");
	}
}

/* One tick that comes 40 ms late, seen by a late sample: noise. The same from then on: another timer. */
static void test_late_tick_is_no_new_grid(void **state)
{
	(void)state;
	struct curve c = {.phase_ns = 30 * MS, .period_ns = 100 * MS, .burst_usec = 20000};
	struct demand d;
	demand_init(&d);
	feed(&d, &c, &quarter, 200 * MS, 1020 * MS, 10300000);
	int64_t phase_ns = d.phase_ns;
	int64_t width_ns = d.phase_width_ns;
	uint64_t periods = d.last_nr_periods;
	demand_take(&d, 1065 * MS, usage_at(&c, 1065 * MS), &quarter, periods);
	demand_take(&d, 1085 * MS, usage_at(&c, 1085 * MS), &quarter, periods + 1);
	assert_int_equal(d.phase_ns, phase_ns);
	assert_int_equal(d.phase_width_ns, width_ns);
	feed(&d, &c, &quarter, 1090 * MS, 1980 * MS, 10300000);
	assert_true(phase_error(&d, c.phase_ns) <= d.phase_width_ns / 2 + 1);
	assert_true(d.phase_width_ns <= width_ns);

	struct curve moved = {.phase_ns = 80 * MS, .period_ns = 100 * MS, .burst_usec = 20000};
	feed(&d, &moved, &quarter, 2000 * MS, 2500 * MS, 10300000);
	assert_true(phase_error(&d, moved.phase_ns) <= d.phase_width_ns / 2 + 1);
}

/* Whole periods are counted once, also while the phase is still being learnt. */
static void test_every_period_once(void **state)
{
	(void)state;
	static const int64_t every_ns[] = {10 * MS, 10300000, 9700000, 7 * MS, 1 * MS, 30 * MS, 50 * MS};
	for (size_t i = 0; i < ARRAY_LEN(every_ns); i++) {
		struct curve c = {.phase_ns = 37 * MS, .period_ns = 100 * MS, .burst_usec = 20000};
		struct demand d;
		char what[128];
		demand_init(&d);
		feed(&d, &c, &quarter, 200 * MS, 20200 * MS, every_ns[i]);
		snprintf(what, sizeof what, "every %lld us: %llu periods in 20 s, mean %g",
			 (long long)every_ns[i] / 1000, (unsigned long long)d.periods, demand_mean_cores(&d));
		assert_case(d.periods >= 197 && d.periods <= 201, what);
		assert_case(bucket_sum(&d) == d.periods, what);
		assert_case(fabs(demand_mean_cores(&d) - 0.2) < 0.004, what);
	}
}

/* A first period that was not seen from its beginning is no whole one. */
static void test_first_period_is_whole(void **state)
{
	(void)state;
	struct demand d;
	demand_init(&d);
	/* 1 CPU all the time, first sample in the middle of a period */
	for (int64_t t = 1050; t <= 2050; t += 10)
		demand_take(&d, t * MS, (uint64_t)t * 1000, &none, 0);
	assert_true(d.periods >= 8);
	assert_near(demand_mean_cores(&d), 1, 1e-6);
	assert_int_equal(d.buckets[6], d.periods); /* (0.5, 1] */
}

/* The budget of 25 ms is gone after 25 ms of a period; seen within one sampling interval. */
static void test_exhaustion(void **state)
{
	(void)state;
	struct curve c = {.phase_ns = 40 * MS, .period_ns = 100 * MS, .burst_usec = 25000};
	struct demand d;
	demand_init(&d);
	feed(&d, &c, &quarter, 200 * MS, 10200 * MS, 10300000);
	assert_in_range(d.exhausted, 94, 101);
	assert_true(demand_exhausted_at_ms(&d) >= 24 && demand_exhausted_at_ms(&d) <= 25 + 11);
}

static void test_no_exhaustion_below_the_quota(void **state)
{
	(void)state;
	struct curve c = {.phase_ns = 40 * MS, .period_ns = 100 * MS, .burst_usec = 20000};
	struct demand d;
	demand_init(&d);
	feed(&d, &c, &quarter, 200 * MS, 10200 * MS, 10300000);
	/* while the phase is not known a cut may be in a wrong place, once */
	assert_in_range(d.exhausted, 0, 1);
}

/* A pause of more than a few periods: what was used in it belongs to no single period. */
static void test_gap(void **state)
{
	(void)state;
	struct demand d;
	demand_init(&d);
	for (int64_t t = 0; t <= 1000; t += 10)
		demand_take(&d, t * MS, (uint64_t)t * 100, &none, 0);
	uint64_t before = d.periods;
	demand_take(&d, 61000 * MS, 50000000, &none, 0);
	assert_int_equal(d.periods, before);
	for (int64_t t = 61010; t <= 62000; t += 10)
		demand_take(&d, t * MS, 50000000 + (uint64_t)(t - 61000) * 100, &none, 0);
	assert_in_range(d.periods - before, 8, 10);
	assert_near(demand_mean_cores(&d), 0.1, 1e-3);
}

static void test_usage_went_back(void **state)
{
	(void)state;
	struct demand d;
	demand_init(&d);
	for (int64_t t = 0; t <= 1000; t += 10)
		demand_take(&d, t * MS, 5000000 + (uint64_t)t * 100, &none, 0);
	for (int64_t t = 1010; t <= 2000; t += 10)
		demand_take(&d, t * MS, (uint64_t)(t - 1000) * 100, &none, 0);
	assert_in_range(d.periods, 17, 20);
	assert_near(demand_mean_cores(&d), 0.1, 1e-3);
}

static void test_time_does_not_go_back(void **state)
{
	(void)state;
	struct demand d;
	demand_init(&d);
	demand_take(&d, 1000 * MS, 100, &none, 0);
	demand_take(&d, 1000 * MS, 100, &none, 0);
	demand_take(&d, 990 * MS, 100, &none, 0);
	assert_int_equal(d.periods, 0);
}

/* Another period: the old phase means nothing, and the period is cut anew. */
static void test_period_change(void **state)
{
	(void)state;
	static const struct cpu_quota longer = {50000, 200000};
	struct curve c = {.phase_ns = 30 * MS, .period_ns = 100 * MS, .burst_usec = 20000};
	struct demand d;
	demand_init(&d);
	feed(&d, &c, &quarter, 200 * MS, 5200 * MS, 10 * MS);
	uint64_t before = d.periods;
	demand_take(&d, 5210 * MS, usage_at(&c, 5210 * MS), &longer, periods_at(&c, 5210 * MS));
	assert_false(d.have_phase);
	assert_int_equal(d.period_ns, 200 * MS);
	assert_int_equal(d.quota_usec, 50000);
	struct curve c2 = {.phase_ns = 150 * MS, .period_ns = 200 * MS, .burst_usec = 20000};
	feed(&d, &c2, &longer, 5220 * MS, 15220 * MS, 10300000);
	assert_true(d.have_phase);
	assert_true(phase_error(&d, c2.phase_ns) <= 11 * MS);
	assert_in_range(d.periods - before, 47, 51);
}

/* The same period with another quota keeps the phase; only the budget is another. */
static void test_quota_change(void **state)
{
	(void)state;
	static const struct cpu_quota half = {50000, 100000};
	struct curve c = {.phase_ns = 30 * MS, .period_ns = 100 * MS, .burst_usec = 25000};
	struct demand d;
	demand_init(&d);
	feed(&d, &c, &quarter, 200 * MS, 5200 * MS, 10300000);
	uint64_t exhausted = d.exhausted;
	assert_true(exhausted > 40);
	feed(&d, &c, &half, 5210 * MS, 10200 * MS, 10300000);
	assert_true(d.have_phase);
	assert_in_range(d.exhausted - exhausted, 0, 1);
	feed(&d, &c, &none, 10210 * MS, 15200 * MS, 10300000);
	assert_in_range(d.exhausted - exhausted, 0, 1);
	assert_int_equal(d.quota_usec, QUOTA_NONE);
}

/* Several periods between two samples: nr_periods grew by more than one, which says nothing about the phase. */
static void test_slow_sampling(void **state)
{
	(void)state;
	struct curve c = {.phase_ns = 30 * MS, .period_ns = 100 * MS, .burst_usec = 20000};
	struct demand d;
	demand_init(&d);
	feed(&d, &c, &quarter, 200 * MS, 10200 * MS, 250 * MS);
	assert_false(d.have_phase);
	assert_in_range(d.periods, 95, 101);
	assert_near(demand_mean_cores(&d), 0.2, 0.01);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_bounds_rise),
		cmocka_unit_test(test_without_quota),
		cmocka_unit_test(test_bucket_of_bound),
		cmocka_unit_test(test_beyond_the_last_bound),
		cmocka_unit_test(test_phase_is_learnt),
		cmocka_unit_test(test_late_tick_is_no_new_grid),
		cmocka_unit_test(test_every_period_once),
		cmocka_unit_test(test_first_period_is_whole),
		cmocka_unit_test(test_exhaustion),
		cmocka_unit_test(test_no_exhaustion_below_the_quota),
		cmocka_unit_test(test_gap),
		cmocka_unit_test(test_usage_went_back),
		cmocka_unit_test(test_time_does_not_go_back),
		cmocka_unit_test(test_period_change),
		cmocka_unit_test(test_quota_change),
		cmocka_unit_test(test_slow_sampling),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
