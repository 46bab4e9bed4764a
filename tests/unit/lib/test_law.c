/* The concurrency law and the fitted knee, on the figures of study 3. */
#include "tests/unit/check.h"

#include "law.h"

#include <math.h>

static void test_threads(void **state)
{
	(void)state;
	/* 7 ms CPU + 100 ms wait on 2 CPUs: 107 / 7 x 2 */
	assert_true(fabs(law_threads(7, 100, 2) - 30.571) < 0.001);
	assert_true(law_threads(84, 0, 2) > 1.999 && law_threads(84, 0, 2) < 2.001);
	assert_true(fabs(law_max_rate(84, 2) - 23.81) < 0.01);
	assert_true(isnan(law_threads(0, 1, 1)));
	assert_true(isnan(law_threads(1, -1, 1)));
	assert_true(isnan(law_threads(1, 1, 0)));
	assert_true(isnan(law_threads(NAN, 1, 1)));
	assert_true(isnan(law_max_rate(0, 1)));
}

static void test_pool(void **state)
{
	(void)state;
	/* 5 connections, each held 20 ms of a request of 100 ms */
	assert_true(fabs(law_threads_for_pool(5, 20, 100) - 25) < 1e-9);
	assert_true(isnan(law_threads_for_pool(5, 0, 100)));
	assert_true(isnan(law_threads_for_pool(5, 200, 100)));
}

static void test_knee_of_study_3(void **state)
{
	static const struct law_point case_1[] = {{2, 17.4},   {5, 43.7},   {10, 92},    {15, 137.5},
						  {20, 176.1}, {25, 212.3}, {30, 237.4}, {35, 238.4}};
	static const struct law_point case_2[] = {{1, 11.6}, {2, 22.4}, {3, 22.5}};
	(void)state;
	double knee = law_knee(case_1, ARRAY_LEN(case_1));
	assert_true(fabs(knee / law_threads(7, 100, 2) - 1) < 0.15);
	knee = law_knee(case_2, ARRAY_LEN(case_2));
	assert_true(fabs(knee / 2 - 1) < 0.15);
}

static void test_knee_of_ideal_curves(void **state)
{
	(void)state;
	for (double at = 2; at < 9; at += 0.5) {
		struct law_point p[12];
		for (int i = 0; i < 12; i++)
			p[i] = (struct law_point){i + 1, 10 * fmin(i + 1, at)};
		assert_true(fabs(law_knee(p, 12) - at) < 0.05 * at);
	}
	struct law_point two[] = {{1, 1}, {2, 2}};
	assert_true(isnan(law_knee(two, 2)));
	assert_true(isnan(law_knee(NULL, 0)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_threads),
		cmocka_unit_test(test_pool),
		cmocka_unit_test(test_knee_of_study_3),
		cmocka_unit_test(test_knee_of_ideal_curves),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
