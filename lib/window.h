/* window.h - the difference of two snapshots of one cgroup. Pure.
 *
 * A difference belongs to one identity: when the folder's inode changed, or a counter went back, the cgroup was made
 * anew between the two, and the window says "restarted" and nothing else. A counter that is missing in either snapshot
 * is missing in the difference.
 */
#ifndef HEADROOM_WINDOW_H
#define HEADROOM_WINDOW_H

#include "snapshot.h"

struct window {
	bool restarted;
	int64_t duration_ns; /* on the monotonic clock, > 0 unless the two are the same */
	size_t n_levels;     /* the smaller of both; level 0 = the target */
	struct {
		bool limited; /* there is a quota at this level at the end of the window */
		struct cpu_quota quota;
		struct counters delta;
	} levels[SNAPSHOT_LEVELS_MAX];
	bool have_local_throttled;
	uint64_t local_throttled_usec;
	bool have_psi[PSI_RESOURCES], have_psi_full[PSI_RESOURCES];
	uint64_t psi_some_usec[PSI_RESOURCES], psi_full_usec[PSI_RESOURCES]; /* wall time */
};

void window_between(struct window *out, const struct snapshot *from, const struct snapshot *to);

/* CPU time per wall time, in CPUs; NaN when usage is not there or the window is empty. */
double window_cores(const struct window *w);

/* Part of the window's wall time, 0..1 (the difference of `some` can be a little above the clock's); NaN when absent.
 */
double window_psi_share(const struct window *w, enum psi_resource r);

/* nr_throttled / nr_periods of a level: a share of *active* periods. NaN when there were none or no counters. */
double window_throttled_share(const struct window *w, size_t level);

/* The value of a counter's difference, 0 when it is missing: for sums in which "missing" adds nothing. */
uint64_t window_count(const struct window *w, size_t level, enum counter c);

/* The worst short window of a longer time, beside its mean: the second with the longest stop for lack of quota, else
 * with the most pressure, else with the most CPU use. */
struct worst {
	bool any;
	double cores, psi_cpu_share, psi_io_share; /* NaN = not there */
	uint64_t nr_throttled, throttled_usec;     /* of all visible levels */
};

void worst_reset(struct worst *w);
void worst_take(struct worst *w, const struct window *second);

#endif
