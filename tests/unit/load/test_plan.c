/* Schedules: how many instants, where, and what is refused. */
#include "tests/unit/check.h"

#include "load/plan.h"

#include <math.h>

#define S  NSEC_PER_SEC
#define MS NSEC_PER_MSEC

static void assert_ascending(const struct plan *p)
{
	for (size_t i = 0; i < p->n; i++) {
		assert_true(p->offset_ns[i] >= (i ? p->offset_ns[i - 1] : 0));
		assert_true(p->offset_ns[i] < p->duration_ns);
	}
}

/* The two schedules of study 1: 400 requests in 20 s each. */
static void test_the_published_schedules(void **state)
{
	(void)state;
	struct plan p;
	assert_int_equal(plan_paced(&p, 50 * MS, 20 * S, NULL), 0);
	assert_int_equal(p.n, 400);
	assert_int_equal(p.offset_ns[0], 0);
	assert_int_equal(p.offset_ns[399], 19950 * MS);
	plan_free(&p);
	assert_int_equal(plan_burst(&p, 8, 400 * MS, 20 * S, NULL), 0);
	assert_int_equal(p.n, 400);
	assert_int_equal(p.offset_ns[7], 0);
	assert_int_equal(p.offset_ns[8], 400 * MS);
	assert_int_equal(p.offset_ns[399], 19600 * MS);
	assert_ascending(&p);
	plan_free(&p);
}

/* [0, duration) is half open. */
static void test_the_end_is_not_part_of_it(void **state)
{
	(void)state;
	static const struct {
		int64_t interval_ns, duration_ns;
		size_t n;
	} cases[] = {
		{10, 10, 1}, {10, 11, 2}, {10, 9, 1}, {10, 20, 2}, {10, 1, 1}, {1, 5, 5},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct plan p;
		assert_int_equal(plan_paced(&p, cases[i].interval_ns, cases[i].duration_ns, NULL), 0);
		assert_int_equal(p.n, cases[i].n);
		plan_free(&p);
	}
}

/* 3/s and 7/s do not divide a second: number i must still be at i / rate, not at i times a rounded interval. */
static void test_a_rate_does_not_drift(void **state)
{
	(void)state;
	static const double rates[] = {3, 7, 0.3, 1000, 9999, 20000, 12.5};
	for (size_t k = 0; k < ARRAY_LEN(rates); k++) {
		struct plan p;
		assert_int_equal(plan_rate(&p, rates[k], 100 * S, NULL), 0);
		assert_int_equal(p.n, (size_t)ceil(100 * rates[k]));
		assert_ascending(&p);
		for (size_t i = 0; i < p.n; i++)
			assert_true(fabs((double)p.offset_ns[i] - (double)i * 1e9 / rates[k]) <= 1);
		plan_free(&p);
	}
}

/* Found by fuzzing: number 1 was due before number 0. */
static void test_a_tiny_rate_is_one_request(void **state)
{
	(void)state;
	static const double rates[] = {1e-9, 1e-9 / 60, 1e-30};
	for (size_t k = 0; k < ARRAY_LEN(rates); k++) {
		struct plan p;
		assert_int_equal(plan_rate(&p, rates[k], 100 * S, NULL), 0);
		assert_int_equal(p.n, 1);
		assert_int_equal(p.offset_ns[0], 0);
		plan_free(&p);
	}
}

static void test_poisson_is_reproducible(void **state)
{
	(void)state;
	struct plan a;
	struct plan b;
	struct plan c;
	assert_int_equal(plan_poisson(&a, 100, 42, 60 * S, NULL), 0);
	assert_int_equal(plan_poisson(&b, 100, 42, 60 * S, NULL), 0);
	assert_int_equal(plan_poisson(&c, 100, 43, 60 * S, NULL), 0);
	assert_int_equal(a.n, b.n);
	assert_memory_equal(a.offset_ns, b.offset_ns, a.n * sizeof *a.offset_ns);
	assert_true(a.n != c.n || memcmp(a.offset_ns, c.offset_ns, a.n * sizeof *a.offset_ns) != 0);
	plan_free(&a);
	plan_free(&b);
	plan_free(&c);
}

/* Mean gap 1 / rate, and as wide as its mean: what tells it from paced. 6 sigma for the number of requests. */
static void test_poisson_is_exponential(void **state)
{
	(void)state;
	struct plan p;
	double squares = 0;
	assert_int_equal(plan_poisson(&p, 1000, 1, 100 * S, NULL), 0);
	assert_ascending(&p);
	assert_true(fabs((double)p.n - 100000) < 6 * sqrt(100000));
	for (size_t i = 1; i < p.n; i++)
		squares += pow((double)(p.offset_ns[i] - p.offset_ns[i - 1]) / 1e6 - 1, 2);
	assert_true(fabs(sqrt(squares / (double)p.n) - 1) < 0.03);
	plan_free(&p);
}

static void test_ramp(void **state)
{
	(void)state;
	struct plan p;
	/* 0 to 100/s in 10 s: 500 requests, a quarter of them in the first half */
	assert_int_equal(plan_ramp(&p, 0, 100, 10 * S, NULL), 0);
	assert_int_equal(p.n, 500);
	assert_ascending(&p);
	assert_true(p.offset_ns[125] >= 5 * S - MS && p.offset_ns[125] <= 5 * S + MS);
	plan_free(&p);
	/* the other way round it is denser at its beginning */
	assert_int_equal(plan_ramp(&p, 100, 0, 10 * S, NULL), 0);
	assert_int_equal(p.n, 500);
	assert_ascending(&p);
	assert_true(p.offset_ns[374] < 5 * S && p.offset_ns[376] > 5 * S);
	plan_free(&p);
	/* level: the same as a rate */
	assert_int_equal(plan_ramp(&p, 50, 50, 2 * S, NULL), 0);
	assert_int_equal(p.n, 100);
	assert_int_equal(p.offset_ns[99], 1980 * MS);
	plan_free(&p);
}

static void test_recorded(void **state)
{
	(void)state;
	int64_t times[] = {5 * S, 2 * S, 2 * S, 3 * S};
	struct plan p;
	assert_int_equal(plan_recorded(&p, times, 4, 1, 0, NULL), 0);
	assert_int_equal(p.n, 4);
	assert_int_equal(p.offset_ns[0], 0);
	assert_int_equal(p.offset_ns[1], 0);
	assert_int_equal(p.offset_ns[2], S);
	assert_int_equal(p.offset_ns[3], 3 * S);
	assert_int_equal(p.duration_ns, 3 * S + 1);
	plan_free(&p);
	assert_int_equal(plan_recorded(&p, times, 4, 2, 0, NULL), 0);
	assert_int_equal(p.offset_ns[3], 3 * S / 2);
	plan_free(&p);
	assert_int_equal(plan_recorded(&p, times, 4, 1, S, NULL), 0);
	assert_int_equal(p.n, 2);
	plan_free(&p);
	int64_t far[] = {0, INT64_C(7000000000) * S};
	struct fault f = {0};
	assert_fault(plan_recorded(&p, far, 2, 1, 0, &f), &f, ERANGE);
	plan_free(&p);
}

/* All shards together are the whole schedule, each instant once. */
static void test_shards_partition(void **state)
{
	(void)state;
	enum { SHARDS = 4 };
	struct plan whole;
	size_t total = 0;
	size_t at[SHARDS] = {0};
	struct plan shard[SHARDS];
	assert_int_equal(plan_poisson(&whole, 50, 9, 10 * S, NULL), 0);
	for (unsigned k = 0; k < SHARDS; k++) {
		assert_int_equal(plan_poisson(&shard[k], 50, 9, 10 * S, NULL), 0);
		assert_int_equal(plan_shard(&shard[k], k, SHARDS, NULL), 0);
		total += shard[k].n;
	}
	assert_int_equal(total, whole.n);
	for (size_t i = 0; i < whole.n; i++)
		assert_int_equal(whole.offset_ns[i], shard[i % SHARDS].offset_ns[at[i % SHARDS]++]);
	for (unsigned k = 0; k < SHARDS; k++)
		plan_free(&shard[k]);
	plan_free(&whole);
}

static void test_shards_at_the_edge(void **state)
{
	(void)state;
	struct fault f = {0};
	struct plan p;
	assert_int_equal(plan_paced(&p, S, 2 * S, NULL), 0);
	assert_fault(plan_shard(&p, 3, 3, &f), &f, EINVAL);
	assert_fault(plan_shard(&p, 0, 0, &f), &f, EINVAL);
	assert_int_equal(p.n, 2);
	/* more shards than requests: the last ones have nothing to do */
	assert_int_equal(plan_shard(&p, 2, 3, NULL), 0);
	assert_int_equal(p.n, 0);
	assert_int_equal(plan_gap_before(&p, 0), 0);
	assert_int_equal(plan_most_within(&p, S), 0);
	plan_free(&p);
}

static void test_refused(void **state)
{
	(void)state;
	struct fault f = {0};
	struct plan p;
	assert_fault(plan_paced(&p, 0, S, &f), &f, EINVAL);
	assert_fault(plan_paced(&p, 1, 0, &f), &f, EINVAL);
	assert_fault(plan_paced(&p, 1, 3600 * S, &f), &f, ERANGE);
	assert_fault(plan_burst(&p, 0, S, S, &f), &f, EINVAL);
	assert_fault(plan_burst(&p, PLAN_MAX, 1, S, &f), &f, ERANGE);
	assert_fault(plan_rate(&p, 0, S, &f), &f, EINVAL);
	assert_fault(plan_rate(&p, (double)NAN, S, &f), &f, EINVAL);
	assert_fault(plan_rate(&p, 1e300, S, &f), &f, ERANGE);
	assert_fault(plan_poisson(&p, -1, 1, S, &f), &f, EINVAL);
	assert_fault(plan_poisson(&p, 1e-9, 1, S, &f), &f, ERANGE);
	plan_free(&p);
	assert_fault(plan_ramp(&p, 0, 0, S, &f), &f, EINVAL);
	assert_fault(plan_recorded(&p, NULL, 0, 1, 0, &f), &f, EINVAL);
	assert_null(p.offset_ns);
	plan_free(&p);
}

static void test_gaps_and_windows(void **state)
{
	(void)state;
	struct plan p;
	assert_int_equal(plan_burst(&p, 8, 400 * MS, 2 * S, NULL), 0);
	assert_int_equal(plan_gap_before(&p, 8), 400 * MS);
	assert_int_equal(plan_gap_before(&p, 15), 400 * MS);
	/* nothing before the first burst: the gap behind it */
	assert_int_equal(plan_gap_before(&p, 3), 400 * MS);
	assert_int_equal(plan_most_within(&p, MS), 8);
	assert_int_equal(plan_most_within(&p, 400 * MS), 8);
	assert_int_equal(plan_most_within(&p, 400 * MS + 1), 16);
	assert_int_equal(plan_most_within(&p, 100 * S), 40);
	plan_free(&p);
	assert_int_equal(plan_burst(&p, 5, S, S, NULL), 0);
	assert_int_equal(plan_gap_before(&p, 0), 0);
	plan_free(&p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_the_published_schedules),
		cmocka_unit_test(test_the_end_is_not_part_of_it),
		cmocka_unit_test(test_a_rate_does_not_drift),
		cmocka_unit_test(test_a_tiny_rate_is_one_request),
		cmocka_unit_test(test_poisson_is_reproducible),
		cmocka_unit_test(test_poisson_is_exponential),
		cmocka_unit_test(test_ramp),
		cmocka_unit_test(test_recorded),
		cmocka_unit_test(test_shards_partition),
		cmocka_unit_test(test_shards_at_the_edge),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_gaps_and_windows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
