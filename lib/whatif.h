/* whatif.h - the same requests under another limit: a replay through a model of the quota. Pure.
 *
 * What is replayed are observed arrivals with the CPU time (and deliberate wait) that each request cost. The model:
 *
 *   - a FIFO queue and `workers` workers, each with one request at a time, on at most `cpus` CPUs;
 *   - a pool of quota that is filled up at every tick of the period timer (phase + k x period), by the quota, up to
 * quota + burst (cpu.max.burst);
 *   - a CPU takes 5 ms from the pool when what it has is used up (kernel/sched/fair.c: sched_cfs_bandwidth_slice_us),
 * keeps at most 1 ms when it falls idle and gives the rest back (min_cfs_rq_runtime);
 *   - a CPU that finds the pool empty stands still until the next tick; a tick that finds one standing still counts
 *     as a throttled period (nr_throttled).
 *
 * Left out: contention with others, the time the kernel needs to notice (a tick of 1 to 4 ms), slices that are stranded
 * when a thread moves to another CPU. A prediction is to be shown beside a measurement whenever there is one.
 */
#ifndef HEADROOM_WHATIF_H
#define HEADROOM_WHATIF_H

#include "kv.h"

struct whatif_request {
	int64_t arrived_ns; /* at the server; ascending */
	int64_t cpu_ns;     /* CPU time it needs, everything that the server does for it included */
	int64_t wait_ns;    /* deliberate wait, after the CPU time; it holds its worker */
};

struct whatif_model {
	struct cpu_quota quota; /* QUOTA_NONE: no limit */
	uint64_t burst_usec;
	int64_t phase_ns; /* an instant at which a tick happens; any instant of the grid will do */
	unsigned workers; /* 1 or more */
	unsigned cpus;    /* 1 or more */
};

struct whatif_outcome {
	uint64_t nr_periods;   /* in which something ran or wanted to */
	uint64_t nr_throttled; /* of these, with a CPU standing still at their end */
	int64_t stopped_ns;    /* sum of the times that CPUs stood still */
};

/* Time step of the replay: ends are right within it. */
enum { WHATIF_STEP_NS = 50000 };

enum { WHATIF_WORKERS_MAX = 256 };

/* ended_ns[i] is when request i was done (not before its arrival). 0, or -EINVAL for a model out of bounds; those of
 * the kernel hold: a period of 1 ms to 1 s, a quota of at least 1 ms. */
int whatif_replay(const struct whatif_request *requests, size_t n, const struct whatif_model *model, int64_t *ended_ns,
		  struct whatif_outcome *outcome) MUST_CHECK;

#endif
