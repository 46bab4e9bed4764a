/* stop.h - one flag that ends everything that sleeps or computes.
 *
 * Sleeping is done on the flag itself (a futex with an absolute CLOCK_MONOTONIC time-out): precise like
 * clock_nanosleep, yet woken at once by stop_now(), without a lock that thousands of sleepers share.
 */
#ifndef HEADROOM_PROBE_STOP_H
#define HEADROOM_PROBE_STOP_H

#include "base.h"

#include <stdatomic.h>

struct stop {
	_Atomic uint32_t word; /* 0 = go on */
};

/* Ends all present and future sleeps. */
void stop_now(struct stop *s);

static inline bool stop_requested(const struct stop *s)
{
	return atomic_load_explicit(&s->word, memory_order_relaxed) != 0;
}

/* 0 at the instant (or at once, when it has passed), -ECANCELED when stopped before. */
int stop_sleep_until(struct stop *s, int64_t mono_ns);

#endif
