/* The law for a service of one's own, in numbers and in words. */
#include "tests/unit/check.h"

#include "lab/concurrency.h"

#include <math.h>

static struct concurrency of(double cpu_ms, double wait_ms, double cpus, unsigned nproc)
{
	return (struct concurrency){.cpu_ms = cpu_ms,
				    .wait_ms = wait_ms,
				    .effective_cpus = cpus,
				    .nproc = nproc,
				    .source = "given",
				    .cpus_source = "given",
				    .response_ms = (double)NAN,
				    .requests = (double)NAN};
}

static void test_law(void **state)
{
	struct fault f = {0};
	struct concurrency c = of(7, 100, 0.5, 8);
	(void)state;
	assert_int_equal(concurrency_apply(&c, &f), 0);
	assert_true(fabs(c.threads_effective - 7.643) < 0.001);
	assert_true(fabs(c.threads_nproc - 122.286) < 0.001);
	assert_true(fabs(c.max_rate - 71.43) < 0.01);
}

static void test_what_the_law_does_not_allow(void **state)
{
	const struct concurrency wrong[] = {of(0, 5, 1, 1), of(NAN, 5, 1, 1), of(1, -1, 1, 1), of(1, 1, 0, 1),
					    of(1, 1, NAN, 1)};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct concurrency c = wrong[i];
		struct fault f = {0};
		assert_fault(concurrency_apply(&c, &f), &f, EINVAL);
	}
}

static void test_whole_threads(void **state)
{
	(void)state;
	assert_true(concurrency_whole(0.2) == 1);
	assert_true(concurrency_whole(2) == 2);
	assert_true(concurrency_whole(2 + 1e-9) == 2);
	assert_true(concurrency_whole(7.64) == 8);
}

static void test_sentence(void **state)
{
	static const struct {
		double cpus;
		unsigned nproc;
		const char *text;
	} cases[] = {
		{0.5, 8, "By nproc it would be 123: no request more"},
		{2, 2, "By nproc it would be the same number."},
		{4, 2, "By nproc it would be 31, and some of the limit would never be used."},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct concurrency c = of(7, 100, cases[i].cpus, cases[i].nproc);
		struct fault f = {0};
		char text[CONCURRENCY_TEXT_SIZE];
		assert_int_equal(concurrency_apply(&c, &f), 0);
		concurrency_sentence(&c, text);
		assert_case(strstr(text, cases[i].text), text);
	}
}

static void test_json(void **state)
{
	struct concurrency c = of(84, 0, 0.5, 2);
	struct fault f = {0};
	double threads;
	double response;
	(void)state;
	assert_int_equal(concurrency_apply(&c, &f), 0);
	CLEANUP_JSON json_value *o = concurrency_json(&c);
	assert_true(json_get_real(o, "law_threads", &threads) && fabs(threads - 0.5) < 1e-6);
	assert_true(json_get_real(o, "threads", &threads) && threads == 1);
	assert_false(json_get_real(o, "response_ms", &response));
	assert_non_null(json_get_text(o, "sentence"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_law),           cmocka_unit_test(test_what_the_law_does_not_allow),
		cmocka_unit_test(test_whole_threads), cmocka_unit_test(test_sentence),
		cmocka_unit_test(test_json),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
