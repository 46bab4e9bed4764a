/* The query of /work: what is taken, what is refused and with which sentence. */
#include "tests/unit/check.h"

#include "probe-app/query.h"

#include <errno.h>

static const struct unit defaults = {.rounds = 40000, .wait_ns = 5000000, .disk_kb = 3, .pool = UNIT_NO_POOL};
static const struct pool_spec pools[] = {{"db", 5, 20000000}, {"cache", 2, 1000000}};
static const struct query_context context = {
	.defaults = &defaults, .rounds_per_ms = 10000, .pools = pools, .pool_count = ARRAY_LEN(pools)};

static int take(struct query *q, const char *key, const char *value, struct fault *f)
{
	return query_take(q, key, strlen(key), value, value ? strlen(value) : 0, f);
}

static void nothing_given_means_the_defaults(void **state)
{
	struct query q;
	(void)state;
	query_begin(&q, &context);
	assert_memory_equal(&q.unit, &defaults, sizeof defaults);
}

static void every_parameter_changes_its_own_part(void **state)
{
	struct query q;
	(void)state;
	query_begin(&q, &context);
	assert_int_equal(take(&q, "cpu_ms", "2.5", NULL), 0);
	assert_int_equal(take(&q, "wait_ms", "0.25", NULL), 0);
	assert_int_equal(take(&q, "disk_kb", "0", NULL), 0);
	assert_int_equal(take(&q, "pool", "cache", NULL), 0);
	assert_int_equal(q.unit.rounds, 25000);
	assert_int_equal(q.unit.wait_ns, 250000);
	assert_int_equal(q.unit.disk_kb, 0);
	assert_int_equal(q.unit.pool, 1);
	query_begin(&q, &context);
	assert_int_equal(take(&q, "rounds", "7", NULL), 0);
	assert_int_equal(q.unit.rounds, 7);
	assert_int_equal(q.unit.wait_ns, defaults.wait_ns);
}

static void wrong_values_are_refused(void **state)
{
	static const struct {
		const char *key, *value, *sentence;
	} cases[] = {
		{"cpu_ms", "", "cpu_ms needs a value"},
		{"cpu_ms", NULL, "cpu_ms needs a value"},
		{"cpu_ms", "-1", "cpu_ms: '-1' is not a number"},
		{"cpu_ms", "4ms", "cpu_ms: '4ms' is not a number"},
		{"cpu_ms", "1e3", "cpu_ms: '1e3' is not a number"},
		{"cpu_ms", "nan", "cpu_ms: 'nan' is not a number"},
		{"cpu_ms", "60000.1", "cpu_ms: 60000.1 is out of range: 0 to 60000"},
		{"rounds", "1000000000001", "rounds: 1000000000001 is out of range"},
		{"rounds", "1.5", "rounds: "},
		{"wait_ms", "600001", "wait_ms: 600001 is out of range"},
		{"disk_kb", "1048577", "disk_kb: 1048577 is out of range"},
		{"disk_kb", "99999999999999999999999", "disk_kb: "},
		{"pool", "DB", "pool: there is no pool 'DB'"},
		{"cpu-ms", "4", "unknown parameter 'cpu-ms'"},
		{"CPU_MS", "4", "unknown parameter 'CPU_MS'"},
		{"", "4", "unknown parameter ''"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct query q;
		struct fault f = {0};
		query_begin(&q, &context);
		assert_int_equal(take(&q, cases[i].key, cases[i].value, &f), -EINVAL);
		if (strncmp(fault_text(&f), cases[i].sentence, strlen(cases[i].sentence)) != 0)
			fail_msg("case %zu: \"%s\" does not begin with \"%s\"", i, fault_text(&f), cases[i].sentence);
	}
}

static void the_bounds_themselves_are_taken(void **state)
{
	struct query q;
	(void)state;
	query_begin(&q, &context);
	assert_int_equal(take(&q, "cpu_ms", "60000", NULL), 0);
	assert_int_equal(take(&q, "wait_ms", "600000", NULL), 0);
	assert_int_equal(take(&q, "disk_kb", "1048576", NULL), 0);
	assert_int_equal(q.unit.rounds, 600000000);
	assert_int_equal(q.unit.wait_ns, INT64_C(600000000000));
}

static void twice_and_both_are_refused(void **state)
{
	struct query q;
	struct fault f = {0};
	(void)state;
	query_begin(&q, &context);
	assert_int_equal(take(&q, "wait_ms", "1", &f), 0);
	assert_int_equal(take(&q, "wait_ms", "1", &f), -EINVAL);
	assert_string_equal(fault_text(&f), "wait_ms is given twice");
	query_begin(&q, &context);
	assert_int_equal(take(&q, "rounds", "1", &f), 0);
	assert_int_equal(take(&q, "cpu_ms", "1", &f), -EINVAL);
	assert_string_equal(fault_text(&f), "cpu_ms and rounds exclude each other");
}

static void zero_bytes_and_long_values_are_refused(void **state)
{
	char long_value[100];
	struct query q;
	struct fault f = {0};
	(void)state;
	memset(long_value, '1', sizeof long_value);
	query_begin(&q, &context);
	assert_int_equal(query_take(&q, "rounds", 6, "1\0002", 3, &f), -EINVAL);
	query_begin(&q, &context);
	assert_int_equal(query_take(&q, "rounds", 6, long_value, sizeof long_value, &f), -EINVAL);
}

static void without_calibration_cpu_ms_must_be_zero(void **state)
{
	struct query_context uncalibrated = context;
	struct query q;
	struct fault f = {0};
	(void)state;
	uncalibrated.rounds_per_ms = 0;
	query_begin(&q, &uncalibrated);
	assert_int_equal(take(&q, "cpu_ms", "0", &f), 0);
	assert_int_equal(q.unit.rounds, 0);
	query_begin(&q, &uncalibrated);
	assert_int_equal(take(&q, "cpu_ms", "1", &f), -EINVAL);
	assert_non_null(strstr(fault_text(&f), "give rounds="));
}

static void milliseconds_become_rounds(void **state)
{
	(void)state;
	assert_int_equal(query_rounds(4, 12000.4), 48002);
	assert_int_equal(query_rounds(0, 12000), 0);
	assert_int_equal(query_rounds(0.00001, 12000), 1);
	assert_int_equal(query_rounds(60000, 1e12), QUERY_ROUNDS_MAX);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(nothing_given_means_the_defaults),
		cmocka_unit_test(every_parameter_changes_its_own_part),
		cmocka_unit_test(wrong_values_are_refused),
		cmocka_unit_test(the_bounds_themselves_are_taken),
		cmocka_unit_test(twice_and_both_are_refused),
		cmocka_unit_test(zero_bytes_and_long_values_are_refused),
		cmocka_unit_test(without_calibration_cpu_ms_must_be_zero),
		cmocka_unit_test(milliseconds_become_rounds),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
