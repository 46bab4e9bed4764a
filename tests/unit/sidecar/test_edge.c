/* Warnings as edges: hysteresis, repeats at doubling intervals, what was left unsaid. */
#include "tests/unit/check.h"

#include "sidecar/edge.h"

#include <math.h>

#define OPEN_AT       0.25
#define RESOLVE_BELOW 0.10

static enum edge_action step(struct edge *e, double value, int64_t seconds)
{
	return edge_step(e, value, OPEN_AT, RESOLVE_BELOW, seconds * NSEC_PER_SEC);
}

static void test_hysteresis(void **state)
{
	(void)state;
	struct edge e = {0};
	assert_int_equal(step(&e, 0, 10), EDGE_NOTHING);
	assert_int_equal(step(&e, 0.2499, 20), EDGE_NOTHING);
	assert_false(e.open);
	assert_int_equal(step(&e, 0.25, 30), EDGE_OPENED); /* at the threshold */
	assert_true(e.open);
	assert_int_equal(e.opened_ns, 30 * NSEC_PER_SEC);
	assert_int_equal(step(&e, 0.11, 40), EDGE_NOTHING); /* between the two: still open */
	assert_int_equal(step(&e, 0.10, 50), EDGE_NOTHING); /* not below */
	assert_int_equal(step(&e, 0.0999, 60), EDGE_RESOLVED);
	assert_false(e.open);
	assert_int_equal(e.opened_ns, 30 * NSEC_PER_SEC);  /* for the line that says how long it was */
	assert_int_equal(step(&e, 0.2, 70), EDGE_NOTHING); /* between the two: still closed */
	assert_int_equal(step(&e, 1, 80), EDGE_OPENED);
	assert_int_equal(e.opened_ns, 80 * NSEC_PER_SEC);
}

static void test_missing_value(void **state)
{
	(void)state;
	struct edge e = {0};
	assert_int_equal(step(&e, NAN, 0), EDGE_NOTHING);
	assert_false(e.open);
	step(&e, 1, 10);
	assert_int_equal(step(&e, NAN, 20), EDGE_NOTHING);
	assert_true(e.open);
	assert_int_equal(step(&e, 0, 30), EDGE_RESOLVED);
}

/* Every 10 s for 24 h: said at 1, 3, 7, 15, 31 min after the opening, doubling up to an hour, then once an hour. */
static void test_repeats_double(void **state)
{
	(void)state;
	static const int64_t wanted_min[] = {1, 3, 7, 15, 31, 63, 123, 183, 243};
	struct edge e = {0};
	size_t said = 0;
	uint64_t unsaid = 0;
	assert_int_equal(step(&e, 1, 0), EDGE_OPENED);
	for (int64_t s = 10; s <= 243 * 60; s += 10) {
		enum edge_action action = step(&e, 1, s);
		if (action == EDGE_NOTHING) {
			unsaid++;
			continue;
		}
		assert_int_equal(action, EDGE_REPEATED);
		assert_true(said < ARRAY_LEN(wanted_min));
		assert_int_equal(s, wanted_min[said] * 60);
		assert_int_equal(e.suppressed, unsaid);
		said++;
		unsaid = 0;
	}
	assert_int_equal(said, ARRAY_LEN(wanted_min));
}

static void test_suppressed_until_resolved(void **state)
{
	(void)state;
	struct edge e = {0};
	step(&e, 1, 0);
	assert_int_equal(e.suppressed, 0);
	for (int64_t s = 10; s <= 50; s += 10)
		assert_int_equal(step(&e, 1, s), EDGE_NOTHING);
	assert_int_equal(step(&e, 0, 60), EDGE_RESOLVED);
	assert_int_equal(e.suppressed, 5);
	/* the next one begins with nothing unsaid and with the first interval again */
	assert_int_equal(step(&e, 1, 70), EDGE_OPENED);
	assert_int_equal(e.suppressed, 0);
	assert_int_equal(step(&e, 1, 70 + 59), EDGE_NOTHING);
	assert_int_equal(step(&e, 1, 70 + 60), EDGE_REPEATED);
	assert_int_equal(e.suppressed, 1);
}

/* What a repeat has told is not told again at the end. */
static void test_resolved_after_a_repeat(void **state)
{
	(void)state;
	struct edge e = {0};
	step(&e, 1, 0);
	for (int64_t s = 10; s <= 50; s += 10)
		step(&e, 1, s);
	assert_int_equal(step(&e, 1, 60), EDGE_REPEATED);
	assert_int_equal(e.suppressed, 5);
	assert_int_equal(step(&e, 0, 70), EDGE_RESOLVED);
	assert_int_equal(e.suppressed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_hysteresis),
		cmocka_unit_test(test_missing_value),
		cmocka_unit_test(test_repeats_double),
		cmocka_unit_test(test_suppressed_until_resolved),
		cmocka_unit_test(test_resolved_after_a_repeat),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
