/* The order of conditions: changed, complete, and the same again from the same seed. */
#include "tests/unit/check.h"

#include "lab/order.h"

enum { N = 6, REPETITIONS = 3, ALL = N * REPETITIONS };

static void draw(uint64_t seed, size_t order[ALL])
{
	struct rng dice = {.state = seed};
	order_draw(&dice, N, REPETITIONS, order);
}

static void test_each_repetition_has_every_condition_once(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		size_t order[ALL];
		draw(seed, order);
		for (size_t r = 0; r < REPETITIONS; r++) {
			unsigned seen = 0;
			for (size_t p = 0; p < N; p++)
				seen |= 1U << order[r * N + p];
			assert_int_equal(seen, (1U << N) - 1);
		}
	}
}

static void test_no_condition_keeps_its_place(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 200; seed++) {
		size_t order[ALL];
		draw(seed, order);
		for (size_t i = N; i < ALL; i++)
			assert_int_not_equal(order[i], order[i - N]);
	}
}

static void test_the_seed_decides(void **state)
{
	(void)state;
	size_t a[ALL];
	size_t b[ALL];
	size_t different = 0;
	for (uint64_t seed = 0; seed < 50; seed++) {
		draw(seed, a);
		draw(seed, b);
		assert_memory_equal(a, b, sizeof a);
		draw(seed + 1, b);
		different += memcmp(a, b, sizeof a) != 0;
	}
	assert_true(different >= 45);
}

/* Over many seeds every condition comes first about as often as any other: 600 draws, 100 expected, +-40 is 4.4 sigma.
 */
static void test_the_first_place_is_fair(void **state)
{
	(void)state;
	int first[N] = {0};
	for (uint64_t seed = 0; seed < 600; seed++) {
		size_t order[ALL];
		draw(seed * 7919, order);
		first[order[0]]++;
	}
	for (size_t c = 0; c < N; c++)
		assert_in_range(first[c], 60, 140);
}

static void test_one_condition_has_nowhere_to_go(void **state)
{
	(void)state;
	struct rng dice = {.state = 1};
	size_t order[3] = {9, 9, 9};
	order_draw(&dice, 1, 3, order);
	assert_int_equal(order[0] + order[1] + order[2], 0);
}

static void test_phases_cover_the_period(void **state)
{
	(void)state;
	for (uint64_t seed = 0; seed < 100; seed++) {
		struct rng dice = {.state = seed};
		double phases_ms[4];
		unsigned quarters = 0;
		order_draw_phases(&dice, 100, 4, phases_ms);
		for (size_t i = 0; i < 4; i++) {
			assert_true(phases_ms[i] >= 0 && phases_ms[i] < 100);
			quarters |= 1U << (unsigned)(phases_ms[i] / 25);
		}
		assert_int_equal(quarters, 15);
	}
}

static void test_below_is_below(void **state)
{
	(void)state;
	struct rng dice = {.state = 42};
	unsigned seen = 0;
	for (int i = 0; i < 1000; i++) {
		uint64_t x = rng_below(&dice, 5);
		assert_true(x < 5);
		seen |= 1U << x;
	}
	assert_int_equal(seen, 31);
	assert_int_equal(rng_below(&dice, 1), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_repetition_has_every_condition_once),
		cmocka_unit_test(test_no_condition_keeps_its_place),
		cmocka_unit_test(test_the_seed_decides),
		cmocka_unit_test(test_the_first_place_is_fair),
		cmocka_unit_test(test_one_condition_has_nowhere_to_go),
		cmocka_unit_test(test_phases_cover_the_period),
		cmocka_unit_test(test_below_is_below),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
