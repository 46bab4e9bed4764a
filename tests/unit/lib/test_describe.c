/* Figures as JSON fields, and in words: what is not there is null. */
#include "tests/unit/check.h"

#include "describe.h"
#include "mismatch.h"

#include <math.h>

static const char *text_of(json_value *o)
{
	static char *text;
	free(text);
	text = json_text(o, NULL);
	assert_non_null(text);
	return text;
}

static struct limit_view view_of(uint64_t quota_usec)
{
	return (struct limit_view){
		.limit = {.status = LIMIT_SET, .level = 1, .quota = {quota_usec, 100000}},
		.binding_cgroup = "/pod",
		.ancestors_hidden_known = true,
		.ancestors_hidden = true,
		.cpus = {.have_online = true, .online = 8, .have_nproc = true, .nproc = 4},
	};
}

static void test_limit(void **state)
{
	(void)state;
	struct limit_view v = view_of(50000);
	CLEANUP_JSON json_value *o = json_new_object();
	describe_limit(o, &v);
	assert_string_equal(text_of(o),
			    "{\"quota_status\": \"limited\", \"quota_cpus\": 0.5, \"quota_usec\": 50000, "
			    "\"period_usec\": 100000, \"binding_cgroup\": \"/pod\", \"ancestors_hidden\": true, "
			    "\"cpuset_cpus\": null, \"online_cpus\": 8, \"nproc\": 4, \"effective_cpus\": 0.5, "
			    "\"mismatch\": true}");
	v.limit = (struct limit){.status = LIMIT_NONE};
	v.binding_cgroup = NULL;
	v.ancestors_hidden_known = false;
	describe_limit(o, &v);
	assert_string_equal(text_of(o),
			    "{\"quota_status\": \"unlimited\", \"quota_cpus\": null, \"quota_usec\": null, "
			    "\"period_usec\": null, \"binding_cgroup\": null, \"ancestors_hidden\": null, "
			    "\"cpuset_cpus\": null, \"online_cpus\": 8, \"nproc\": 4, \"effective_cpus\": 4.0, "
			    "\"mismatch\": false}");
	v.limit.status = LIMIT_UNKNOWN;
	v.cpus.have_nproc = false;
	describe_limit(o, &v);
	assert_string_equal(json_get_text(o, "quota_status"), "unknown");
	assert_false(json_get_real(o, "effective_cpus", &(double){0}));
	assert_false(json_get_bool(o, "mismatch", &(bool){false}));
}

static void test_limit_view(void **state)
{
	(void)state;
	const struct cpu_counts cpus = {.have_nproc = true, .nproc = 2};
	struct reader r = {.n_levels = 2, .ancestors_hidden_known = true};
	struct snapshot s = {.n_levels = 2};
	r.levels[0].name = (char *)(uintptr_t) "/a/b";
	r.levels[1].name = (char *)(uintptr_t) "/a";
	s.levels[1] = (struct level_figures){.state = QUOTA_READ, .quota = {30000, 100000}};
	struct limit_view v = limit_view_of(&r, &s, &cpus);
	assert_int_equal(v.limit.level, 1);
	assert_string_equal(v.binding_cgroup, "/a");
	assert_true(v.ancestors_hidden_known);
	assert_int_equal(v.cpus.nproc, 2);
	s.levels[1].state = QUOTA_NO_FILE;
	assert_null(limit_view_of(&r, &s, &cpus).binding_cgroup);
}

#define HAVE(c) (1U << (c))

static void test_window(void **state)
{
	(void)state;
	const struct limit limit = {.status = LIMIT_SET, .quota = {50000, 100000}};
	struct window w = {.duration_ns = 2 * NSEC_PER_SEC, .n_levels = 2};
	w.levels[0].delta.have =
		HAVE(COUNTER_USAGE) | HAVE(COUNTER_NR_PERIODS) | HAVE(COUNTER_NR_THROTTLED) | HAVE(COUNTER_THROTTLED);
	w.levels[0].delta.value[COUNTER_USAGE] = 500000;
	w.levels[0].delta.value[COUNTER_NR_PERIODS] = 20;
	w.levels[0].delta.value[COUNTER_NR_THROTTLED] = 5;
	w.levels[0].delta.value[COUNTER_THROTTLED] = 300000;
	w.levels[1].delta.have = HAVE(COUNTER_NR_THROTTLED) | HAVE(COUNTER_THROTTLED);
	w.levels[1].delta.value[COUNTER_NR_THROTTLED] = 3;
	w.levels[1].delta.value[COUNTER_THROTTLED] = 7;
	w.have_psi[PSI_CPU] = w.have_psi_full[PSI_CPU] = true;
	w.psi_some_usec[PSI_CPU] = 11;
	w.psi_full_usec[PSI_CPU] = 12;
	CLEANUP_JSON json_value *o = json_new_object();
	describe_window(o, &w, &limit);
	assert_string_equal(text_of(o),
			    "{\"restarted\": false, \"duration_s\": 2.0, \"usage_usec\": 500000, "
			    "\"cpu_cores_mean\": 0.25, \"of_limit\": 0.5, \"nr_periods\": 20, \"nr_throttled\": 5, "
			    "\"throttled_usec\": 300000, \"throttled_share_of_periods\": 0.25, "
			    "\"throttled_periods_per_s\": 2.5, \"stop_ms_per_throttled_period\": 60.0, "
			    "\"nr_throttled_above\": 3, \"throttled_usec_above\": 7, "
			    "\"local_throttled_usec\": null, \"psi_cpu_some_usec\": 11, \"psi_cpu_full_usec\": 12, "
			    "\"psi_io_some_usec\": null, \"psi_memory_some_usec\": null}");
}

static void test_window_without_figures(void **state)
{
	(void)state;
	const struct limit none = {.status = LIMIT_NONE};
	struct window w = {.duration_ns = NSEC_PER_SEC, .n_levels = 1};
	double real;
	CLEANUP_JSON json_value *o = json_new_object();
	describe_window(o, &w, &none);
	static const char *const keys[] = {"usage_usec",
					   "cpu_cores_mean",
					   "of_limit",
					   "nr_throttled",
					   "throttled_usec",
					   "throttled_share_of_periods",
					   "throttled_periods_per_s",
					   "stop_ms_per_throttled_period",
					   "nr_throttled_above",
					   "psi_cpu_some_usec"};
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		assert_case(json_get(o, keys[i]), keys[i]);
		assert_case(!json_get_real(o, keys[i], &real), keys[i]);
	}
	/* no throttled period: how long one took cannot be told */
	w.levels[0].delta.have = HAVE(COUNTER_NR_PERIODS) | HAVE(COUNTER_NR_THROTTLED) | HAVE(COUNTER_THROTTLED);
	w.levels[0].delta.value[COUNTER_NR_PERIODS] = 10;
	describe_window(o, &w, &none);
	assert_true(json_get_real(o, "throttled_share_of_periods", &real) && real == 0);
	assert_false(json_get_real(o, "stop_ms_per_throttled_period", &real));
	/* another cgroup: nothing is said about it */
	CLEANUP_JSON json_value *restarted = json_new_object();
	w.restarted = true;
	describe_window(restarted, &w, &none);
	assert_string_equal(text_of(restarted), "{\"restarted\": true, \"duration_s\": 1.0}");
}

static void test_verdict(void **state)
{
	(void)state;
	struct verdict v;
	const struct verdict_input in = {.unreadable = "the reason", .nproc = NAN};
	verdict_judge(&in, &verdict_default_thresholds, &v);
	CLEANUP_JSON json_value *o = json_new_object();
	describe_verdict(o, &v);
	assert_string_equal(json_get_text(o, "verdict"), cause_id(v.cause));
	assert_non_null(json_get_text(o, "verdict_sentence"));
	assert_null(json_get(o, "contention_by"));
	v.cause = CAUSE_CONTENTION;
	describe_verdict(o, &v);
	assert_non_null(json_get_text(o, "contention_by"));
	v.n_evidence = 2;
	v.evidence[0] = (struct evidence){"a_share", 0.5, 0.25, true};
	v.evidence[1] = (struct evidence){"b_ms", NAN, NAN, false};
	CLEANUP_JSON json_value *list = describe_evidence(&v);
	assert_string_equal(text_of(list),
			    "[{\"name\": \"a_share\", \"value\": 0.5, \"threshold\": 0.25, \"holds\": true}, "
			    "{\"name\": \"b_ms\", \"value\": null, \"threshold\": null, \"holds\": null}]");
}

static void test_mismatch_in_words(void **state)
{
	(void)state;
	struct mismatch m;
	struct limit_view v = view_of(50000);
	mismatch_judge("app", &v, &m);
	assert_int_equal(m.kind, MISMATCH_QUOTA);
	assert_memory_equal(m.sentence, "app sees 4 CPUs but may use 0.5:", 32);
	assert_non_null(strstr(m.sentence, "starts 8 threads"));
	assert_non_null(strstr(m.sentence, "cgroup above"));
	v.limit.level = 0;
	mismatch_judge("app", &v, &m);
	assert_null(strstr(m.sentence, "cgroup above"));
	/* as much as nproc, or more */
	v = view_of(400000);
	mismatch_judge("app", &v, &m);
	assert_int_equal(m.kind, MISMATCH_NONE);
	assert_string_equal(m.sentence, "");
	v.limit = (struct limit){.status = LIMIT_NONE};
	mismatch_judge("app", &v, &m);
	assert_int_equal(m.kind, MISMATCH_NO_LIMIT);
	assert_non_null(strstr(m.sentence, "that is visible"));
	v.ancestors_hidden = false;
	mismatch_judge("app", &v, &m);
	assert_string_equal(m.sentence, "app has no CPU limit: thread pools grow to 4 CPUs");
	v.limit.status = LIMIT_UNKNOWN;
	mismatch_judge("app", &v, &m);
	assert_int_equal(m.kind, MISMATCH_NONE);
	v.limit.status = LIMIT_NONE;
	v.cpus.have_nproc = false;
	mismatch_judge("app", &v, &m);
	assert_int_equal(m.kind, MISMATCH_NONE);
}

static void test_mismatch_settings(void **state)
{
	(void)state;
	char settings[MISMATCH_SETTINGS_SIZE];
	struct snapshot s = {.n_levels = 1};
	const struct cpu_counts cpus = {.have_nproc = true, .nproc = 8, .have_online = true, .online = 8};
	s.levels[0] = (struct level_figures){.state = QUOTA_READ, .quota = {200000, 100000}};
	mismatch_settings(&s, &cpus, HIERARCHY_V2, settings);
	static const char *const wanted[] = {"GOMAXPROCS=2", "OMP_NUM_THREADS=2", "OPENBLAS_NUM_THREADS=2",
					     "worker_processes 2;"};
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		const char *at = strstr(settings, wanted[i]);
		assert_case(at, wanted[i]);
		/* shared by several runtimes, named once */
		assert_case(!strstr(at + 1, wanted[i]), wanted[i]);
	}
	/* the JVM fits by itself */
	assert_null(strstr(settings, "ActiveProcessorCount"));
	CLEANUP_JSON json_value *o = json_new_object();
	mismatch_put(o, &s, &cpus, HIERARCHY_V2);
	assert_string_equal(json_get_text(o, "settings"), settings);
	int64_t n = 0;
	assert_true(json_get_i64(json_get(o, "runtimes"), "jvm", &n) ||
		    json_get_real(json_get(o, "runtimes"), "jvm", &(double){0}));
	assert_true(json_length(json_get(o, "runtimes_too_many")) > 0);
	assert_int_equal(json_length(json_get(o, "runtimes_blind")), 0);
	CLEANUP_JSON json_value *list = mismatch_runtimes(&s, &cpus, HIERARCHY_V2);
	assert_true(json_length(list) > 10);
	assert_non_null(json_get_text(json_at(list, 0), "sentence"));

	/* one above: those who look at their own cgroup only are blind to it */
	s.n_levels = 2;
	s.levels[1] = s.levels[0];
	s.levels[0].quota.quota_usec = QUOTA_NONE;
	CLEANUP_JSON json_value *above = json_new_object();
	mismatch_put(above, &s, &cpus, HIERARCHY_V2);
	assert_true(json_length(json_get(above, "runtimes_blind")) > 0);

	/* nothing is known: nothing is said */
	s.levels[0].state = QUOTA_BROKEN;
	CLEANUP_JSON json_value *unknown = json_new_object();
	CLEANUP_JSON json_value *empty = mismatch_runtimes(&s, &cpus, HIERARCHY_V2);
	mismatch_put(unknown, &s, &cpus, HIERARCHY_V2);
	assert_string_equal(text_of(unknown), "{}");
	assert_int_equal(json_length(empty), 0);
	mismatch_settings(&s, &cpus, HIERARCHY_V2, settings);
	assert_string_equal(settings, "");
}

static int release(void **state)
{
	(void)state;
	CLEANUP_JSON json_value *o = json_new_object();
	return strcmp(text_of(o), "{}");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_limit_view),
		cmocka_unit_test(test_window),
		cmocka_unit_test(test_window_without_figures),
		cmocka_unit_test(test_verdict),
		cmocka_unit_test(test_mismatch_in_words),
		cmocka_unit_test(test_mismatch_settings),
	};
	return cmocka_run_group_tests(tests, NULL, release);
}
