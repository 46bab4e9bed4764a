/* demand.h - CPU demand inside single quota periods, seen continuously from 10 ms samples. Pure.
 *
 * A mean over a second hides that the quota is handed out every 100 ms. Here the CPU time of every period is found by
 * cutting the usage curve at the period's boundaries (between two samples it is estimated, so a period's figure is
 * right within one sampling interval's CPU). Where there is a quota, the grid of the kernel's period timer is learnt
 * from the samples between which nr_periods grew; without one a grid of 100 ms serves. Nothing is allocated.
 */
#ifndef HEADROOM_DEMAND_H
#define HEADROOM_DEMAND_H

#include "snapshot.h"

/* Upper bounds (inclusive) of the histogram in CPUs; a last bucket holds the rest. */
enum { DEMAND_BUCKETS = 13 };
extern const double demand_bounds_cores[DEMAND_BUCKETS];

struct demand {
	int64_t period_ns;
	uint64_t quota_usec; /* QUOTA_NONE: nothing can run out */

	/* the timer's phase: ticks are at phase_ns + k x period_ns, give or take half of phase_width_ns */
	bool have_phase;
	int64_t phase_ns, phase_width_ns;
	/* a tick that does not fit: noise (the timer or the sample was late), unless the next one says the same */
	bool in_doubt;
	int64_t doubt_low_ns, doubt_width_ns;

	uint64_t periods;                     /* whole periods seen */
	uint64_t buckets[DEMAND_BUCKETS + 1]; /* each period once, not cumulative */
	double sum_cores;
	uint64_t exhausted;          /* periods in which the budget ran out */
	int64_t exhausted_at_ns_sum; /* sum over them: from the period's start to that moment */

	/* state between samples */
	bool started;
	int64_t last_ns, boundary_ns; /* boundary_ns = end of the period under way */
	uint64_t last_usage_usec, last_nr_periods;
	double last_rate; /* usec of CPU per ns, between the two samples before */
	double period_usec_used;
	bool whole; /* the period under way was seen from its beginning */
	bool period_exhausted;
};

void demand_init(struct demand *d);

/* One sample, in order of time: usage of the target and the figures of the level whose quota binds (quota QUOTA_NONE:
 * none). A usage that went back starts anew. */
void demand_take(struct demand *d, int64_t mono_ns, uint64_t usage_usec, const struct cpu_quota *quota,
		 uint64_t nr_periods);

/* Mean of the periods in CPUs, and the mean instant of running out in ms after the period's start; NaN without any. */
double demand_mean_cores(const struct demand *d);
double demand_exhausted_at_ms(const struct demand *d);

#endif
