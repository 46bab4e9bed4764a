/* Sets of CPUs as text. */
#include "tests/unit/check.h"

#include "cpulist.h"

static void test_good(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		unsigned count;
		unsigned member;
	} cases[] = {
		{"0\n", 1, 0},
		{"1", 1, 1},
		{"0-3,8,10-11\n", 7, 11},
		{"4-5\n", 2, 4},
		{"7-7", 1, 7},
		{"  0-1 \n", 2, 1},
		{"63-64\n", 2, 64},
		{"0,0,0-1,1\n", 2, 1}, /* a CPU named twice is one CPU */
		{"8191\n", 1, 8191},
		{"0-8191\n", 8192, 8000},
		{"007\n", 1, 7},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct cpulist l;
		memset(&l, 0xff, sizeof l);
		assert_case(cpulist_parse(cases[i].text, &l, NULL) == 0, cases[i].text);
		assert_case(cpulist_count(&l) == cases[i].count, cases[i].text);
		assert_case(l.bits[cases[i].member / 64] >> cases[i].member % 64 & 1, cases[i].text);
	}
}

static void test_empty(void **state)
{
	(void)state;
	static const char *const texts[] = {"", "\n", " \t\n"};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct cpulist l;
		memset(&l, 0xff, sizeof l);
		assert_int_equal(cpulist_parse(texts[i], &l, NULL), 0);
		assert_int_equal(cpulist_count(&l), 0);
	}
}

static void test_broken(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int err;
	} cases[] = {
		{"3-1\n", EINVAL},
		{"-1\n", EINVAL},
		{"0-\n", EINVAL},
		{"0-3-5\n", EINVAL},
		{"0,,1\n", EINVAL},
		{"0,\n", EINVAL},
		{",0\n", EINVAL},
		{"0-31:2/4\n", EINVAL},
		{"a\n", EINVAL},
		{"0 x\n", EINVAL},
		{"0\n1\n", EINVAL},
		{"0-3\r\n", EINVAL},
		{"0x3\n", EINVAL},
		{"0 1\n", EINVAL},
		{"max\n", EINVAL},
		{"\xff\n", EINVAL},
		{"8192\n", ERANGE},
		{"0-9999\n", ERANGE},
		{"99999999999999999999\n", ERANGE},
		{"0-18446744073709551616\n", ERANGE},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fault f = {0};
		struct cpulist l = {{42}};
		int rc = cpulist_parse(cases[i].text, &l, &f);
		assert_case(rc == -cases[i].err && f.err == cases[i].err, cases[i].text);
		assert_case(l.bits[0] == 42, cases[i].text);
	}
}

static void test_intersect(void **state)
{
	(void)state;
	struct cpulist a;
	struct cpulist b;
	assert_int_equal(cpulist_parse("0-5,70,100", &a, NULL), 0);
	assert_int_equal(cpulist_parse("4-80", &b, NULL), 0);
	cpulist_intersect(&a, &b);
	assert_int_equal(cpulist_count(&a), 3);
	assert_int_equal(cpulist_parse("200", &b, NULL), 0);
	cpulist_intersect(&a, &b);
	assert_int_equal(cpulist_count(&a), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_empty),
		cmocka_unit_test(test_broken),
		cmocka_unit_test(test_intersect),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
