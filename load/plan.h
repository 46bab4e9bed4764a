/* plan.h - schedules as data: the instants at which requests are due, fixed before the run.
 *
 * Offsets are ns after the first instant of the schedule, ascending; several may be equal (a burst).
 * Pure: no clock, no file. A plan belongs to the caller; free it with plan_free() also after a failure.
 * The schedule covers the half-open time [0, duration): 20 s at one every 50 ms are 400 instants.
 * All functions return 0 or a negative errno with one sentence: -EINVAL, -ERANGE (more than PLAN_MAX
 * instants, or none at all), -ENOMEM.
 */
#ifndef HEADROOM_PLAN_H
#define HEADROOM_PLAN_H

#include "fault.h"

enum { PLAN_MAX = 50000000 };

struct plan {
	int64_t *offset_ns;
	size_t n;
	int64_t duration_ns; /* of the whole schedule */
};

void plan_free(struct plan *p);

/* One every interval_ns. */
int plan_paced(struct plan *p, int64_t interval_ns, int64_t duration_ns, struct fault *f) MUST_CHECK;

/* per_second of them, evenly; number i is due at i / per_second rounded to ns, so the rate does not drift. */
int plan_rate(struct plan *p, double per_second, int64_t duration_ns, struct fault *f) MUST_CHECK;

/* `size` at once, every every_ns. */
int plan_burst(struct plan *p, uint64_t size, int64_t every_ns, int64_t duration_ns, struct fault *f) MUST_CHECK;

/* Exponentially distributed gaps (independent users). The same seed gives the same plan. */
int plan_poisson(struct plan *p, double per_second, uint64_t seed, int64_t duration_ns, struct fault *f) MUST_CHECK;

/* The rate changes linearly from `from` to `to` per second; either may be the higher one, `from` may be 0. */
int plan_ramp(struct plan *p, double from, double to, int64_t duration_ns, struct fault *f) MUST_CHECK;

/* Recorded arrival times (any order; sorted here, in place): the earliest becomes offset 0. speed 2 replays in half
 * the time. duration_ns > 0 cuts what comes later; 0 replays all of it. */
int plan_recorded(struct plan *p, int64_t *times_ns, size_t n, double speed, int64_t duration_ns,
		  struct fault *f) MUST_CHECK;

/* Keeps instants index, index + count, index + 2 count, ... of the whole schedule, for one of `count` senders.
 * An empty share is allowed. -EINVAL unless index < count. */
int plan_shard(struct plan *p, unsigned index, unsigned count, struct fault *f) MUST_CHECK;

/* The most instants that lie in any half-open window of that length. */
size_t plan_most_within(const struct plan *p, int64_t window_ns);

/* The gap before instant i: to the last earlier instant that differs; the gap after it for the first ones. 0 when
 * all are equal. */
int64_t plan_gap_before(const struct plan *p, size_t i);

#endif
