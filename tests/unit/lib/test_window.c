/* Differences of two snapshots: what belongs together, what is missing, what began again; and the worst second. */
#include "tests/unit/check.h"

#include "window.h"

#include <math.h>

#define assert_near(a, b, epsilon) assert_true(fabs((a) - (b)) <= (epsilon))

#define ALL_COUNTERS ((1U << COUNTERS) - 1)

static struct snapshot make(int64_t mono_ns, uint64_t usage_usec, uint64_t nr_periods, uint64_t nr_throttled,
			    uint64_t throttled_usec)
{
	struct snapshot s = {.mono_ns = mono_ns, .identity = 7, .n_levels = 1};
	s.levels[0].state = QUOTA_READ;
	s.levels[0].quota = (struct cpu_quota){25000, 100000};
	s.levels[0].counters.have = ALL_COUNTERS;
	s.levels[0].counters.value[COUNTER_USAGE] = usage_usec;
	s.levels[0].counters.value[COUNTER_NR_PERIODS] = nr_periods;
	s.levels[0].counters.value[COUNTER_NR_THROTTLED] = nr_throttled;
	s.levels[0].counters.value[COUNTER_THROTTLED] = throttled_usec;
	return s;
}

static void set_psi(struct snapshot *s, enum psi_resource r, uint64_t some_usec, uint64_t full_usec, bool has_full)
{
	s->psi_status[r] = PSI_OK;
	s->psi[r].some.total_usec = some_usec;
	s->psi[r].full.total_usec = full_usec;
	s->psi[r].has_full = has_full;
}

static void test_difference(void **state)
{
	(void)state;
	struct window w;
	struct snapshot a = make(5 * NSEC_PER_SEC, 1000000, 10, 3, 200000);
	struct snapshot b = make(7 * NSEC_PER_SEC, 1500000, 30, 8, 700000);
	window_between(&w, &a, &b);
	assert_false(w.restarted);
	assert_int_equal(w.duration_ns, 2 * NSEC_PER_SEC);
	assert_int_equal(w.n_levels, 1);
	assert_true(w.levels[0].limited);
	assert_int_equal(window_count(&w, 0, COUNTER_USAGE), 500000);
	assert_int_equal(window_count(&w, 0, COUNTER_NR_PERIODS), 20);
	assert_int_equal(window_count(&w, 0, COUNTER_NR_THROTTLED), 5);
	assert_int_equal(window_count(&w, 0, COUNTER_THROTTLED), 500000);
	assert_near(window_cores(&w), 0.25, 1e-9);
	assert_near(window_throttled_share(&w, 0), 0.25, 1e-9);
}

/* The quota is the one at the end of the window. */
static void test_quota_at_the_end(void **state)
{
	(void)state;
	struct window w;
	struct snapshot a = make(0, 0, 0, 0, 0);
	struct snapshot b = make(NSEC_PER_SEC, 0, 0, 0, 0);
	b.levels[0].quota.quota_usec = 50000;
	window_between(&w, &a, &b);
	assert_int_equal(w.levels[0].quota.quota_usec, 50000);
	b.levels[0].quota.quota_usec = QUOTA_NONE;
	window_between(&w, &a, &b);
	assert_false(w.levels[0].limited);
	b.levels[0].state = QUOTA_NO_FILE;
	window_between(&w, &a, &b);
	assert_false(w.levels[0].limited);
}

static void test_restarted_by_identity(void **state)
{
	(void)state;
	struct window w;
	struct snapshot a = make(0, 100, 1, 0, 0);
	/* all counters are larger, so nothing but the inode tells */
	struct snapshot b = make(NSEC_PER_SEC, 900, 9, 5, 5000);
	b.identity = 8;
	window_between(&w, &a, &b);
	assert_true(w.restarted);
	for (enum counter c = 0; c < COUNTERS; c++)
		assert_int_equal(window_count(&w, 0, c), 0);
	assert_true(isnan(window_cores(&w)));
	assert_true(isnan(window_throttled_share(&w, 0)));
	assert_true(isnan(window_psi_share(&w, PSI_CPU)));
}

static void test_restarted_by_counter(void **state)
{
	(void)state;
	static const enum counter telling[] = {COUNTER_USAGE, COUNTER_NR_PERIODS, COUNTER_NR_THROTTLED};
	for (size_t i = 0; i < ARRAY_LEN(telling); i++) {
		struct window w;
		struct snapshot a = make(0, 1000, 10, 5, 5000);
		struct snapshot b = make(NSEC_PER_SEC, 2000, 20, 6, 6000);
		b.levels[0].counters.value[telling[i]] = 1;
		window_between(&w, &a, &b);
		assert_case(w.restarted, counter_key(telling[i]));
	}
}

/* The kernel corrects user and system time against each other: that costs the one figure, not the others. */
static void test_user_steps_back(void **state)
{
	(void)state;
	struct window w;
	struct snapshot a = make(0, 1000, 10, 5, 5000);
	struct snapshot b = make(NSEC_PER_SEC, 2000, 20, 6, 6000);
	a.levels[0].counters.value[COUNTER_USER] = 500;
	b.levels[0].counters.value[COUNTER_USER] = 499;
	window_between(&w, &a, &b);
	assert_false(w.restarted);
	assert_false(counters_have(&w.levels[0].delta, COUNTER_USER));
	assert_true(counters_have(&w.levels[0].delta, COUNTER_SYSTEM));
	assert_true(counters_have(&w.levels[0].delta, COUNTER_USAGE));
	assert_int_equal(window_count(&w, 0, COUNTER_USAGE), 1000);
	assert_int_equal(window_count(&w, 0, COUNTER_NR_THROTTLED), 1);
}

static void test_missing_counters(void **state)
{
	(void)state;
	for (int side = 0; side < 2; side++) {
		struct window w;
		struct snapshot a = make(0, 0, 0, 0, 0);
		struct snapshot b = make(NSEC_PER_SEC, 300000, 10, 10, 90000);
		struct counters *poor = side ? &b.levels[0].counters : &a.levels[0].counters;
		poor->have = 1U << COUNTER_USAGE;
		window_between(&w, &a, &b);
		assert_false(w.restarted);
		assert_int_equal(w.levels[0].delta.have, 1U << COUNTER_USAGE);
		assert_near(window_cores(&w), 0.3, 1e-9);
		assert_true(isnan(window_throttled_share(&w, 0)));
		assert_int_equal(window_count(&w, 0, COUNTER_NR_THROTTLED), 0);
		poor->have = 0;
		window_between(&w, &a, &b);
		assert_true(isnan(window_cores(&w)));
	}
}

/* A share of active periods: an idle window has none. */
static void test_no_active_period(void **state)
{
	(void)state;
	struct window w;
	struct snapshot a = make(0, 100, 10, 5, 5000);
	struct snapshot b = make(NSEC_PER_SEC, 100, 10, 5, 5000);
	window_between(&w, &a, &b);
	assert_true(isnan(window_throttled_share(&w, 0)));
	assert_near(window_cores(&w), 0, 0);
}

static void test_same_snapshot(void **state)
{
	(void)state;
	struct window w;
	struct snapshot a = make(NSEC_PER_SEC, 100, 10, 5, 5000);
	window_between(&w, &a, &a);
	assert_false(w.restarted);
	assert_int_equal(w.duration_ns, 0);
	assert_true(isnan(window_cores(&w)));
	assert_true(isnan(window_psi_share(&w, PSI_CPU)));
}

static void test_psi(void **state)
{
	(void)state;
	struct window w;
	struct snapshot a = make(0, 0, 0, 0, 0);
	struct snapshot b = make(2 * NSEC_PER_SEC, 0, 0, 0, 0);
	set_psi(&a, PSI_CPU, 100, 0, false);
	set_psi(&b, PSI_CPU, 500100, 0, false);
	set_psi(&a, PSI_IO, 0, 0, true);
	set_psi(&b, PSI_IO, 2000900, 1000000, true); /* a little more than the clock */
	window_between(&w, &a, &b);
	assert_true(w.have_psi[PSI_CPU] && !w.have_psi_full[PSI_CPU]);
	assert_int_equal(w.psi_some_usec[PSI_CPU], 500000);
	assert_near(window_psi_share(&w, PSI_CPU), 0.25, 1e-9);
	assert_true(w.have_psi_full[PSI_IO]);
	assert_near(window_psi_share(&w, PSI_IO), 1, 0);
	assert_false(w.have_psi[PSI_MEMORY]);
	assert_true(isnan(window_psi_share(&w, PSI_MEMORY)));
}

/* Switched off or on in between: no difference, and no restart either. */
static void test_psi_on_one_side(void **state)
{
	(void)state;
	static const enum psi_status missing[] = {PSI_ABSENT, PSI_DISABLED, PSI_DENIED, PSI_BROKEN};
	for (size_t i = 0; i < ARRAY_LEN(missing); i++) {
		for (int side = 0; side < 2; side++) {
			struct window w;
			struct snapshot a = make(0, 0, 0, 0, 0);
			struct snapshot b = make(NSEC_PER_SEC, 10, 0, 0, 0);
			set_psi(&a, PSI_CPU, 100, 100, true);
			set_psi(&b, PSI_CPU, 900, 900, true);
			(side ? &b : &a)->psi_status[PSI_CPU] = missing[i];
			window_between(&w, &a, &b);
			assert_case(!w.have_psi[PSI_CPU] && !w.have_psi_full[PSI_CPU], psi_status_name(missing[i]));
			assert_case(isnan(window_psi_share(&w, PSI_CPU)), psi_status_name(missing[i]));
			assert_case(!w.restarted, psi_status_name(missing[i]));
		}
	}
}

static void test_psi_steps_back(void **state)
{
	(void)state;
	struct window w;
	struct snapshot a = make(0, 0, 0, 0, 0);
	struct snapshot b = make(NSEC_PER_SEC, 10, 0, 0, 0);
	set_psi(&a, PSI_CPU, 1000, 1000, true);
	set_psi(&b, PSI_CPU, 10, 10, true);
	window_between(&w, &a, &b);
	assert_false(w.have_psi[PSI_CPU]);
}

/* Switched off and on again in between: what was waited for meanwhile is in no total. */
static void test_psi_off_and_on(void **state)
{
	(void)state;
	struct window w;
	struct snapshot a = make(0, 0, 0, 0, 0);
	struct snapshot b = make(NSEC_PER_SEC, 10, 0, 0, 0);
	set_psi(&a, PSI_CPU, 100, 100, true);
	set_psi(&b, PSI_CPU, 900, 900, true);
	set_psi(&a, PSI_IO, 100, 100, true);
	set_psi(&b, PSI_IO, 900, 900, true);
	b.psi_epoch[PSI_CPU] = 1;
	window_between(&w, &a, &b);
	assert_false(w.have_psi[PSI_CPU]);
	assert_true(w.have_psi[PSI_IO]);
}

static void test_levels(void **state)
{
	(void)state;
	struct window w;
	struct snapshot a = make(0, 0, 0, 0, 0);
	struct snapshot b = make(NSEC_PER_SEC, 300000, 0, 0, 0);
	a.n_levels = 3;
	b.n_levels = 2;
	a.levels[1].counters.have = b.levels[1].counters.have = ALL_COUNTERS;
	b.levels[1].counters.value[COUNTER_NR_PERIODS] = 10;
	b.levels[1].counters.value[COUNTER_NR_THROTTLED] = 10;
	b.levels[1].counters.value[COUNTER_THROTTLED] = 700000;
	b.levels[1].state = QUOTA_READ;
	b.levels[1].quota = (struct cpu_quota){30000, 100000};
	window_between(&w, &a, &b);
	assert_int_equal(w.n_levels, 2);
	assert_true(w.levels[1].limited);
	assert_near(window_throttled_share(&w, 1), 1, 0);
	assert_int_equal(window_count(&w, 1, COUNTER_THROTTLED), 700000);
	/* the limit of a level above is taken away in between: its counters are not read any more */
	b.levels[1].counters = (struct counters){0};
	a.levels[1].counters.value[COUNTER_NR_THROTTLED] = 5;
	window_between(&w, &a, &b);
	assert_false(w.restarted);
	assert_int_equal(window_count(&w, 1, COUNTER_NR_THROTTLED), 0);
}

static void test_local_throttled(void **state)
{
	(void)state;
	struct window w;
	struct snapshot a = make(0, 0, 0, 0, 0);
	struct snapshot b = make(NSEC_PER_SEC, 0, 0, 0, 0);
	a.have_local_throttled = b.have_local_throttled = true;
	a.local_throttled_usec = 10;
	b.local_throttled_usec = 110;
	window_between(&w, &a, &b);
	assert_true(w.have_local_throttled);
	assert_int_equal(w.local_throttled_usec, 100);
	b.local_throttled_usec = 5;
	window_between(&w, &a, &b);
	assert_false(w.have_local_throttled);
	a.have_local_throttled = false;
	window_between(&w, &a, &b);
	assert_false(w.have_local_throttled);
}

/* ---- the worst second ---------------------------------------------------------------------------------------------
 */

static struct window second(uint64_t usage_usec, uint64_t throttled_usec, uint64_t psi_cpu_usec)
{
	struct window w;
	struct snapshot a = make(0, 0, 0, 0, 0);
	struct snapshot b = make(NSEC_PER_SEC, usage_usec, 10, throttled_usec ? 1 : 0, throttled_usec);
	set_psi(&a, PSI_CPU, 0, 0, true);
	set_psi(&b, PSI_CPU, psi_cpu_usec, 0, true);
	window_between(&w, &a, &b);
	return w;
}

static void test_worst(void **state)
{
	(void)state;
	struct worst worst;
	worst_reset(&worst);
	assert_false(worst.any);
	assert_true(isnan(worst.cores) && isnan(worst.psi_cpu_share) && isnan(worst.psi_io_share));

	struct window busy = second(900000, 0, 0);
	struct window waiting = second(100000, 0, 400000);
	struct window stopped = second(50000, 300000, 300000);
	worst_take(&worst, &waiting);
	worst_take(&worst, &busy); /* pressure goes before use */
	assert_true(worst.any);
	assert_near(worst.psi_cpu_share, 0.4, 1e-9);
	worst_take(&worst, &stopped); /* a stop goes before pressure */
	assert_int_equal(worst.throttled_usec, 300000);
	assert_int_equal(worst.nr_throttled, 1);
	worst_take(&worst, &waiting);
	assert_int_equal(worst.throttled_usec, 300000);
	assert_near(worst.cores, 0.05, 1e-9);
	/* among quiet ones the busiest */
	worst_reset(&worst);
	struct window idle = second(10, 0, 0);
	worst_take(&worst, &idle);
	worst_take(&worst, &busy);
	worst_take(&worst, &idle);
	assert_near(worst.cores, 0.9, 1e-9);
}

static void test_worst_passes_over(void **state)
{
	(void)state;
	struct worst worst;
	struct window restarted = {.restarted = true, .duration_ns = NSEC_PER_SEC};
	struct window empty = {.n_levels = 1};
	worst_reset(&worst);
	worst_take(&worst, &restarted);
	worst_take(&worst, &empty);
	assert_false(worst.any);
}

/* Stops by quotas above count as well. */
static void test_worst_above(void **state)
{
	(void)state;
	struct worst worst;
	struct window w = second(100, 0, 0);
	w.n_levels = 2;
	w.levels[1].delta.have = ALL_COUNTERS;
	w.levels[1].delta.value[COUNTER_NR_THROTTLED] = 4;
	w.levels[1].delta.value[COUNTER_THROTTLED] = 123;
	worst_reset(&worst);
	worst_take(&worst, &w);
	assert_int_equal(worst.nr_throttled, 4);
	assert_int_equal(worst.throttled_usec, 123);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_difference),
		cmocka_unit_test(test_quota_at_the_end),
		cmocka_unit_test(test_restarted_by_identity),
		cmocka_unit_test(test_restarted_by_counter),
		cmocka_unit_test(test_user_steps_back),
		cmocka_unit_test(test_missing_counters),
		cmocka_unit_test(test_no_active_period),
		cmocka_unit_test(test_same_snapshot),
		cmocka_unit_test(test_psi),
		cmocka_unit_test(test_psi_on_one_side),
		cmocka_unit_test(test_psi_steps_back),
		cmocka_unit_test(test_psi_off_and_on),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_local_throttled),
		cmocka_unit_test(test_worst),
		cmocka_unit_test(test_worst_passes_over),
		cmocka_unit_test(test_worst_above),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
