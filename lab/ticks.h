/* ticks.h - the period timer of a quota, as seen by somebody who reads cpu.stat every ms. Pure.
 *
 * nr_periods grows at the timer's ticks, while something wants to run. The ticks keep one grid for the life of a
 * cgroup, also across idle times, so the ticks that were seen tell all others. throttled_usec grows when a
 * run queue is released: an increase of d seen at t says "throttled from t - d to t" (one run queue; with several
 * of them d is a sum, and the interval is cut at the end of the one before).
 */
#ifndef HEADROOM_LAB_TICKS_H
#define HEADROOM_LAB_TICKS_H

#include "fault.h"

struct tick_sample {
	int64_t mono_ns;
	uint64_t nr_periods, nr_throttled, throttled_usec;
	uint64_t usage_usec; /* carried along; a change of it alone is none */
};

/* One change. It happened between two readings: at mono_ns, give or take half_gap_ns. */
struct tick {
	struct tick_sample at;
	int64_t half_gap_ns;
	bool is_tick; /* nr_periods grew; else only what belongs to the tick before it */
	uint64_t throttled_more_usec;
};

struct ticks {
	struct tick *list;
	size_t n, room;
	struct tick_sample last;
	bool started;
};

#define TICKS_NONE ((struct ticks){0})

/* Takes one reading; instants must not run backwards. -ENOMEM. */
int ticks_observe(struct ticks *t, const struct tick_sample *now, struct fault *f) MUST_CHECK;
void ticks_release(struct ticks *t);

/* Time from `instant` to the next tick of the grid, in [0, period): the median over the ticks that were seen sharply (a
 * reading that came late is left out). False when no tick was seen. When instants repeat in multiples of the period,
 * this is the phase of each of them. */
bool ticks_phase_ns(const struct ticks *t, int64_t instant_ns, int64_t period_ns, int64_t *phase_ns);

/* The first instant at or after `earliest` from which the next tick is phase_ns away; `known_phase` is the phase of
 * `known`, as ticks_phase_ns() told it. */
int64_t ticks_instant_with_phase(int64_t earliest_ns, int64_t known_ns, int64_t known_phase_ns, int64_t period_ns,
				 int64_t phase_ns);

/* How much of [from, to) was throttled, in ns. */
int64_t ticks_throttled_within(const struct ticks *t, int64_t from_ns, int64_t to_ns);

#endif
