/* The arithmetic around measuring: calibration, arrival, meter, SHA-256. No timing in here. */
#include "tests/unit/check.h"

#include "probe-app/arrival.h"
#include "probe-app/calibrate.h"
#include "probe-app/meter.h"
#include "probe-app/own.h"
#include "probe-app/work.h"

#include <errno.h>
#include <math.h>

/* ---- calibration ------------------------------------------------------------------------------------------------ */

/* n windows, of which the first `fast` take 80,000 to 80,300 ns, the others 90,000 and more. */
static void fill_windows(int64_t lows[], size_t n, size_t fast)
{
	for (size_t i = 0; i < n; i++)
		lows[i] = i < fast ? 80000 + (int64_t)(i % 4) * 100 : 90000 + (int64_t)i * 700;
}

static void agreeing_windows_give_their_median(void **state)
{
	int64_t lows[CALIBRATE_WINDOWS_MIN];
	double ns;
	(void)state;
	fill_windows(lows, ARRAY_LEN(lows), ARRAY_LEN(lows));
	assert_int_equal(calibrate_judge(lows, ARRAY_LEN(lows), &ns, NULL), 0);
	assert_true(fabs(ns - 80.15) < 0.06);
}

static void slow_windows_do_not_count(void **state)
{
	/* most of the time something else had the other half of the core */
	int64_t lows[CALIBRATE_WINDOWS_MIN];
	double ns;
	(void)state;
	fill_windows(lows, ARRAY_LEN(lows), CALIBRATE_WINDOWS_AGREE);
	assert_int_equal(calibrate_judge(lows, ARRAY_LEN(lows), &ns, NULL), 0);
	assert_true(fabs(ns - 80.15) < 0.06);
}

static void a_single_faster_window_does_not_count(void **state)
{
	int64_t lows[CALIBRATE_WINDOWS_MIN];
	double ns;
	(void)state;
	fill_windows(lows, ARRAY_LEN(lows), ARRAY_LEN(lows));
	lows[7] = 70000;
	lows[9] = 75000;
	assert_int_equal(calibrate_judge(lows, ARRAY_LEN(lows), &ns, NULL), 0);
	assert_true(fabs(ns - 80.15) < 0.06);
}

/* A clock that was raised now and then, each time by something else, while it mostly kept one speed. */
static void at_the_end_a_fifth_may_be_faster(void **state)
{
	int64_t lows[CALIBRATE_WINDOWS_MAX];
	double ns;
	(void)state;
	fill_windows(lows, ARRAY_LEN(lows), ARRAY_LEN(lows));
	for (size_t i = 0; i < ARRAY_LEN(lows) / 5; i++)
		lows[i] = 50000 + (int64_t)i * 800;
	assert_int_equal(calibrate_judge(lows, ARRAY_LEN(lows) - 1, &ns, NULL), -EAGAIN);
	assert_int_equal(calibrate_judge(lows, ARRAY_LEN(lows), &ns, NULL), 0);
	assert_true(fabs(ns - 80.15) < 0.06);
}

static void too_few_windows_ask_for_more(void **state)
{
	int64_t lows[CALIBRATE_WINDOWS_MIN];
	double ns;
	(void)state;
	fill_windows(lows, ARRAY_LEN(lows), ARRAY_LEN(lows));
	assert_int_equal(calibrate_judge(lows, ARRAY_LEN(lows) - 1, &ns, NULL), -EAGAIN);
	fill_windows(lows, ARRAY_LEN(lows), CALIBRATE_WINDOWS_AGREE - 1);
	assert_int_equal(calibrate_judge(lows, ARRAY_LEN(lows), &ns, NULL), -EAGAIN);
}

static void a_spread_that_stays_wide_is_refused(void **state)
{
	int64_t lows[CALIBRATE_WINDOWS_MAX];
	double ns = 0;
	struct fault f = {0};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lows); i++)
		lows[i] = 80000 + (int64_t)i * 600;
	assert_int_equal(calibrate_judge(lows, ARRAY_LEN(lows), &ns, &f), -EDOM);
	assert_non_null(strstr(fault_text(&f), "give --rounds"));
	assert_true(ns == 0);
}

/* ---- arrival ------------------------------------------------------------------------------------------------------
 */

static void arrival_is_where_the_witnesses_say(void **state)
{
	enum { UNKNOWN = METER_UNKNOWN };
	static const struct {
		struct arrival_witness w;
		int64_t expected;
		const char *why;
	} cases[] = {
		/* read, waited, not before, age, tick */
		{{1000, 0, 0, UNKNOWN, 0}, 1000, "it ran at once"},
		{{1000, 300, 0, UNKNOWN, 0}, 700, "it waited for a CPU"},
		{{1000, UNKNOWN, 0, UNKNOWN, 0}, 1000, "nothing is known"},
		{{1000, 300, 800, UNKNOWN, 0}, 800, "not before its connection was free"},
		{{1000, 300, 0, 300, 50}, 700, "both agree"},
		{{1000, 900, 0, 100, 50}, 850, "the wait was from before the sleep"},
		{{1000, 0, 0, 400, 50}, 650, "schedstat lost the wait"},
		{{1000, 20, 0, 0, 50}, 980, "younger than a tick"},
		{{1000, UNKNOWN, 0, 400, 50}, 650, "without schedstat the kernel's note is all there is"},
		{{1000, 0, 900, 400, 50}, 900, "the note is older than the connection"},
		{{1000, 0, 2000, UNKNOWN, 0}, 1000, "never after it was read"},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		int64_t at = arrival_instant(&cases[i].w);
		if (at != cases[i].expected)
			fail_msg("%s: %lld, not %lld", cases[i].why, (long long)at, (long long)cases[i].expected);
	}
}

/* ---- meter --------------------------------------------------------------------------------------------------------
 */

static void elapsed_is_split_into_three(void **state)
{
	struct reading from = {.mono_ns = 100, .cpu_ns = 10, .runqueue_ns = 5};
	struct reading to = {.mono_ns = 1100, .cpu_ns = 210, .runqueue_ns = 305};
	struct elapsed e = meter_between(&from, &to);
	(void)state;
	assert_int_equal(e.wall_ns, 1000);
	assert_int_equal(e.cpu_ns, 200);
	assert_int_equal(e.runqueue_ns, 300);
	assert_int_equal(e.asleep_ns, 500);
	to.runqueue_ns = METER_UNKNOWN;
	e = meter_between(&from, &to);
	assert_int_equal(e.runqueue_ns, METER_UNKNOWN);
	assert_int_equal(e.asleep_ns, 800);
	to.cpu_ns = 5000; /* more CPU than wall time */
	e = meter_between(&from, &to);
	assert_int_equal(e.asleep_ns, 0);
}

static void a_thread_can_measure_itself(void **state)
{
	struct meter m;
	(void)state;
	meter_open(&m);
	struct reading a = meter_read(&m);
	struct reading b = meter_read(&m);
	assert_true(b.mono_ns >= a.mono_ns && b.cpu_ns >= a.cpu_ns && b.runqueue_ns >= a.runqueue_ns);
	meter_close(&m);
	assert_int_equal(meter_runqueue_ns(&m), METER_UNKNOWN);
}

/* ---- work ---------------------------------------------------------------------------------------------------------
 */

static void rounds_are_sha256_of_the_round_before(void **state)
{
	/* sha256 of 32 zero bytes, and sha256 of that: computed with sha256sum */
	static const char once[] = "66687aadf862bd776c8fc18b8e9f8e20089714856ee233b3902a591d0d5f2925";
	static const char twice[] = "2b32db6c2c0a6235fb1397e8225ea85e0f0e6e8c7b126d0016ccbde0e667151e";
	uint8_t digest[WORK_DIGEST_BYTES];
	char text[WORK_DIGEST_TEXT];
	struct work_context *w = work_open(NULL);
	(void)state;
	assert_non_null(w);
	assert_int_equal(work_rounds(w, 1, NULL, digest), 0);
	work_digest_text(digest, text);
	assert_string_equal(text, once);
	assert_int_equal(work_rounds(w, 2, NULL, digest), 0);
	work_digest_text(digest, text);
	assert_string_equal(text, twice);
	/* more than one piece between two looks at `stop`, and the same again */
	uint8_t again[WORK_DIGEST_BYTES];
	assert_int_equal(work_rounds(w, 5025, NULL, digest), 0);
	assert_int_equal(work_rounds(w, 5025, NULL, again), 0);
	assert_memory_equal(digest, again, sizeof digest);
	work_close(w);
}

static void work_stops_when_told(void **state)
{
	uint8_t digest[WORK_DIGEST_BYTES];
	struct stop stop = {0};
	struct work_context *w = work_open(NULL);
	(void)state;
	stop_now(&stop);
	assert_int_equal(work_rounds(w, UINT64_MAX, &stop, digest), -ECANCELED);
	assert_int_equal(stop_sleep_until(&stop, INT64_MAX), -ECANCELED);
	work_close(w);
}

static void quotas_are_rounded_up_within_the_mask(void **state)
{
	(void)state;
	assert_int_equal(own_round_quota(0.25, 8), 1);
	assert_int_equal(own_round_quota(1, 8), 1);
	assert_int_equal(own_round_quota(1.01, 8), 2);
	assert_int_equal(own_round_quota(2.5, 8), 3);
	assert_int_equal(own_round_quota(12, 8), 8);
	assert_int_equal(own_round_quota(NAN, 8), 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(agreeing_windows_give_their_median),
		cmocka_unit_test(slow_windows_do_not_count),
		cmocka_unit_test(a_single_faster_window_does_not_count),
		cmocka_unit_test(at_the_end_a_fifth_may_be_faster),
		cmocka_unit_test(too_few_windows_ask_for_more),
		cmocka_unit_test(a_spread_that_stays_wide_is_refused),
		cmocka_unit_test(arrival_is_where_the_witnesses_say),
		cmocka_unit_test(elapsed_is_split_into_three),
		cmocka_unit_test(a_thread_can_measure_itself),
		cmocka_unit_test(rounds_are_sha256_of_the_round_before),
		cmocka_unit_test(work_stops_when_told),
		cmocka_unit_test(quotas_are_rounded_up_within_the_mask),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
