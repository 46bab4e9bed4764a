/* Addresses, pools and workers as users type them; metrics as scrapers read them. */
#include "tests/unit/check.h"

#include "probe-app/buckets.h"
#include "probe-app/config.h"
#include "probe-app/listen.h"
#include "probe-app/metrics.h"

#include <arpa/inet.h>
#include <errno.h>

static void addresses_are_read(void **state)
{
	static const struct {
		const char *text;
		int family;
		unsigned port;
	} cases[] = {
		{"127.0.0.1:8080", AF_INET, 8080}, {"0.0.0.0:0", AF_INET, 0}, {"localhost:1", AF_INET, 1},
		{"[::1]:65535", AF_INET6, 65535},  {":80", AF_INET6, 80},     {"*:80", AF_INET6, 80},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct listen_address a;
		assert_int_equal(listen_parse(cases[i].text, &a, NULL), 0);
		assert_int_equal(a.u.any.sa_family, cases[i].family);
		assert_int_equal(ntohs(a.u.v4.sin_port), cases[i].port); /* at the same place in both families */
	}
}

static void wrong_addresses_are_refused(void **state)
{
	static const char *const cases[] = {
		"",
		"8080",
		"127.0.0.1",
		"127.0.0.1:",
		"127.0.0.1:65536",
		"127.0.0.1:-1",
		"[::1]",
		"::1:8080x",
		"example:80",
		"[::1:80",
		"127.0.0.1:80:80",
		"127.1:80",
		"[]:80",
		"[fe80::g]:1",
		"127.0.0.1 :80",
		" 127.0.0.1:1",
		"256.0.0.1:80",
		"1111111111111111111111111111111111111111111111111111111111111111111111111111:1",
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct listen_address a;
		struct fault f = {0};
		if (listen_parse(cases[i], &a, &f) != -EINVAL)
			fail_msg("'%s' was taken", cases[i]);
		assert_true(f.err > 0);
	}
}

static void pools_are_read(void **state)
{
	struct pool_spec p;
	(void)state;
	assert_int_equal(config_parse_pool("db=5:20ms", &p, NULL), 0);
	assert_string_equal(p.name, "db");
	assert_int_equal(p.units, 5);
	assert_int_equal(p.hold_ns, 20000000);
	assert_int_equal(config_parse_pool("a-b_9=4096:0", &p, NULL), 0);
	static const char *const wrong[] = {"",           "db",
					    "db=",        "db=5",
					    "db=5:",      "=5:1ms",
					    "db=0:1ms",   "db=4097:1ms",
					    "db=x:1ms",   "db=5:fast",
					    "d b=1:1ms",  "d\"b=1:1ms",
					    "db=5:1ms:2", "abcdefghijklmnopqrstuvwxyz012345=1:1ms"};
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		if (config_parse_pool(wrong[i], &p, NULL) >= 0)
			fail_msg("'%s' was taken", wrong[i]);
}

static void workers_are_read(void **state)
{
	uint32_t n = 0;
	struct fault f;
	(void)state;
	assert_int_equal(config_parse_workers("7", &n, NULL), 0);
	assert_int_equal(n, 7);
	assert_int_equal(config_parse_workers("nproc", &n, NULL), 0);
	assert_true(n >= 1);
	assert_int_equal(config_parse_workers("0", &n, &f), -ERANGE);
	assert_int_equal(config_parse_workers("4097", &n, &f), -ERANGE);
	assert_int_equal(config_parse_workers("many", &n, &f), -EINVAL);
	assert_string_equal(fault_text(&f), "'many' is neither a number nor nproc nor quota");
}

static void values_fall_into_buckets(void **state)
{
	struct buckets b = {.total = 0};
	(void)state;
	buckets_add(&b, 0);
	buckets_add(&b, 50000); /* equal to a bound: inside of it */
	buckets_add(&b, 50001);
	buckets_add(&b, INT64_C(10000000000));
	buckets_add(&b, INT64_C(10000000001));
	buckets_add(&b, -1); /* unknown */
	assert_int_equal(b.counts[0], 2);
	assert_int_equal(b.counts[1], 1);
	assert_int_equal(b.counts[BUCKETS - 1], 1);
	assert_int_equal(b.counts[BUCKETS], 1);
	assert_int_equal(b.total, 5);
}

static void bounds_ascend_and_match_their_text(void **state)
{
	(void)state;
	for (size_t i = 0; i < BUCKETS; i++) {
		assert_true(i == 0 || bucket_bounds_ns[i] > bucket_bounds_ns[i - 1]);
		assert_true(strtod(bucket_bounds_text[i], NULL) == (double)bucket_bounds_ns[i] / 1e9);
	}
}

static void accept_headers_are_understood(void **state)
{
	(void)state;
	assert_false(metrics_wants_openmetrics(NULL));
	assert_false(metrics_wants_openmetrics("*/*"));
	assert_false(metrics_wants_openmetrics("text/plain; version=0.0.4"));
	assert_true(metrics_wants_openmetrics("application/openmetrics-text; version=1.0.0"));
	assert_true(metrics_wants_openmetrics("application/openmetrics-text;version=1.0.0;q=0.6,text/plain;q=0.5"));
	assert_true(metrics_wants_openmetrics("text/plain, application/OpenMetrics-text;q=0.05"));
	assert_false(metrics_wants_openmetrics("application/openmetrics-text;q=0, text/plain"));
	assert_false(metrics_wants_openmetrics("application/openmetrics-text;q=0.0, text/plain;q=0.9"));
}

static void only_what_was_done_goes_into_histograms(void **state)
{
	struct metrics m;
	struct metrics_now now = {.workers = 1};
	struct record r;
	size_t len;
	(void)state;
	metrics_init(&m);
	record_init(&r);
	r.arrived_ns = 0;
	r.ended_ns = 4000000;
	r.cpu_ns = 4000000;
	r.status = 200;
	metrics_add(&m, &r);
	r.status = 503;
	metrics_add(&m, &r);
	r.status = 418;
	metrics_add(&m, &r);
	char *text = metrics_text(&m, &now, true, &len);
	assert_non_null(text);
	assert_non_null(strstr(text, "headroom_probe_requests_total{code=\"200\"} 1\n"));
	assert_non_null(strstr(text, "headroom_probe_requests_total{code=\"503\"} 1\n"));
	assert_non_null(strstr(text, "headroom_probe_requests_total{code=\"other\"} 1\n"));
	assert_non_null(strstr(text, "headroom_probe_cpu_seconds_bucket{le=\"0.0025\"} 0\n"));
	assert_non_null(strstr(text, "headroom_probe_cpu_seconds_bucket{le=\"0.005\"} 1\n"));
	assert_non_null(strstr(text, "headroom_probe_cpu_seconds_count 1\n"));
	assert_non_null(strstr(text, "headroom_probe_wait_seconds_count 0\n"));
	assert_string_equal(text + len - 6, "# EOF\n");
	free(text);
	metrics_destroy(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(addresses_are_read),
		cmocka_unit_test(wrong_addresses_are_refused),
		cmocka_unit_test(pools_are_read),
		cmocka_unit_test(workers_are_read),
		cmocka_unit_test(values_fall_into_buckets),
		cmocka_unit_test(bounds_ascend_and_match_their_text),
		cmocka_unit_test(accept_headers_are_understood),
		cmocka_unit_test(only_what_was_done_goes_into_histograms),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
