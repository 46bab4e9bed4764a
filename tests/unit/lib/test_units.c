/* What users type: numbers, durations, rates. */
#include "tests/unit/check.h"

#include "units.h"

#include <math.h>

static void test_u64(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} cases[] = {
		{"0", 0, 0},          {"7", 0, 7},         {"18446744073709551615", 0, UINT64_MAX},
		{"", -EINVAL, 0},     {" 1", -EINVAL, 0},  {"1 ", -EINVAL, 0},
		{"-1", -EINVAL, 0},   {"+1", -EINVAL, 0},  {"1.0", -EINVAL, 0},
		{"0x1", -EINVAL, 0},  {"1e3", -EINVAL, 0}, {"18446744073709551616", -ERANGE, 0},
		{"\xff", -EINVAL, 0}, {"1\n", -EINVAL, 0}, {"99999999999999999999999", -ERANGE, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fault f = {0};
		uint64_t value = 77;
		int rc = units_parse_u64(cases[i].text, &value, &f);
		assert_case(rc == cases[i].rc && f.err == -rc, cases[i].text);
		assert_case(value == (rc == 0 ? cases[i].value : 77), cases[i].text);
	}
}

static void test_decimal(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int rc;
		double value;
	} cases[] = {
		{"0", 0, 0},
		{"12", 0, 12},
		{"0.25", 0, 0.25},
		{"2.500000000", 0, 2.5},
		{"0.000000001", 0, 1e-9},
		{"999999999999999999", 0, 999999999999999999.0},
		{"1000000000000000000", -ERANGE, 0},
		{"0.0000000001", -ERANGE, 0},
		{"", -EINVAL, 0},
		{".", -EINVAL, 0},
		{".5", -EINVAL, 0},
		{"5.", -EINVAL, 0},
		{"1.2.3", -EINVAL, 0},
		{"-1", -EINVAL, 0},
		{"+1", -EINVAL, 0},
		{"1e3", -EINVAL, 0},
		{"nan", -EINVAL, 0},
		{"inf", -EINVAL, 0},
		{"1,5", -EINVAL, 0},
		{"1 ", -EINVAL, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fault f = {0};
		double value = 77;
		int rc = units_parse_decimal(cases[i].text, &value, &f);
		assert_case(rc == cases[i].rc && f.err == -rc, cases[i].text);
		assert_case(fabs(value - (rc == 0 ? cases[i].value : 77)) <= 1e-15 * (value > 1 ? value : 1),
			    cases[i].text);
	}
}

static void test_duration(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int rc;
		int64_t ns;
	} cases[] = {
		{"0", 0, 0},
		{"0.0", 0, 0},
		{"0s", 0, 0},
		{"100ns", 0, 100},
		{"200us", 0, 200000},
		{"50ms", 0, 50000000},
		{"1.5s", 0, 1500000000},
		{"0.001ms", 0, 1000},
		{"2m", 0, 120 * NSEC_PER_SEC},
		{"1h", 0, 3600 * NSEC_PER_SEC},
		{"1.5ns", 0, 1},
		{"10000h", 0, 36000000 * NSEC_PER_SEC},
		{"10000.000000001h", -ERANGE, 0},
		{"999999999999999999h", -ERANGE, 0},
		{"9999999999999999999h", -ERANGE, 0},
		{"1", -EINVAL, 0},
		{"10", -EINVAL, 0},
		{"1 s", -EINVAL, 0},
		{"1S", -EINVAL, 0},
		{"1sec", -EINVAL, 0},
		{"1s ", -EINVAL, 0},
		{"-1s", -EINVAL, 0},
		{"1e3s", -EINVAL, 0},
		{"s", -EINVAL, 0},
		{"", -EINVAL, 0},
		{"1m30s", -EINVAL, 0},
		{"1.0000000001s", -ERANGE, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fault f = {0};
		int64_t ns = 77;
		int rc = units_parse_duration_ns(cases[i].text, &ns, &f);
		assert_case(rc == cases[i].rc && f.err == -rc, cases[i].text);
		assert_case(ns == (rc == 0 ? cases[i].ns : 77), cases[i].text);
	}
}

static void test_rate(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		double per_second; /* 0: refused */
	} cases[] = {
		{"1000/s", 1000}, {"20", 20},   {"0.5/s", 0.5}, {"600/m", 10}, {"1/m", 1.0 / 60}, {"0", 0},
		{"0/s", 0},       {"-1/s", 0},  {"20/h", 0},    {"20/", 0},    {"/s", 0},         {"", 0},
		{"20 /s", 0},     {"20/s ", 0}, {"1e3/s", 0},   {"20rps", 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fault f = {0};
		double rate = 77;
		int rc = units_parse_rate(cases[i].text, &rate, &f);
		assert_case(rc == (cases[i].per_second > 0 ? 0 : -EINVAL) && f.err == -rc, cases[i].text);
		assert_case(fabs(rate - (rc == 0 ? cases[i].per_second : 77)) < 1e-9, cases[i].text);
	}
}

static void test_format(void **state)
{
	(void)state;
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{0, "0s"},
		{1, "1ns"},
		{999, "999ns"},
		{1000, "1us"},
		{35000, "35us"},
		{850000000, "850ms"},
		{NSEC_PER_SEC, "1s"},
		{1250000000, "1.25s"},
		{-1500000, "-1.5ms"},
		{123456789, "123.5ms"},
		{60 * NSEC_PER_SEC, "60s"},
		{9999 * NSEC_PER_SEC, "9999s"},
		{9999600 * NSEC_PER_MSEC, "10000s"},
		{86400 * NSEC_PER_SEC, "86400s"},
		{-36000000 * NSEC_PER_SEC, "-36000000s"},
	};
	char out[UNITS_TEXT_SIZE];
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		units_format_duration(cases[i].ns, out);
		assert_string_equal(out, cases[i].text);
	}
	units_format_duration(INT64_MAX, out);
	assert_true(strlen(out) < UNITS_TEXT_SIZE);
	units_format_duration(INT64_MIN, out);
	assert_int_equal(out[0], '-');
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_u64),  cmocka_unit_test(test_decimal), cmocka_unit_test(test_duration),
		cmocka_unit_test(test_rate), cmocka_unit_test(test_format),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
