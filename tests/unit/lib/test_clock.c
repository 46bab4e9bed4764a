/* Two clocks, and the text for people. */
#include "tests/unit/check.h"

#include "clock.h"

#include <signal.h>
#include <sys/time.h>
#include <time.h>

static void test_rfc3339(void **state)
{
	(void)state;
	static const struct {
		int64_t ns;
		const char *text;
	} cases[] = {
		{0, "1970-01-01T00:00:00.000Z"},
		{999999, "1970-01-01T00:00:00.000Z"},
		{1000000, "1970-01-01T00:00:00.001Z"},
		{INT64_C(1796076197042999999), "2026-11-30T22:03:17.042Z"},
		{INT64_C(951782400) * NSEC_PER_SEC, "2000-02-29T00:00:00.000Z"},
		{INT64_C(4102444799) * NSEC_PER_SEC + 999999999, "2099-12-31T23:59:59.999Z"},
		{INT64_MAX, "2262-04-11T23:47:16.854Z"},
	};
	setenv("TZ", "America/New_York", 1);
	tzset();
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char out[CLOCK_RFC3339_SIZE];
		clock_rfc3339(cases[i].ns, out);
		assert_string_equal(out, cases[i].text);
	}
}

static void test_clocks_advance(void **state)
{
	(void)state;
	int64_t mono = clock_mono_ns();
	int64_t thread = clock_thread_cpu_ns();
	int64_t process = clock_process_cpu_ns();
	volatile unsigned sink = 0;
	while (clock_thread_cpu_ns() - thread < 2 * NSEC_PER_MSEC)
		sink += 1;
	assert_true(sink > 0);
	assert_true(clock_mono_ns() - mono >= 2 * NSEC_PER_MSEC);
	/* the two are not read at one instant */
	assert_true(clock_process_cpu_ns() - process >= NSEC_PER_MSEC);
	assert_true(clock_wall_ns() > INT64_C(1500000000) * NSEC_PER_SEC);
}

static void test_sleep(void **state)
{
	(void)state;
	int64_t start = clock_mono_ns();
	int64_t cpu = clock_thread_cpu_ns();
	assert_int_equal(clock_sleep_until_ns(start + 30 * NSEC_PER_MSEC, NULL), 0);
	assert_true(clock_mono_ns() >= start + 30 * NSEC_PER_MSEC);
	assert_true(clock_thread_cpu_ns() - cpu < 20 * NSEC_PER_MSEC);
	/* an instant that has passed */
	start = clock_mono_ns();
	assert_int_equal(clock_sleep_until_ns(start - NSEC_PER_SEC, NULL), 0);
	assert_int_equal(clock_sleep_until_ns(0, NULL), 0);
}

static volatile int stop;
static volatile int signals;

static void on_alarm(int number)
{
	(void)number;
	signals++;
	if (signals == 3)
		stop = 1;
}

static void every_10_ms(bool on)
{
	struct sigaction act = {.sa_handler = on_alarm};
	struct itimerval timer = {.it_interval = {.tv_usec = on ? 10000 : 0}, .it_value = {.tv_usec = on ? 10000 : 0}};
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &timer, NULL);
}

static void test_sleep_and_signals(void **state)
{
	(void)state;
	int64_t start = clock_mono_ns();
	stop = signals = 0;
	every_10_ms(true);
	/* goes on after signals that nobody asks about */
	assert_int_equal(clock_sleep_until_ns(start + 100 * NSEC_PER_MSEC, NULL), 0);
	assert_true(clock_mono_ns() >= start + 100 * NSEC_PER_MSEC);
	assert_true(signals >= 3);
	stop = signals = 0;
	start = clock_mono_ns();
	assert_int_equal(clock_sleep_until_ns(start + 60 * NSEC_PER_SEC, &stop), -EINTR);
	every_10_ms(false);
	assert_true(signals >= 3);
	assert_true(clock_mono_ns() < start + 30 * NSEC_PER_SEC);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rfc3339),
		cmocka_unit_test(test_clocks_advance),
		cmocka_unit_test(test_sleep),
		cmocka_unit_test(test_sleep_and_signals),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
