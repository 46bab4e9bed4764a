/* The parsers of the kernel's small text files: good, broken, duplicate, extra-field, overflowing and empty inputs. */
#include "tests/unit/check.h"

#include "kv.h"

#include <math.h>

static const char *const keys[] = {"usage_usec", "nr_periods", "nr_throttled"};

static int read_keys(const char *text, uint64_t values[3], uint32_t *have)
{
	struct fault f = {0};
	int rc = kv_read_keys(text, keys, ARRAY_LEN(keys), values, have, &f);
	if (rc < 0)
		assert_fault(rc, &f, -rc);
	return rc;
}

static void test_keys_good(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		uint32_t have;
		uint64_t values[3];
	} cases[] = {
		{"usage_usec 12\nnr_periods 3\nnr_throttled 0\n", 7, {12, 3, 0}},
		{"usage_usec 12\nnr_periods 3\nnr_throttled 0", 7, {12, 3, 0}},
		{"nr_throttled 5\nusage_usec 1\n", 5, {1, 0, 5}},
		{"", 0, {0}},
		{"\n\n\n", 0, {0}},
		{"nice_usec 9\ncore_sched.force_idle_usec 1\nusage_usec 4\n", 1, {4}},
		/* only whole keys count */
		{"usage_usec_more 12\nxusage_usec 3\nusage 4\nUSAGE_USEC 1\n", 0, {0}},
		/* whatever stands behind an unknown key is none of our business */
		{"wait_sum 99999999999999999999999\njunk\nmore junk -1 x\nusage_usec 7\n", 1, {7}},
		{"usage_usec\t12 \n", 1, {12}},
		{"usage_usec   0012   \t\n", 1, {12}},
		{"usage_usec 18446744073709551615\n", 1, {UINT64_MAX}},
		{"usage_usec 9007199254740993\n", 1, {9007199254740993u}},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t values[3] = {99, 99, 99};
		uint32_t have = 99;
		assert_case(read_keys(cases[i].text, values, &have) == 0, cases[i].text);
		assert_case(have == cases[i].have, cases[i].text);
		assert_case(memcmp(values, cases[i].values, sizeof values) == 0, cases[i].text);
	}
}

static void test_keys_broken(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int err;
	} cases[] = {
		{"usage_usec 1\nusage_usec 1\n", EINVAL}, /* a duplicate, even an equal one */
		{"usage_usec 1\nnr_periods 2\nusage_usec 3\n", EINVAL},
		{"usage_usec\n", EINVAL},
		{"usage_usec \n", EINVAL},
		{"usage_usec", EINVAL},
		{"usage_usec -1\n", EINVAL},
		{"usage_usec +1\n", EINVAL},
		{"usage_usec 0x10\n", EINVAL},
		{"usage_usec 1.5\n", EINVAL},
		{"usage_usec 1e3\n", EINVAL},
		{"usage_usec 12x\n", EINVAL},
		{"usage_usec 12 13\n", EINVAL},
		{"usage_usec 12 x\n", EINVAL},
		{"usage_usec 12 \xff\n", EINVAL},
		{"usage_usec 12 \x01\n", EINVAL},
		{"usage_usec 12\r\n", EINVAL},
		{"usage_usec max\n", EINVAL},
		{"usage_usec 18446744073709551616\n", ERANGE},
		{"usage_usec 99999999999999999999999999999999\n", ERANGE},
		{"nr_periods 1\nusage_usec \xff\n", EINVAL},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		uint64_t values[3] = {99, 99, 99};
		uint32_t have = 99;
		assert_case(read_keys(cases[i].text, values, &have) == -cases[i].err, cases[i].text);
		/* nothing is written unless all is well */
		assert_case(have == 99 && values[0] == 99 && values[1] == 99 && values[2] == 99, cases[i].text);
	}
}

static void test_keys_limits(void **state)
{
	(void)state;
	const char *many[33];
	uint64_t values[33] = {0};
	uint32_t have = 0;
	char names[33][8];
	char text[1024] = "";
	for (unsigned i = 0; i < 33; i++) {
		snprintf(names[i], sizeof names[i], "k%u", i);
		many[i] = names[i];
		if (i < 32)
			snprintf(text + strlen(text), sizeof text - strlen(text), "k%u %u\n", i, i + 100);
	}
	assert_int_equal(kv_read_keys(text, many, 32, values, &have, NULL), 0);
	assert_int_equal(have, UINT32_MAX);
	for (unsigned i = 0; i < 32; i++)
		assert_int_equal(values[i], i + 100);
	assert_int_equal(kv_read_keys(text, many, 33, values, &have, NULL), -EINVAL);
	assert_int_equal(kv_read_keys(text, many, 0, values, &have, NULL), 0);
	assert_int_equal(have, 0);
}

static void test_number(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int rc;
		uint64_t value;
	} cases[] = {
		{"0\n", 0, 0},
		{"12", 0, 12},
		{" 12 \n", 0, 12},
		{"12\n\n", 0, 12},
		{"18446744073709551615\n", 0, UINT64_MAX},
		{"", -ENODATA, 0},
		{"\n", -ENODATA, 0},
		{" \t\n", -ENODATA, 0},
		{"-1\n", -EINVAL, 0},
		{"12 13\n", -EINVAL, 0},
		{"12\n13\n", -EINVAL, 0},
		{"12\r\n", -EINVAL, 0},
		{"1e5", -EINVAL, 0},
		{"max", -EINVAL, 0},
		{"\x80", -EINVAL, 0},
		{"18446744073709551616", -ERANGE, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fault f = {0};
		uint64_t value = 77;
		int rc = kv_read_number(cases[i].text, &value, &f);
		assert_case(rc == cases[i].rc, cases[i].text);
		assert_case(value == (rc == 0 ? cases[i].value : 77), cases[i].text);
		assert_case(f.err == -rc, cases[i].text);
	}
}

static void test_cpu_max(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int rc;
		uint64_t quota, period;
	} cases[] = {
		{"max 100000\n", 0, QUOTA_NONE, 100000},
		{"25000 100000\n", 0, 25000, 100000},
		{"25000 100000", 0, 25000, 100000},
		{"  25000\t100000  \n", 0, 25000, 100000},
		{"150000 100000   \n\n", 0, 150000, 100000},
		{"max\n", 0, QUOTA_NONE, CPU_PERIOD_DEFAULT_USEC},
		{"200000\n", 0, 200000, CPU_PERIOD_DEFAULT_USEC},
		{"1000 1000000\n", 0, 1000, 1000000},
		{"5000000 2000000\n", 0, 5000000,
		 2000000}, /* a period above 1 s: no kernel writes it, the ratio is clear */
		{"", -ENODATA, 0, 0},
		{"\n", -ENODATA, 0, 0},
		{"   ", -ENODATA, 0, 0},
		{"0 100000\n", -EINVAL, 0, 0},
		{"100000 0\n", -EINVAL, 0, 0},
		{"0 0\n", -EINVAL, 0, 0},
		{"max 0\n", -EINVAL, 0, 0},
		{"-1 100000\n", -EINVAL, 0, 0},
		{"-100000 100000\n", -EINVAL, 0, 0},
		{"100000 -1\n", -EINVAL, 0, 0},
		{"1e5 100000\n", -EINVAL, 0, 0},
		{"100000 1e5\n", -EINVAL, 0, 0},
		{"1.5 100000\n", -EINVAL, 0, 0},
		{"maximum 100000\n", -EINVAL, 0, 0},
		{"MAX 100000\n", -EINVAL, 0, 0},
		{"max max\n", -EINVAL, 0, 0},
		{"100000 max\n", -EINVAL, 0, 0},
		{"100000 100000 7\n", -EINVAL, 0, 0},
		{"100000 100000 x\n", -EINVAL, 0, 0},
		{"100000 100000\njunk\n", -EINVAL, 0, 0},
		{"100000\r\n", -EINVAL, 0, 0},
		{"nan 100000\n", -EINVAL, 0, 0},
		{"inf\n", -EINVAL, 0, 0},
		{"0x186a0 100000\n", -EINVAL, 0, 0},
		{"\xff\xfe\n", -EINVAL, 0, 0},
		{"18446744073709551616 100000\n", -ERANGE, 0, 0},
		{"100000 18446744073709551616\n", -ERANGE, 0, 0},
		/* 2^64 - 1 is how "no limit" is kept here: as text it is a number that cannot be */
		{"18446744073709551615 100000\n", -ERANGE, 0, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fault f = {0};
		struct cpu_quota q = {77, 77};
		int rc = kv_read_cpu_max(cases[i].text, &q, &f);
		assert_case(rc == cases[i].rc, cases[i].text);
		assert_case(q.quota_usec == (rc == 0 ? cases[i].quota : 77), cases[i].text);
		assert_case(q.period_usec == (rc == 0 ? cases[i].period : 77), cases[i].text);
		assert_case(f.err == -rc, cases[i].text);
	}
}

static void test_cfs_quota(void **state)
{
	(void)state;
	static const struct {
		const char *quota, *period;
		int rc;
		uint64_t quota_usec, period_usec;
	} cases[] = {
		{"-1\n", "100000\n", 0, QUOTA_NONE, 100000},
		{"-1", "100000", 0, QUOTA_NONE, 100000},
		{" -1 \n", "100000\n", 0, QUOTA_NONE, 100000},
		{"50000\n", "100000\n", 0, 50000, 100000},
		{"-1\n", "0\n", -EINVAL, 0, 0},
		{"0\n", "100000\n", -EINVAL, 0, 0},
		{"0\n", "0\n", -EINVAL, 0, 0},
		{"-2\n", "100000\n", -EINVAL, 0, 0},
		{"-10\n", "100000\n", -EINVAL, 0, 0},
		{"--1\n", "100000\n", -EINVAL, 0, 0},
		{"-1 2\n", "100000\n", -EINVAL, 0, 0},
		{"50000\n", "-1\n", -EINVAL, 0, 0},
		{"50000\n", "\n", -ENODATA, 0, 0},
		{"\n", "100000\n", -ENODATA, 0, 0},
		{"max\n", "100000\n", -EINVAL, 0, 0},
		{"18446744073709551615\n", "100000\n", -ERANGE, 0, 0},
		{"99999999999999999999\n", "100000\n", -ERANGE, 0, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fault f = {0};
		struct cpu_quota q = {77, 77};
		int rc = kv_read_cfs_quota(cases[i].quota, cases[i].period, &q, &f);
		assert_case(rc == cases[i].rc, cases[i].quota);
		assert_case(q.quota_usec == (rc == 0 ? cases[i].quota_usec : 77), cases[i].quota);
		assert_case(q.period_usec == (rc == 0 ? cases[i].period_usec : 77), cases[i].quota);
		assert_case(f.err == -rc, cases[i].quota);
	}
}

static void test_quota_compare(void **state)
{
	(void)state;
	const struct cpu_quota half = {50000, 100000};
	const struct cpu_quota half_too = {500, 1000};
	const struct cpu_quota third = {100000, 300000};
	const struct cpu_quota nearly_third = {33333, 100000};
	const struct cpu_quota none = {QUOTA_NONE, 100000};
	const struct cpu_quota huge = {QUOTA_NONE - 1, QUOTA_NONE - 1};
	assert_true(cpu_quota_is_below(&third, &half));
	assert_false(cpu_quota_is_below(&half, &third));
	assert_false(cpu_quota_is_below(&half, &half_too));
	assert_false(cpu_quota_is_below(&half_too, &half));
	assert_true(cpu_quota_is_below(&nearly_third, &third));
	assert_true(cpu_quota_is_below(&half, &none));
	assert_false(cpu_quota_is_below(&none, &half));
	assert_false(cpu_quota_is_below(&none, &none));
	/* products of 128 bits */
	assert_true(cpu_quota_is_below(&half, &huge));
	assert_false(cpu_quota_is_below(&huge, &half));
	assert_true(fabs(cpu_quota_cpus(&half) - 0.5) < 1e-12);
	assert_true(fabs(cpu_quota_cpus(&third) - 1.0 / 3) < 1e-12);
}

static const char psi_both[] = "some avg10=1.50 avg60=0.25 avg300=100.00 total=123456789\n"
			       "full avg10=0.00 avg60=0.00 avg300=0.01 total=5\n";

static void test_psi_good(void **state)
{
	(void)state;
	struct psi p;
	assert_int_equal(kv_read_psi(psi_both, &p, NULL), 0);
	assert_true(p.has_full);
	assert_true(fabs(p.some.avg10 - 1.5) < 1e-9);
	assert_true(fabs(p.some.avg60 - 0.25) < 1e-9);
	assert_true(fabs(p.some.avg300 - 100) < 1e-9);
	assert_int_equal(p.some.total_usec, 123456789);
	assert_true(fabs(p.full.avg300 - 0.01) < 1e-9);
	assert_int_equal(p.full.total_usec, 5);

	/* before 5.13 cpu.pressure has one line */
	assert_int_equal(kv_read_psi("some avg10=0.00 avg60=0.00 avg300=0.00 total=7\n", &p, NULL), 0);
	assert_false(p.has_full);
	assert_int_equal(p.some.total_usec, 7);

	/* new fields, new lines, another order, no newline at the end */
	assert_int_equal(kv_read_psi("irq x\nfull total=2 avg10=0.00 avg60=0.00 avg300=0.00 max=9\n"
				     "some avg5=3 avg10=0 avg60=0.00 avg300=0.00 total=18446744073709551615",
				     &p, NULL),
			 0);
	assert_true(p.has_full);
	assert_true(p.some.total_usec == UINT64_MAX);
	assert_int_equal(p.full.total_usec, 2);
}

static void test_psi_broken(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int err;
	} cases[] = {
		{"", ENODATA},
		{"\n", ENODATA},
		{"full avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", ENODATA},
		{"sometimes avg10=0.00 avg60=0.00 avg300=0.00 total=0\n", ENODATA},
		{"some\n", EINVAL},
		{"some avg10=0.00 avg60=0.00 avg300=0.00\n", EINVAL},
		{"some avg10=0.00 avg60=0.00 total=1\n", EINVAL},
		{"some avg10=0.00 avg10=0.00 avg60=0.00 avg300=0.00 total=1\n", EINVAL},
		{"some avg10=0.00 avg60=0.00 avg300=0.00 total=1 total=1\n", EINVAL},
		{"some avg10=-0.10 avg60=0.00 avg300=0.00 total=1\n", EINVAL},
		{"some avg10=nan avg60=0.00 avg300=0.00 total=1\n", EINVAL},
		{"some avg10=inf avg60=0.00 avg300=0.00 total=1\n", EINVAL},
		{"some avg10=1e2 avg60=0.00 avg300=0.00 total=1\n", EINVAL},
		{"some avg10=1,5 avg60=0.00 avg300=0.00 total=1\n", EINVAL},
		{"some avg10=.5 avg60=0.00 avg300=0.00 total=1\n", EINVAL},
		{"some avg10= avg60=0.00 avg300=0.00 total=1\n", EINVAL},
		{"some avg10=0.00 avg60=0.00 avg300=0.00 total=\n", EINVAL},
		{"some avg10=0.00 avg60=0.00 avg300=0.00 total=-5\n", EINVAL},
		{"some avg10=0.00 avg60=0.00 avg300=0.00 total=5.5\n", EINVAL},
		{"some avg10=0.00 avg60=0.00 avg300=0.00 total=5\r\n", EINVAL},
		{"some avg10=0.00 avg60=0.00 avg300=0.00 total=18446744073709551616\n", ERANGE},
		{"some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nsome avg10=0.00 avg60=0.00 avg300=0.00 total=1\n",
		 EINVAL},
		{"some avg10=0.00 avg60=0.00 avg300=0.00 total=1\nfull avg10=x\n", EINVAL},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fault f = {0};
		struct psi p = {.some = {.total_usec = 77}};
		int rc = kv_read_psi(cases[i].text, &p, &f);
		assert_case(rc == -cases[i].err && f.err == cases[i].err, cases[i].text);
		assert_case(p.some.total_usec == 77, cases[i].text);
	}
}

/* Thousands of digits: out of range, never an infinity. */
static void test_psi_long_number(void **state)
{
	(void)state;
	char text[4096];
	struct psi p;
	int n = snprintf(text, sizeof text, "some avg10=");
	memset(text + n, '9', 1000);
	snprintf(text + n + 1000, sizeof text - (size_t)n - 1000, ".00 avg60=0.00 avg300=0.00 total=1\n");
	int rc = kv_read_psi(text, &p, NULL);
	assert_true(rc == -ERANGE || rc == -EINVAL);
}

static void test_status_field(void **state)
{
	(void)state;
	static const char status[] = "Name:\tCpus_allowed_list:\\n\nUmask:\t0022\nUid:\t1000\t1000\t1000\t1000\n"
				     "Cpus_allowed:\tff\nCpus_allowed_list:\t0-3,8  \nempty:\nlast:\tx";
	char out[16];
	struct fault f = {0};
	assert_int_equal(kv_status_field(status, "Cpus_allowed_list", out, sizeof out, NULL), 0);
	assert_string_equal(out, "0-3,8");
	assert_int_equal(kv_status_field(status, "Cpus_allowed", out, sizeof out, NULL), 0);
	assert_string_equal(out, "ff");
	assert_int_equal(kv_status_field(status, "empty", out, sizeof out, NULL), 0);
	assert_string_equal(out, "");
	assert_int_equal(kv_status_field(status, "last", out, sizeof out, NULL), 0);
	assert_string_equal(out, "x");
	assert_fault(kv_status_field(status, "Cpus", out, sizeof out, &f), &f, ENODATA);
	assert_fault(kv_status_field("", "Uid", out, sizeof out, &f), &f, ENODATA);
	assert_string_equal(out, "x");
	/* a value that fits exactly, and one that does not */
	assert_int_equal(kv_status_field("K:\t123\n", "K", out, 4, NULL), 0);
	assert_string_equal(out, "123");
	assert_fault(kv_status_field("K:\t1234\n", "K", out, 4, &f), &f, ERANGE);
	assert_string_equal(out, "123");
}

static void test_schedstat(void **state)
{
	(void)state;
	struct schedstat s = {77, 77, 77};
	struct fault f = {0};
	static const char *const broken[] = {"", "\n", "1 2\n", "1 -2 3\n", "1 2 x\n", "1.0 2 3\n", "x 1 2\n"};
	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		assert_case(kv_read_schedstat(broken[i], &s, &f) == -EINVAL, broken[i]);
		assert_case(s.run_ns == 77 && s.slices == 77, broken[i]);
	}
	assert_int_equal(kv_read_schedstat("1 2 18446744073709551616\n", &s, &f), -ERANGE);
	assert_int_equal(kv_read_schedstat("1561000000 3570000000 42\n", &s, &f), 0);
	assert_int_equal(s.run_ns, 1561000000);
	assert_int_equal(s.wait_ns, 3570000000);
	assert_int_equal(s.slices, 42);
	/* a field more, as a later kernel might */
	assert_int_equal(kv_read_schedstat("1 2 3 4\n", &s, &f), 0);
}

static void test_cpu_ticks(void **state)
{
	(void)state;
	struct cpu_ticks t = {.total = 77};
	struct fault f = {0};
	assert_int_equal(kv_read_cpu_ticks("cpu  1 2 3 4 5 6 7 8 9 10\ncpu0 1 2 3\n", &t, &f), 0);
	assert_int_equal(t.total, 36); /* guest and guest_nice are part of user and nice */
	assert_int_equal(t.idle, 4);
	assert_int_equal(t.iowait, 5);
	assert_int_equal(t.steal, 8);
	assert_int_equal(kv_read_cpu_ticks("cpu 1 2 3 4\n", &t, &f), 0);
	assert_int_equal(t.total, 10);
	assert_int_equal(t.steal, 0);
	assert_int_equal(kv_read_cpu_ticks("cpu 1 2 3 4", &t, &f), 0);
	static const char *const broken[] = {"",
					     "cpu0 1 2 3 4\n",
					     "cpu\n",
					     "cpu 1 2 3\n",
					     "cpu 1 2 3 x\n",
					     "intr 1\ncpu 1 2 3 4\n",
					     "cpu 1 2 3 4 5 -6\n"};
	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		t.total = 77;
		assert_case(kv_read_cpu_ticks(broken[i], &t, &f) == -EINVAL, broken[i]);
		assert_case(t.total == 77, broken[i]);
	}
	assert_int_equal(kv_read_cpu_ticks("cpu 18446744073709551616 2 3 4\n", &t, &f), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys_good),     cmocka_unit_test(test_keys_broken),
		cmocka_unit_test(test_keys_limits),   cmocka_unit_test(test_number),
		cmocka_unit_test(test_cpu_max),       cmocka_unit_test(test_cfs_quota),
		cmocka_unit_test(test_quota_compare), cmocka_unit_test(test_psi_good),
		cmocka_unit_test(test_psi_broken),    cmocka_unit_test(test_psi_long_number),
		cmocka_unit_test(test_status_field),  cmocka_unit_test(test_schedstat),
		cmocka_unit_test(test_cpu_ticks),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
