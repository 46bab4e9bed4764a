/* fleet.h - everything that one sidecar watches, and its own vital signs. */
#ifndef HEADROOM_SIDECAR_FLEET_H
#define HEADROOM_SIDECAR_FLEET_H

#include "log.h"
#include "watch.h"

struct vitals {
	int64_t started_mono_ns, started_wall_ns;
	int64_t interval_ns;
	uint64_t ticks;         /* samples of all watches taken together count once */
	uint64_t late_ticks;    /* begun more than half an interval after their instant */
	uint64_t missed_ticks;  /* instants that passed without a sample */
	int64_t started_cpu_ns; /* CPU time of this process when the sampling began */
};

struct fleet {
	struct watch **watches; /* owned array of n pointers, each owned */
	size_t n;
	const char *
		way; /* how the targets are found: "cgroup", "pid", "host view", "shared PID namespace", "own cgroup" */
	uint64_t run_id; /* part of every token: one of another run of the sidecar is not known here */
	uint64_t tokens; /* given to clients of /report so far */
	struct vitals vitals;
	struct log log;
	struct textfile proc_stat; /* of the node */
	bool own_open;             /* our own cgroup could be opened */
	struct reader own;
};

/* CPU time of the whole process, HTTP and logging included, for each sample: reading the clock of one thread twice at
 * every sample would be a tenth of what is measured. NaN before the first. */
double fleet_cpu_us_per_sample(const struct fleet *fleet);

/* Opens what is the node's and what is our own, not a container's. What is not there is missing from the witnesses. */
void fleet_open(struct fleet *fleet, const struct tree *t);
void fleet_close(struct fleet *fleet);

/* Our own throttling: a sidecar with a small limit is itself a known source of alerts. False: nothing is known. */
bool fleet_own_throttling(const struct fleet *fleet, uint64_t *nr_throttled, uint64_t *throttled_usec);

/* The other witnesses of a watch, open or denied: the node's ticks, the run-queue wait of its threads. */
void fleet_take_witnesses(const struct fleet *fleet, struct watch *w);

/* A full sample and its witnesses at the same instant: where a window of an open watch begins or ends. As
 * watch_sample(). */
int fleet_sample_full(const struct fleet *fleet, struct watch *w, struct fault *f);

#endif
