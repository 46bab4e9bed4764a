/* What a health check takes for an answer, and for an address. */
#include "tests/unit/check.h"

#include "sidecar/health.h"

static void test_status(void **state)
{
	static const struct {
		const char *response;
		int status;
	} cases[] = {
		{"HTTP/1.1 200 OK\r\n\r\nok", 200},
		{"HTTP/1.0 503 no\r\n", 503},
		{"HTTP/1.1 404", 404},
		{"HTTP/1.1 20", -1},
		{"HTTP/1.1", -1},
		{"HTTP/1.", -1},
		{"HTTP/1.1 2x0 OK", -1},
		{"HTTP/2 200", -1},
		{"", -1},
		{"SSH-2.0-OpenSSH_9.2", -1},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_int_equal(health_status(cases[i].response), cases[i].status);
}

static void test_addresses(void **state)
{
	static const char *const wrong[] = {
		"", "9464", "host:9464", "127.0.0.1:", "127.0.0.1:0", "127.0.0.1:65536", "[::1:9464"};
	struct fault f;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++)
		assert_int_equal(health_check(wrong[i], &f), -22);
	/* port 1 of the loopback: nobody listens there */
	assert_int_equal(health_check("127.0.0.1:1", &f), -111);
	assert_int_equal(health_check("*:1", &f), -111);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_status),
		cmocka_unit_test(test_addresses),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
