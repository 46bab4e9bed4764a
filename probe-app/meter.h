/* meter.h - what a thread's time went into: wall clock, CPU, and waiting for a CPU.
 *
 * The kernel keeps two figures for every thread: the CPU time it used (CLOCK_THREAD_CPUTIME_ID) and the
 * time it was ready to run but had no CPU, the second field of /proc/thread-self/schedstat. The latter
 * covers both waiting for other threads and being stopped by a CPU quota. What remains of the wall time
 * was spent asleep. A thread can only be measured by itself: a meter belongs to the thread that opened it.
 */
#ifndef HEADROOM_PROBE_METER_H
#define HEADROOM_PROBE_METER_H

#include "base.h"

/* A figure that is not known: schedstat cannot be read, or the request never came that far. */
#define METER_UNKNOWN INT64_C(-1)

struct meter {
	int fd; /* the thread's schedstat, -1 when it cannot be read */
};

struct reading {
	int64_t mono_ns;     /* CLOCK_MONOTONIC */
	int64_t cpu_ns;      /* used by this thread so far */
	int64_t runqueue_ns; /* waited for a CPU so far, METER_UNKNOWN when schedstat cannot be read */
};

/* Between two readings. asleep_ns is neither running nor ready; when the run-queue wait is unknown it
 * is part of asleep_ns. Nothing but runqueue_ns can be METER_UNKNOWN, nothing else is negative. */
struct elapsed {
	int64_t wall_ns, cpu_ns, runqueue_ns, asleep_ns;
};

/* Opens the calling thread's schedstat. Never fails: without it runqueue_ns is unknown. */
void meter_open(struct meter *m);
void meter_close(struct meter *m);

/* Waited for a CPU so far, or METER_UNKNOWN. One pread: 1 to 2.5 us. */
int64_t meter_runqueue_ns(const struct meter *m);

struct reading meter_read(const struct meter *m);
struct elapsed meter_between(const struct reading *from, const struct reading *to);

#endif
