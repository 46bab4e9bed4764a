/* What counts as another limit. */
#include "tests/unit/check.h"

#include "sidecar/events.h"

static struct limit set(size_t level, uint64_t quota_usec, uint64_t period_usec)
{
	return (struct limit){.status = LIMIT_SET, .level = level, .quota = {quota_usec, period_usec}};
}

static bool differs(struct limit a, struct limit b)
{
	bool d = event_limit_differs(&a, &b);
	assert_true(event_limit_differs(&b, &a) == d);
	return d;
}

static void test_limit_differs(void **state)
{
	(void)state;
	const struct limit none = {.status = LIMIT_NONE, .quota = {.quota_usec = QUOTA_NONE}};
	const struct limit unknown = {.status = LIMIT_UNKNOWN};
	assert_false(differs(none, none));
	assert_false(differs(unknown, unknown));
	assert_true(differs(none, unknown));
	assert_true(differs(none, set(0, 25000, 100000)));
	assert_false(differs(set(0, 25000, 100000), set(0, 25000, 100000)));
	assert_true(differs(set(0, 25000, 100000), set(0, 50000, 100000)));
	/* a resize by a single millicore */
	assert_true(differs(set(0, 25000, 100000), set(0, 25100, 100000)));
	assert_true(differs(set(0, 100000, 100000), set(0, 100100, 100000)));
	/* the same at another level: another one is to be asked for more */
	assert_true(differs(set(0, 25000, 100000), set(1, 25000, 100000)));
}

/* The kernel makes a period that is too short longer, and its quota with it. */
static void test_scaled_period(void **state)
{
	(void)state;
	assert_false(differs(set(0, 1000, 4000), set(0, 2000, 8000)));
	assert_false(differs(set(0, 25000, 100000), set(0, 50000, 200000)));
	/* kernels up to 5.4 (147 / 128 in ns): in us both are rounded down */
	assert_false(differs(set(0, 1000, 3000), set(0, 1148, 3445)));
	assert_false(differs(set(0, 2000, 1000), set(0, 2296, 1148)));
	/* another period and another ratio */
	assert_true(differs(set(0, 1000, 4000), set(0, 2000, 4000)));
	assert_true(differs(set(0, 1000, 4000), set(0, 4000, 8000)));
	assert_true(differs(set(0, 10000, 100000), set(0, 5050, 50000)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit_differs),
		cmocka_unit_test(test_scaled_period),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
