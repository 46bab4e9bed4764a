/* clock.h - two clocks that are never mixed.
 *
 * Every difference is taken on the monotonic clock. The wall clock is read once per line that a
 * person reads. All instants and durations are int64_t nanoseconds (292 years).
 */
#ifndef HEADROOM_CLOCK_H
#define HEADROOM_CLOCK_H

#include "base.h"

/* CLOCK_MONOTONIC: does not step, stands still during suspend. The same clock in every process of
 * a host, so instants of sidecar, probe and load can be joined. */
int64_t clock_mono_ns(void);

/* CLOCK_REALTIME, ns since 1970. For people, and for --start-at, which several machines share. */
int64_t clock_wall_ns(void);

/* CPU time used by the calling thread / the whole process. */
int64_t clock_thread_cpu_ns(void);
int64_t clock_process_cpu_ns(void);

/* Sleeps to an absolute monotonic instant (returns at once when it has passed); goes on after signals.
 * 0, or -EINTR when `stop` is given and *stop became non-zero. */
int clock_sleep_until_ns(int64_t mono_ns, const volatile int *stop);

/* RFC 3339 in UTC with milliseconds: "2026-11-30T22:03:17.042Z" (24 characters and a NUL). */
enum { CLOCK_RFC3339_SIZE = 32 };
void clock_rfc3339(int64_t wall_ns, char out[CLOCK_RFC3339_SIZE]);

#endif
