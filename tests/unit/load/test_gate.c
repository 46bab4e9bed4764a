/* Conditions of --fail-on: what is understood, what is refused, when they trip. */
#include "tests/unit/check.h"

#include "load/gate.h"

static void test_well_formed(void **state)
{
	(void)state;
	static const char *const good[] = {
		"p99>50ms",
		"p99 > 50ms",
		"p50>=1us",
		"max<1s",
		"p99.9>1s",
		"p999>1s",
		"mean<=2ms",
		"failed>0",
		"failed>1%",
		"failed>0.1%",
		"rate<990/s",
		"lateness_p99>1ms",
		"service_p99>1s,failed>0",
		"blocked>0,timeouts>0, ok<10",
	};
	static const char *const bad[] = {
		"",         "p99",        "p99>",      "p99>50",    "p99=50ms",          "p98>50ms",
		">50ms",    "p99>50ms,",  ",p99>50ms", "p99>>50ms", "p99>-1ms",          "failed>1ms",
		"failed>%", "failed>1%%", "rate<fast", "rate<0",    "p99>50ms failed>0", "P99>50ms",
	};
	for (size_t i = 0; i < ARRAY_LEN(good); i++)
		assert_case(gate_check(good[i], NULL) == 0, good[i]);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct fault f = {0};
		assert_case(gate_check(bad[i], &f) < 0, bad[i]);
		assert_case(f.text[0] && !strchr(f.text, '\n'), bad[i]);
	}
}

/* 1,000 planned: answers after 1, 2, ... 990 ms, 10 failed. */
static void make_result(struct result *r)
{
	assert_int_equal(result_init(r, 1000, NULL), 0);
	r->planned = r->sent = 1000;
	r->ok = 990;
	r->failed = 10;
	r->duration_ns = 10 * NSEC_PER_SEC;
	for (int i = 1; i <= 990; i++)
		dist_add(&r->latency, i * NSEC_PER_MSEC);
	dist_seal(&r->latency);
}

static void test_when_it_trips(void **state)
{
	(void)state;
	static const struct {
		const char *conditions;
		bool trips;
	} cases[] = {
		{"p50>495ms", false},  {"p50>494ms", true},    {"p50>=495ms", true},      {"p50<495ms", false},
		{"p50<=495ms", true},  {"p99>981ms", false},   {"p99>980ms", true},       {"max>990ms", false},
		{"max>=990ms", true},  {"p99.9>990ms", false}, {"mean>495ms", true},      {"mean>495.5ms", false},
		{"failed>10", false},  {"failed>9", true},     {"failed>1%", false},      {"failed>0.9%", true},
		{"rate<100/s", false}, {"rate<101/s", true},   {"p50>1s,failed>9", true}, {"p50>1s,failed>10", false},
		{"blocked>0", false},  {"ok<991", true},
	};
	struct result r;
	char text[GATE_TEXT_SIZE];
	make_result(&r);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_case(gate_check(cases[i].conditions, NULL) == 0, cases[i].conditions);
		assert_case(gate_trips(cases[i].conditions, &r, text) == cases[i].trips, cases[i].conditions);
	}
	assert_true(gate_trips("p50>494ms", &r, text));
	assert_string_equal(text, "p50 is 495ms: >494ms");
	assert_true(gate_trips("failed>0.9%", &r, text));
	assert_string_equal(text, "failed is 1%: >0.9%");
	result_free(&r);
}

/* Without a sample nothing shows that a wish is met; a count of 0 is a count. */
static void test_nothing_measured(void **state)
{
	(void)state;
	struct result r;
	char text[GATE_TEXT_SIZE];
	assert_int_equal(result_init(&r, 0, NULL), 0);
	assert_true(gate_trips("p99>1h", &r, text));
	assert_non_null(strstr(text, "not measured"));
	assert_true(gate_trips("failed>1%", &r, text));
	assert_false(gate_trips("failed>0", &r, text));
	result_free(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_well_formed),
		cmocka_unit_test(test_when_it_trips),
		cmocka_unit_test(test_nothing_measured),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
