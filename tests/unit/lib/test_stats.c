/* Nearest rank in integers. */
#include "tests/unit/check.h"

#include "stats.h"

#include <math.h>

/* The definition, slowly: the smallest rank r with r / n >= p. */
static uint64_t slow_rank(uint64_t n, uint32_t ppm)
{
	unsigned __int128 wanted = (unsigned __int128)n * ppm;
	uint64_t r = (uint64_t)((wanted + 999999) / 1000000);
	return r == 0 && n > 0 ? 1 : r;
}

static void test_rank(void **state)
{
	(void)state;
	assert_int_equal(stats_rank(1200, STATS_P99), 1188);
	assert_int_equal(stats_rank(400, STATS_P99), 396);
	assert_int_equal(stats_rank(100, STATS_P99), 99);
	assert_int_equal(stats_rank(1, STATS_P50), 1);
	assert_int_equal(stats_rank(2, STATS_P50), 1);
	assert_int_equal(stats_rank(3, STATS_P50), 2);
	assert_int_equal(stats_rank(0, STATS_P99), 0);
	assert_int_equal(stats_rank(10, 0), 1);
	assert_int_equal(stats_rank(10, STATS_MAX), 10);
	assert_int_equal(stats_rank(10, UINT32_MAX), 10);
	assert_true(stats_rank(UINT64_MAX, STATS_MAX) == UINT64_MAX);
	assert_true(stats_rank(UINT64_MAX, STATS_P999) == slow_rank(UINT64_MAX, STATS_P999));
}

/* In doubles 20 of these are one too high. */
static void test_rank_exact(void **state)
{
	(void)state;
	static const uint32_t ppms[] = {1, STATS_P50, STATS_P90, STATS_P95, STATS_P99, STATS_P999, 999999};
	for (uint64_t n = 1; n <= 20000; n++)
		for (size_t i = 0; i < ARRAY_LEN(ppms); i++)
			assert_true(stats_rank(n, ppms[i]) == slow_rank(n, ppms[i]));
	assert_int_equal(stats_rank(1000, STATS_P999), 999);
	assert_int_equal(stats_rank(2000, STATS_P999), 1998);
}

static void test_percentile(void **state)
{
	(void)state;
	int64_t v[] = {5, -3, 9, 1, 7, INT64_MAX, INT64_MIN, 0, 2, 4};
	stats_sort(v, ARRAY_LEN(v));
	for (size_t i = 1; i < ARRAY_LEN(v); i++)
		assert_true(v[i - 1] <= v[i]);
	assert_true(v[0] == INT64_MIN && v[9] == INT64_MAX);
	assert_int_equal(stats_percentile(v, 10, STATS_P50), 2);
	assert_int_equal(stats_percentile(v, 10, STATS_P90), 9);
	assert_true(stats_percentile(v, 10, STATS_P99) == INT64_MAX);
	assert_true(stats_percentile(v, 10, 0) == INT64_MIN);
	stats_sort(v, 0);
	stats_sort(NULL, 0);
	stats_sort(v, 1);
}

static void test_median_and_mean(void **state)
{
	(void)state;
	const int64_t odd[] = {1, 2, 100};
	const int64_t even[] = {1, 2, 5, 100};
	const int64_t large[] = {INT64_MAX - 2, INT64_MAX};
	assert_int_equal(stats_median(odd, 3), 2);
	assert_int_equal(stats_median(even, 4), 3);
	assert_int_equal(stats_median(odd, 1), 1);
	assert_true(stats_median(large, 2) == INT64_MAX - 1);
	assert_true(fabs(stats_mean(even, 4) - 27) < 1e-9);
	assert_true(stats_mean(even, 0) == 0);
	assert_true(stats_mean(large, 2) > 9e18);
}

/* A pair on both sides of 0: the difference of the outermost numbers does not fit into an int64_t. */
static void test_median_rounds_towards_zero(void **state)
{
	(void)state;
	const int64_t pair[] = {-3, 0};
	const int64_t outermost[] = {INT64_MIN, INT64_MAX};
	assert_int_equal(stats_median(pair, 2), -1);
	assert_int_equal(stats_median(outermost, 2), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rank),
		cmocka_unit_test(test_rank_exact),
		cmocka_unit_test(test_percentile),
		cmocka_unit_test(test_median_and_mean),
		cmocka_unit_test(test_median_rounds_towards_zero),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
