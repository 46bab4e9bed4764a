#include "ticks.h"

#include "stats.h"

#include <errno.h>

/* A reading later than this after the one before does not tell when the tick was. */
enum { SHARP_HALF_GAP_NS = 1500000 };

static struct tick *next_place(struct ticks *t, struct fault *f)
{
	if (t->n == t->room) {
		size_t room = t->room ? 2 * t->room : 256;
		struct tick *list = reallocarray(t->list, room, sizeof *list);
		if (!list) {
			fault_set(f, ENOMEM, "ticks of the period timer");
			return NULL;
		}
		t->list = list;
		t->room = room;
	}
	return &t->list[t->n++];
}

static bool same_counts(const struct tick_sample *a, const struct tick_sample *b)
{
	return a->nr_periods == b->nr_periods && a->nr_throttled == b->nr_throttled &&
	       a->throttled_usec == b->throttled_usec;
}

int ticks_observe(struct ticks *t, const struct tick_sample *now, struct fault *f)
{
	if (t->started && !same_counts(&t->last, now)) {
		struct tick *tick = next_place(t, f);
		if (!tick)
			return -ENOMEM;
		*tick = (struct tick){.at = *now,
				      .half_gap_ns = (now->mono_ns - t->last.mono_ns) / 2,
				      .is_tick = now->nr_periods > t->last.nr_periods};
		tick->at.mono_ns -= tick->half_gap_ns;
		if (now->throttled_usec > t->last.throttled_usec)
			tick->throttled_more_usec = now->throttled_usec - t->last.throttled_usec;
	}
	t->last = *now;
	t->started = true;
	return 0;
}

void ticks_release(struct ticks *t)
{
	free(t->list);
	*t = TICKS_NONE;
}

static int64_t modulo(int64_t a, int64_t n)
{
	int64_t r = a % n;
	return r < 0 ? r + n : r;
}

/* Phases live on a circle: they are turned so that the first one lies in the middle, or 0.2 and 99.8 ms would have a
 * median of 50. */
bool ticks_phase_ns(const struct ticks *t, int64_t instant_ns, int64_t period_ns, int64_t *phase_ns)
{
	CLEANUP_FREE int64_t *phases = malloc((t->n + 1) * sizeof *phases);
	size_t n = 0;
	int64_t turn = 0;
	for (size_t i = 0; phases && i < t->n; i++) {
		if (!t->list[i].is_tick || t->list[i].half_gap_ns > SHARP_HALF_GAP_NS)
			continue;
		int64_t phase = modulo(t->list[i].at.mono_ns - instant_ns, period_ns);
		if (n == 0)
			turn = phase - period_ns / 2;
		phases[n++] = modulo(phase - turn, period_ns);
	}
	if (n == 0)
		return false;
	stats_sort(phases, n);
	*phase_ns = modulo(stats_median(phases, n) + turn, period_ns);
	return true;
}

int64_t ticks_instant_with_phase(int64_t earliest_ns, int64_t known_ns, int64_t known_phase_ns, int64_t period_ns,
				 int64_t phase_ns)
{
	int64_t wanted_ns = known_ns + known_phase_ns - phase_ns;
	return earliest_ns + modulo(wanted_ns - earliest_ns, period_ns);
}

int64_t ticks_throttled_within(const struct ticks *t, int64_t from_ns, int64_t to_ns)
{
	int64_t sum_ns = 0;
	int64_t previous_end_ns = INT64_MIN;
	for (size_t i = 0; i < t->n; i++) {
		const struct tick *tick = &t->list[i];
		if (tick->throttled_more_usec == 0)
			continue;
		int64_t end_ns = tick->at.mono_ns;
		int64_t begin_ns = end_ns - (int64_t)tick->throttled_more_usec * NSEC_PER_USEC;
		begin_ns = begin_ns > previous_end_ns ? begin_ns : previous_end_ns;
		previous_end_ns = end_ns;
		int64_t low = begin_ns > from_ns ? begin_ns : from_ns;
		int64_t high = end_ns < to_ns ? end_ns : to_ns;
		sum_ns += high > low ? high - low : 0;
	}
	return sum_ns;
}
