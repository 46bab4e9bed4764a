/* cpus.h - the numbers of CPUs that people confuse.
 *
 * online:   what the node has switched on (not `possible`, not last + 1)
 * nproc:    what the affinity mask of the target allows and is online; what `nproc` used to print
 * cpuset:   the effective cpuset of the nearest level that has one
 * effective: min(nproc, cpuset, quota): what the target can really use
 */
#ifndef HEADROOM_CPUS_H
#define HEADROOM_CPUS_H

#include "cgroup.h"
#include "snapshot.h"

struct cpu_counts {
	bool have_online, have_nproc, have_cpuset;
	unsigned online, nproc, cpuset;
};

/* Reads them: online from the tree's /sys, the affinity of process `proc_name` from its /proc (NULL: there is no
 * process; nproc is the cpuset then), the cpuset from the target. What cannot be had stays unset. */
void cpus_read(struct cpu_counts *out, const struct tree *t, const char *proc_name, const struct cgroup_target *target);

/* min(nproc, cpuset, quota) as a number of CPUs; NaN when the limit is unknown or there is no count at all. */
double cpus_effective(const struct cpu_counts *c, const struct limit *limit);

#endif
