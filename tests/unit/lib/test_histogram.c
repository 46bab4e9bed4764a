/* The histogram against the exact nearest rank, and its shape. */
#include "tests/unit/check.h"

#include "histogram.h"
#include "stats.h"

enum { MANY = 20000 };

static uint64_t state_of_random = 7;

static uint64_t next_random(void)
{
	state_of_random ^= state_of_random << 13;
	state_of_random ^= state_of_random >> 7;
	state_of_random ^= state_of_random << 17;
	return state_of_random;
}

/* Spread over twelve powers of ten, as times are. */
static int64_t any_value(void)
{
	return (int64_t)(next_random() >> (24 + next_random() % 38));
}

static void test_buckets_cover_everything_once(void **state)
{
	(void)state;
	for (unsigned bits = 0; bits <= 10; bits += 5) {
		struct histogram h;
		assert_int_equal(histogram_init(&h, bits, 1 << 20, NULL), 0);
		assert_int_equal(histogram_bucket_low(&h, 0), 0);
		for (size_t i = 0; i + 1 < h.buckets; i++)
			assert_int_equal(histogram_bucket_high(&h, i) + 1, histogram_bucket_low(&h, i + 1));
		for (int64_t v = 0; v <= 1 << 20; v += 1 + v / 64) {
			size_t i = histogram_bucket(&h, v);
			assert_true(histogram_bucket_low(&h, i) <= v && v <= histogram_bucket_high(&h, i));
		}
		histogram_free(&h);
	}
}

static void test_small_values_are_exact(void **state)
{
	(void)state;
	struct histogram h;
	assert_int_equal(histogram_init(&h, 7, 3600 * NSEC_PER_SEC, NULL), 0);
	for (int64_t v = 0; v < 256; v++)
		assert_int_equal(histogram_bucket_high(&h, histogram_bucket(&h, v)), v);
	assert_int_equal(h.buckets, 4562); /* as the header says */
	histogram_free(&h);
}

/* The promise of the header: never below the exact percentile, and above it by less than 1 / 2^sub_bits. */
static void test_error_bound(void **state)
{
	(void)state;
	static const uint32_t ranks[] = {1,         10000,      STATS_P50, STATS_P90, STATS_P95,
					 STATS_P99, STATS_P999, 999999,    STATS_MAX};
	static int64_t values[MANY];
	for (unsigned bits = 3; bits <= 10; bits++) {
		struct histogram h;
		assert_int_equal(histogram_init(&h, bits, INT64_C(1) << 41, NULL), 0);
		for (size_t i = 0; i < MANY; i++) {
			values[i] = any_value();
			histogram_record(&h, values[i]);
		}
		stats_sort(values, MANY);
		for (size_t i = 0; i < ARRAY_LEN(ranks); i++) {
			int64_t exact = stats_percentile(values, MANY, ranks[i]);
			int64_t got = histogram_percentile(&h, ranks[i]);
			assert_true(got >= exact);
			assert_true((double)(got - exact) <= (double)exact * histogram_relative_error(&h));
		}
		assert_int_equal(histogram_percentile(&h, STATS_MAX), values[MANY - 1]);
		histogram_free(&h);
	}
}

static void test_a_sum_is_the_same_as_one(void **state)
{
	(void)state;
	struct histogram one;
	struct histogram half[2];
	assert_int_equal(histogram_init(&one, 7, NSEC_PER_SEC, NULL), 0);
	assert_int_equal(histogram_init(&half[0], 7, NSEC_PER_SEC, NULL), 0);
	assert_int_equal(histogram_init(&half[1], 7, NSEC_PER_SEC, NULL), 0);
	for (size_t i = 0; i < 5000; i++) {
		int64_t v = any_value();
		histogram_record(&one, v);
		histogram_record(&half[i % 2], v);
	}
	assert_int_equal(histogram_add(&half[0], &half[1]), 0);
	assert_int_equal(half[0].total, one.total);
	assert_int_equal(half[0].clipped, one.clipped);
	assert_int_equal(half[0].min, one.min);
	assert_int_equal(half[0].max, one.max);
	assert_memory_equal(half[0].counts, one.counts, one.buckets * sizeof *one.counts);
	histogram_free(&one);
	histogram_free(&half[0]);
	histogram_free(&half[1]);
}

static void test_adding_nothing_and_adding_to_nothing(void **state)
{
	(void)state;
	struct histogram a;
	struct histogram empty;
	assert_int_equal(histogram_init(&a, 5, 1000, NULL), 0);
	assert_int_equal(histogram_init(&empty, 5, 1000, NULL), 0);
	histogram_record(&a, 40);
	assert_int_equal(histogram_add(&a, &empty), 0);
	assert_int_equal(a.min, 40);
	assert_int_equal(histogram_add(&empty, &a), 0);
	assert_int_equal(empty.min, 40);
	assert_int_equal(empty.total, 1);
	histogram_free(&a);
	histogram_free(&empty);
}

static void test_other_shapes_are_refused(void **state)
{
	(void)state;
	struct histogram a;
	struct histogram b;
	struct fault f = {0};
	assert_int_equal(histogram_init(&a, 5, 1000, NULL), 0);
	assert_int_equal(histogram_init(&b, 6, 1000, NULL), 0);
	assert_int_equal(histogram_add(&a, &b), -EINVAL);
	histogram_free(&b);
	assert_int_equal(histogram_init(&b, 5, 1001, NULL), 0);
	assert_int_equal(histogram_add(&a, &b), -EINVAL);
	histogram_free(&a);
	histogram_free(&b);
	assert_fault(histogram_init(&a, HISTOGRAM_SUB_BITS_MAX + 1, 10, &f), &f, EINVAL);
	assert_fault(histogram_init(&a, 3, -1, &f), &f, EINVAL);
	histogram_free(&a);
}

static void test_edges(void **state)
{
	(void)state;
	struct histogram h;
	assert_int_equal(histogram_init(&h, 7, 1000, NULL), 0);
	assert_int_equal(histogram_percentile(&h, STATS_P99), 0);
	assert_true(histogram_mean(&h) == 0);
	histogram_record(&h, -5);
	assert_int_equal(h.min, 0);
	histogram_record(&h, 5000);
	assert_int_equal(h.clipped, 1);
	/* what is above the range is known by its maximum only */
	assert_int_equal(histogram_percentile(&h, STATS_MAX), 5000);
	assert_int_equal(histogram_percentile(&h, STATS_P50), 0);
	histogram_record_n(&h, 7, 0);
	assert_int_equal(h.total, 2);
	histogram_record_n(&h, 7, 98);
	assert_int_equal(h.total, 100);
	assert_int_equal(histogram_count_to(&h, 7), 99);
	assert_int_equal(histogram_percentile(&h, STATS_P99), 7);
	assert_int_equal(histogram_at_rank(&h, 100), 5000);
	assert_int_equal(histogram_at_rank(&h, 1000), 5000);
	assert_true(histogram_mean(&h) == (0 + 5000 + 7.0 * 98) / 100);
	histogram_reset(&h);
	assert_int_equal(h.total, 0);
	assert_int_equal(histogram_percentile(&h, STATS_MAX), 0);
	histogram_record(&h, INT64_MAX);
	assert_int_equal(histogram_percentile(&h, STATS_P50), INT64_MAX);
	histogram_free(&h);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_buckets_cover_everything_once),
		cmocka_unit_test(test_small_values_are_exact),
		cmocka_unit_test(test_error_bound),
		cmocka_unit_test(test_a_sum_is_the_same_as_one),
		cmocka_unit_test(test_adding_nothing_and_adding_to_nothing),
		cmocka_unit_test(test_other_shapes_are_refused),
		cmocka_unit_test(test_edges),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
