/* The period timer from readings of cpu.stat: phase, aligned starts, throttled intervals. */
#include "tests/unit/check.h"

#include "lab/ticks.h"

#define MS NSEC_PER_MSEC

static const int64_t period_ns = 100 * MS;

static void see(struct ticks *t, int64_t mono_ns, uint64_t periods, uint64_t throttled, uint64_t usec)
{
	struct tick_sample s = {
		.mono_ns = mono_ns, .nr_periods = periods, .nr_throttled = throttled, .throttled_usec = usec};
	assert_int_equal(ticks_observe(t, &s, NULL), 0);
}

/* Reads every ms from `from` to `to`; the timer ticks at offset + k x 100 ms, active or not. */
static void read_every_ms(struct ticks *t, int64_t from_ns, int64_t to_ns, int64_t offset_ns)
{
	for (int64_t now = from_ns; now < to_ns; now += MS)
		see(t, now, (uint64_t)((now - offset_ns) / period_ns), 0, 0);
}

static void test_phase(void **state)
{
	(void)state;
	static const int64_t offsets_ms[] = {0, 1, 37, 50, 99};
	for (size_t i = 0; i < ARRAY_LEN(offsets_ms); i++) {
		struct ticks t = TICKS_NONE;
		int64_t phase_ns;
		int64_t offset_ns = offsets_ms[i] * MS;
		read_every_ms(&t, 1000 * MS, 1500 * MS, offset_ns);
		/* 5 s later, at 20 ms after a multiple of the period */
		assert_true(ticks_phase_ns(&t, 6020 * MS, period_ns, &phase_ns));
		int64_t expected_ns = (offset_ns - 20 * MS + period_ns) % period_ns;
		int64_t error_ns = phase_ns - expected_ns;
		assert_true(error_ns >= -MS && error_ns <= MS);
		ticks_release(&t);
	}
}

/* 99.6, 0.1, 99.8, 0.3: the median is near 0, not near 50. */
static void test_phase_at_the_seam(void **state)
{
	(void)state;
	struct ticks t = TICKS_NONE;
	int64_t phase_ns;
	static const int64_t at_us[] = {99600, 200100, 299800, 400300};
	for (size_t i = 0; i < ARRAY_LEN(at_us); i++) {
		see(&t, at_us[i] * 1000 - 10000, i, 0, 0);
		see(&t, at_us[i] * 1000 + 10000, i + 1, 0, 0);
	}
	assert_true(ticks_phase_ns(&t, 0, period_ns, &phase_ns));
	assert_true(phase_ns < MS || phase_ns > 99 * MS);
	ticks_release(&t);
}

static void test_no_tick_no_phase(void **state)
{
	(void)state;
	struct ticks t = TICKS_NONE;
	int64_t phase_ns = 7;
	assert_false(ticks_phase_ns(&t, 0, period_ns, &phase_ns));
	see(&t, 1 * MS, 5, 0, 0);
	see(&t, 2 * MS, 5, 0, 0);
	assert_false(ticks_phase_ns(&t, 0, period_ns, &phase_ns));
	assert_int_equal(phase_ns, 7);
	ticks_release(&t);
}

/* A reading that came 40 ms late does not say when the tick was. */
static void test_late_readings_are_left_out(void **state)
{
	(void)state;
	struct ticks t = TICKS_NONE;
	int64_t phase_ns;
	see(&t, 60 * MS, 0, 0, 0);
	see(&t, 140 * MS, 1, 0, 0);
	assert_int_equal(t.n, 1);
	assert_false(ticks_phase_ns(&t, 0, period_ns, &phase_ns));
	see(&t, 209 * MS, 1, 0, 0);
	see(&t, 211 * MS, 2, 0, 0);
	assert_true(ticks_phase_ns(&t, 0, period_ns, &phase_ns));
	assert_int_equal(phase_ns, 10 * MS);
	ticks_release(&t);
}

/* Throttled time that is booked after the tick is no tick of its own. */
static void test_a_change_of_throttled_time_is_no_tick(void **state)
{
	(void)state;
	struct ticks t = TICKS_NONE;
	int64_t phase_ns;
	see(&t, 99 * MS, 0, 0, 0);
	see(&t, 101 * MS, 1, 1, 0);
	see(&t, 103 * MS, 1, 1, 30000);
	assert_int_equal(t.n, 2);
	assert_true(t.list[0].is_tick);
	assert_false(t.list[1].is_tick);
	assert_true(ticks_phase_ns(&t, 0, period_ns, &phase_ns));
	assert_int_equal(phase_ns, 0);
	ticks_release(&t);
}

static void test_instant_with_phase(void **state)
{
	(void)state;
	for (int64_t phase_ms = 0; phase_ms < 100; phase_ms += 7) {
		/* ticks at 33 ms + k x 100 ms: seen from 1000 ms, the phase is 33 ms */
		int64_t earliest_ns = 2018 * MS;
		int64_t start_ns = ticks_instant_with_phase(earliest_ns, 1000 * MS, 33 * MS, period_ns, phase_ms * MS);
		assert_true(start_ns >= earliest_ns && start_ns < earliest_ns + period_ns);
		assert_int_equal((start_ns + phase_ms * MS) % period_ns, 33 * MS);
	}
}

static void test_throttled_intervals(void **state)
{
	(void)state;
	struct ticks t = TICKS_NONE;
	see(&t, 199 * MS, 0, 0, 0);
	see(&t, 201 * MS, 1, 1, 35000); /* throttled from 165 to 200 */
	see(&t, 299 * MS, 1, 1, 35000);
	see(&t, 301 * MS, 2, 2, 55000); /* from 280 to 300 */
	assert_int_equal(ticks_throttled_within(&t, 0, 1000 * MS), 55 * MS);
	assert_int_equal(ticks_throttled_within(&t, 0, 165 * MS), 0);
	assert_int_equal(ticks_throttled_within(&t, 170 * MS, 180 * MS), 10 * MS);
	assert_int_equal(ticks_throttled_within(&t, 190 * MS, 290 * MS), 20 * MS);
	assert_int_equal(ticks_throttled_within(&t, 300 * MS, 1000 * MS), 0);
	assert_int_equal(ticks_throttled_within(&t, 290 * MS, 280 * MS), 0);
	ticks_release(&t);
}

/* The counter is summed over CPUs: what does not fit between two changes is cut. */
static void test_throttled_time_of_two_cpus(void **state)
{
	(void)state;
	struct ticks t = TICKS_NONE;
	see(&t, 100 * MS, 0, 0, 0);
	see(&t, 100 * MS, 1, 1, 50000);
	see(&t, 200 * MS, 1, 1, 50000);
	see(&t, 200 * MS, 2, 2, 250000);
	assert_int_equal(ticks_throttled_within(&t, 0, 1000 * MS), 150 * MS);
	ticks_release(&t);
}

static void test_first_reading_is_no_change(void **state)
{
	(void)state;
	struct ticks t = TICKS_NONE;
	see(&t, 5 * MS, 1000, 500, 77);
	assert_int_equal(t.n, 0);
	ticks_release(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_phase),
		cmocka_unit_test(test_phase_at_the_seam),
		cmocka_unit_test(test_no_tick_no_phase),
		cmocka_unit_test(test_late_readings_are_left_out),
		cmocka_unit_test(test_a_change_of_throttled_time_is_no_tick),
		cmocka_unit_test(test_instant_with_phase),
		cmocka_unit_test(test_throttled_intervals),
		cmocka_unit_test(test_throttled_time_of_two_cpus),
		cmocka_unit_test(test_first_reading_is_no_change),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
