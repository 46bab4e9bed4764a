/* Which format a client wants, and both of them for made-up containers. */
#include "tests/unit/check.h"

#include "sidecar/metrics.h"

static void test_choose(void **state)
{
	(void)state;
	static const struct {
		const char *accept;
		enum metrics_format wanted;
	} rows[] = {
		{"", METRICS_TEXT},
		{"*/*", METRICS_TEXT},
		{"text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8", METRICS_TEXT},
		{"text/plain", METRICS_TEXT},
		{"text/plain;version=0.0.4", METRICS_TEXT},
		{"application/openmetrics-text", METRICS_OPENMETRICS},
		{"application/openmetrics-text; version=1.0.0; charset=utf-8", METRICS_OPENMETRICS},
		/* Prometheus 2 and 3 */
		{"application/openmetrics-text;version=1.0.0,application/openmetrics-text;version=0.0.1;q=0.75,"
		 "text/plain;version=0.0.4;q=0.5,*/*;q=0.1",
		 METRICS_OPENMETRICS},
		{"application/openmetrics-text;version=1.0.0;escaping=allow-utf-8;q=0.6,"
		 "application/openmetrics-text;version=0.0.1;q=0.5,text/plain;version=1.0.0;escaping=allow-utf-8;q=0.4,"
		 "text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		 METRICS_OPENMETRICS},
		/* protobuf first, which is not made here */
		{"application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited;q=0.7,"
		 "application/openmetrics-text;version=1.0.0;q=0.6,text/plain;version=0.0.4;q=0.3,*/*;q=0.2",
		 METRICS_OPENMETRICS},
		/* the other way round */
		{"text/plain;version=0.0.4;q=0.9,application/openmetrics-text;version=1.0.0;q=0.3", METRICS_TEXT},
		{"text/plain, application/openmetrics-text;q=0.5", METRICS_TEXT},
		{"application/openmetrics-text;q=0.5,text/plain;q=0.5", METRICS_OPENMETRICS},
		/* blanks around the parameters, letters of either case */
		{"application/openmetrics-text ; version=1.0.0 ; q=0.2 , text/plain ; q=0.9", METRICS_TEXT},
		{"Application/OpenMetrics-Text", METRICS_OPENMETRICS},
		{"text/plain;Q=0.1,application/openmetrics-text;Q=0.2", METRICS_OPENMETRICS},
		/* q=0 means: not this one */
		{"application/openmetrics-text;q=0", METRICS_TEXT},
		{"application/openmetrics-text;q=0.0,*/*", METRICS_TEXT},
		{"application/openmetrics-text;q=0.000, text/plain;q=0", METRICS_TEXT},
		/* of several entries of one type the best counts */
		{"text/plain;q=0.1,application/openmetrics-text;q=0.5,text/plain;q=0.9", METRICS_TEXT},
		{"application/openmetrics-text;q=0.1,text/plain;q=0.5,application/openmetrics-text;q=0.6",
		 METRICS_OPENMETRICS},
		/* only whole names */
		{"application/openmetrics-text-extra", METRICS_TEXT},
		{"x-application/openmetrics-text", METRICS_TEXT},
		{"application/json;note=application/openmetrics-text", METRICS_TEXT},
		/* nonsense */
		{",,;;q=1,", METRICS_TEXT},
		{"application/openmetrics-text;q=", METRICS_TEXT},
		{"application/openmetrics-text;q=abc", METRICS_TEXT},
		{"application/openmetrics-text;q", METRICS_OPENMETRICS},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		assert_case(metrics_choose(rows[i].accept) == rows[i].wanted, rows[i].accept);
}

static void test_content_type(void **state)
{
	(void)state;
	assert_string_equal(metrics_content_type(METRICS_TEXT), "text/plain; version=0.0.4; charset=utf-8");
	assert_string_equal(metrics_content_type(METRICS_OPENMETRICS),
			    "application/openmetrics-text; version=1.0.0; charset=utf-8");
}

/* ---- the page -------------------------------------------------------------------------------------------------------
 */

static void set(struct watch *w, enum counter c, uint64_t value)
{
	w->now.snap.levels[0].counters.have |= 1U << c;
	w->now.snap.levels[0].counters.value[c] = value;
}

static void make(struct watch *w, const char *name)
{
	*w = (struct watch){.open = true};
	snprintf(w->who.container, sizeof w->who.container, "%s", name);
	w->now.snap.n_levels = 1;
	w->limit.quota.quota_usec = QUOTA_NONE;
	w->limit.status = LIMIT_NONE;
	demand_init(&w->demand);
}

static char *render(struct watch *list[], size_t n, enum metrics_format format)
{
	size_t len = 0;
	struct fleet fleet = {.watches = list, .n = n};
	char *text = metrics_render(&fleet, format, &len);
	assert_non_null(text);
	assert_int_equal(strlen(text), len);
	assert_int_equal(text[len - 1], '\n');
	return text;
}

static void test_counters_to_the_unit(void **state)
{
	(void)state;
	struct watch w;
	struct watch *list[] = {&w};
	make(&w, "app");
	set(&w, COUNTER_USAGE, UINT64_C(123456789012345)); /* 3.9 years, in usec */
	set(&w, COUNTER_NR_PERIODS, 987654321);
	set(&w, COUNTER_NR_THROTTLED, 0);
	CLEANUP_FREE char *text = render(list, 1, METRICS_TEXT);
	assert_non_null(
		strstr(text, "\nheadroom_container_cpu_usage_seconds_total{container=\"app\"} 123456789.012345\n"));
	assert_non_null(strstr(text, "\nheadroom_container_cpu_cfs_periods_total{container=\"app\"} 987654321\n"));
	/* a zero that was read is a zero; what is not there is not written */
	assert_non_null(strstr(text, "\nheadroom_container_cpu_cfs_throttled_periods_total{container=\"app\"} 0\n"));
	assert_null(strstr(text, "throttled_seconds"));
	assert_null(strstr(text, "pressure"));
	assert_null(strstr(text, "cpu_limit_cores"));
	assert_null(strstr(text, "nan"));
	assert_null(strstr(text, "# EOF"));
	assert_null(strstr(text, "# UNIT"));
}

/* TYPE, UNIT and HELP name the family: without _total in OpenMetrics, with it in the older format. */
static void test_family_names(void **state)
{
	(void)state;
	struct watch w;
	struct watch *list[] = {&w};
	make(&w, "app");
	set(&w, COUNTER_USAGE, 1000000);
	CLEANUP_FREE char *text = render(list, 1, METRICS_TEXT);
	CLEANUP_FREE char *open = render(list, 1, METRICS_OPENMETRICS);
	assert_non_null(strstr(text, "\n# TYPE headroom_container_cpu_usage_seconds_total counter\n"));
	assert_non_null(strstr(open, "\n# TYPE headroom_container_cpu_usage_seconds counter\n"));
	assert_non_null(strstr(open, "\n# UNIT headroom_container_cpu_usage_seconds seconds\n"));
	assert_string_equal(open + strlen(open) - 6, "# EOF\n");
	assert_ptr_equal(strstr(open, "# EOF"), open + strlen(open) - 6);
	/* the samples are the same in both */
	for (const char *p = text; *p; p = strchr(p, '\n') + 1) {
		char line[512];
		snprintf(line, sizeof line, "\n%.*s\n", (int)strcspn(p, "\n"), p);
		if (*p != '#' && !strstr(line, "process_"))
			assert_case(strstr(open, line) != NULL, line);
	}
}

/* One TYPE line for all containers, and all samples of a family together. */
static void test_several_containers(void **state)
{
	(void)state;
	struct watch a;
	struct watch b;
	struct watch c;
	struct watch *list[] = {&a, &b, &c};
	make(&a, "app");
	make(&b, "proxy");
	make(&c, "pod");
	c.who.scope = SCOPE_POD;
	b.open = false;
	set(&a, COUNTER_USAGE, 1);
	set(&b, COUNTER_USAGE, 2);
	set(&c, COUNTER_USAGE, 3);
	CLEANUP_FREE char *text = render(list, 3, METRICS_TEXT);
	const char *type = strstr(text, "# TYPE headroom_container_cpu_usage_seconds_total");
	assert_non_null(type);
	assert_null(strstr(type + 1, "# TYPE headroom_container_cpu_usage_seconds_total"));
	assert_non_null(strstr(text, "headroom_container_readable{container=\"app\"} 1\n"
				     "headroom_container_readable{container=\"proxy\"} 0\n"
				     "headroom_container_readable{container=\"pod\",scope=\"pod\"} 1\n"));
	/* figures of one that cannot be read (any more) are not repeated for ever */
	assert_null(strstr(text, "cpu_usage_seconds_total{container=\"proxy\"}"));
}

static void test_label_escapes(void **state)
{
	(void)state;
	struct watch w;
	struct watch *list[] = {&w};
	make(&w, "a\"b\\c\nd");
	CLEANUP_FREE char *text = render(list, 1, METRICS_TEXT);
	assert_non_null(strstr(text, "{container=\"a\\\"b\\\\c\\nd\"}"));
}

static void test_histogram(void **state)
{
	(void)state;
	struct watch w;
	struct watch *list[] = {&w};
	make(&w, "app");
	w.demand.buckets[0] = 5;
	w.demand.buckets[6] = 2;
	w.demand.buckets[DEMAND_BUCKETS] = 1;
	w.demand.periods = 8;
	w.demand.sum_cores = 101.5;
	CLEANUP_FREE char *text = render(list, 1, METRICS_TEXT);
#define BUCKET "headroom_container_cpu_period_demand_cores_bucket{container=\"app\",le="
	assert_non_null(strstr(text, BUCKET "\"0.01\"} 5\n"));
	assert_non_null(strstr(text, BUCKET "\"0.5\"} 5\n"));
	assert_non_null(strstr(text, BUCKET "\"1.0\"} 7\n"));
	assert_non_null(strstr(text, BUCKET "\"64.0\"} 7\n"));
	assert_non_null(strstr(text, BUCKET "\"+Inf\"} 8\n"));
	assert_non_null(strstr(text, "demand_cores_sum{container=\"app\"} 101.5\n"));
	assert_non_null(strstr(text, "demand_cores_count{container=\"app\"} 8\n"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_choose),
		cmocka_unit_test(test_content_type),
		cmocka_unit_test(test_counters_to_the_unit),
		cmocka_unit_test(test_family_names),
		cmocka_unit_test(test_several_containers),
		cmocka_unit_test(test_label_escapes),
		cmocka_unit_test(test_histogram),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
