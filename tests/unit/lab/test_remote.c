/* Probes that run elsewhere: how they are named, what a sidecar's report says about a run. */
#include "tests/unit/check.h"

#include "lab/remote.h"
#include "lab/remote_message.h"
#include "lab/remote_study2.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static void test_limits_by_name(void **state)
{
	(void)state;
	const struct {
		const char *name;
		bool is_one;
		double cpus;
	} cases[] = {
		{"0.25", true, 0.25}, {"250m", true, 0.25}, {"none", true, 0}, {"2", true, 2},     {"1500m", true, 1.5},
		{"", false, 0},       {"m", false, 0},      {"0", false, 0},   {"0m", false, 0},   {"-1", false, 0},
		{"0.25x", false, 0},  {"a", false, 0},      {"1e3", false, 0}, {"None", false, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		double cpus;
		assert_int_equal(remote_limit(cases[i].name, &cpus), cases[i].is_one);
		if (cases[i].is_one)
			assert_true(fabs(cpus - cases[i].cpus) < 1e-9);
	}
}

static void test_targets(void **state)
{
	(void)state;
	static const char *const wrong[] = {
		"",
		"0.25",
		"0.25=http://a/work",
		"=http://a/work,http://a/report",
		"0.25=a/work,http://a/report",
		"0.25=http://a/work,",
		"0.25=http:///work,http://a/report",
		"0.25=https://a/work,http://a/report",
		"0.25=http://a/wo rk,http://a/report",
	};
	struct fault f = {0};
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		struct remote r = REMOTE_NONE;
		assert_int_equal(remote_add(&r, wrong[i], &f), -EINVAL);
		assert_non_null(strstr(fault_text(&f), "--remote"));
		remote_close(&r);
	}
	struct remote r = REMOTE_NONE;
	assert_int_equal(remote_add(&r, "250m=http://a:8080/work,http://a:9464/report", &f), 0);
	assert_int_equal(remote_add(&r, "none=http://b/work?cpu_ms=4,http://b/report", &f), 0);
	assert_ptr_equal(remote_find(&r, 0.25), &r.targets[0]);
	assert_ptr_equal(remote_find(&r, LIMIT_NO_CPUS), &r.targets[1]);
	assert_null(remote_find(&r, 0.5));
	assert_string_equal(r.targets[0].report_url, "http://a:9464/report");
	/* by name first: several cases may have one limit */
	const struct workload named = {.name = "none"}, other = {.name = "even"};
	assert_ptr_equal(remote_of(&r, &(struct condition){.limit_cpus = 0.25, .load = &named}), &r.targets[1]);
	assert_ptr_equal(remote_of(&r, &(struct condition){.limit_cpus = 0.25, .load = &other}), &r.targets[0]);
	r.rounds = 7;
	char *url = remote_work_url(&r, &r.targets[0], 1);
	assert_string_equal(url, "http://a:8080/work?rounds=7");
	free(url);
	url = remote_work_url(&r, &r.targets[1], 3);
	assert_string_equal(url, "http://b/work?cpu_ms=4&rounds=21");
	free(url);
	remote_close(&r);
}

static int take(const char *text, struct reading *out, json_value **document, struct fault *f)
{
	*document = json_parse(text, strlen(text), NULL);
	return reading_take(*document, "probe", out, f);
}

static void test_a_reading(void **state)
{
	(void)state;
	struct reading r;
	struct fault f = {0};
	struct figures x;
	json_value *document;
	assert_int_equal(
		take("{\"token\": \"a-2\", \"mono_ns\": 123, \"containers\": [{\"container\": \"app\", \"container_id\": "
		     "\"abc\", \"readable\": true, \"quota_status\": \"limited\", \"quota_cpus\": 0.25, \"restarts\": 1, "
		     "\"demand\": {\"phase_ms\": 12.5, \"phase_width_ms\": 2}, \"window\": {\"duration_s\": 5.2, "
		     "\"cpu_cores_mean\": 0.1, \"nr_periods\": 50, \"nr_throttled\": 13, \"throttled_usec\": 600, "
		     "\"psi_cpu_some_usec\": null, \"psi_io_some_usec\": 0}}]}",
		     &r, &document, &f),
		0);
	assert_string_equal(r.token, "a-2");
	assert_string_equal(r.container, "app");
	assert_true(r.limit_known && r.have_phase);
	assert_true(fabs(r.limit_cpus - 0.25) < 1e-9);
	assert_int_equal(r.phase_ns, 12500000);
	assert_int_equal(r.restarts, 1);
	figures_init(&x);
	figures_take_window(&x, r.window, r.limit_cpus);
	assert_int_equal(x.nr_throttled, 13);
	assert_true(x.psi_cpu_some_usec == FIGURE_ABSENT);
	assert_int_equal(x.psi_io_some_usec, 0);
	assert_true(fabs(x.of_limit - 0.4) < 1e-9);
	json_release(document);
}

static void test_no_limit_no_window_no_phase(void **state)
{
	(void)state;
	struct reading r;
	struct fault f = {0};
	json_value *document;
	assert_int_equal(
		take("{\"token\": \"a-1\", \"mono_ns\": 1, \"containers\": [{\"container\": \"x\", \"readable\": "
		     "true, \"quota_status\": \"unlimited\", \"quota_cpus\": null, \"window\": null, \"demand\": "
		     "{\"phase_ms\": null, \"phase_width_ms\": null}}]}",
		     &r, &document, &f),
		0);
	assert_true(r.limit_known && !r.have_phase);
	assert_true(!(r.limit_cpus > 0));
	assert_null(r.window);
	json_release(document);
}

static void test_what_is_no_reading(void **state)
{
	(void)state;
	const struct {
		const char *text, *words;
		int rc;
	} cases[] = {
		{"not JSON", "no report", -EPROTO},
		{"{}", "no report", -EPROTO},
		{"{\"token\": \"a\", \"mono_ns\": 1, \"containers\": []}", "no container", -ENOENT},
		{"{\"token\": \"a\", \"mono_ns\": 1, \"containers\": [{\"container\": \"app\"}, {\"container\": \"db\"}]}",
		 "(app, db) and none is called probe", -ENOENT},
		{"{\"token\": \"a\", \"mono_ns\": 1, \"containers\": [{\"container\": \"db\"}, {\"container\": \"probe\", "
		 "\"readable\": false, \"error\": \"runs as 1\"}]}",
		 "cannot read the container probe: runs as 1", -ENODATA},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct reading r;
		struct fault f = {0};
		json_value *document;
		assert_int_equal(take(cases[i].text, &r, &document, &f), cases[i].rc);
		assert_non_null(strstr(fault_text(&f), cases[i].words));
		json_release(document);
	}
}

static void test_a_message_is_cut_behind_a_line(void **state)
{
	(void)state;
	char text[REMOTE_MESSAGE_MAX + 200] = "short\n";
	assert_int_equal(remote_message_cut(text), 6);
	memset(text, 'x', sizeof text);
	text[sizeof text - 1] = '\0';
	assert_int_equal(remote_message_cut(text), REMOTE_MESSAGE_MAX);
	memset(text, 'x', sizeof text);
	text[4000] = '\n';
	text[REMOTE_MESSAGE_MAX + 1] = '\n';
	text[sizeof text - 1] = '\0';
	assert_int_equal(remote_message_cut(text), 4001);
	assert_int_equal(strlen(text), 4001);
}

/* One case with one run, and what its sidecar said. */
static size_t differences_of(const char *name, const char *verdict, bool valid)
{
	char log[160];
	struct workload load = {.name = name};
	struct condition condition = {.load = &load};
	struct experiment_run run = {.plan.condition = condition,
				     .result = {.sidecar_log = log, .figures.valid = valid}};
	struct experiment e = {.conditions = &condition, .n_conditions = 1, .runs = &run, .n_runs = 1};
	const struct remote_study2 s = {.experiment = &e};
	snprintf(log, sizeof log, "{\"window\": {\"verdict\": \"%s\"}}", verdict);
	return study2_differences(&s, NULL);
}

static void test_verdicts_of_study_2(void **state)
{
	(void)state;
	assert_int_equal(differences_of("A", "own_code", true), 0);
	assert_int_equal(differences_of("B", "throttled", true), 0);
	assert_int_equal(differences_of("C", "contention", true), 0);
	assert_int_equal(differences_of("D", "io_wait", true), 0);
	assert_int_equal(differences_of("B", "own_code", true), 1);
	assert_int_equal(differences_of("my own", "anything", true), 0);
	/* without a valid run there is no verdict */
	assert_int_equal(differences_of("B", "throttled", false), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limits_by_name),      cmocka_unit_test(test_targets),
		cmocka_unit_test(test_a_reading),           cmocka_unit_test(test_no_limit_no_window_no_phase),
		cmocka_unit_test(test_what_is_no_reading),  cmocka_unit_test(test_a_message_is_cut_behind_a_line),
		cmocka_unit_test(test_verdicts_of_study_2),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
