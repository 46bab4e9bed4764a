/* cpulist.h - sets of CPUs as the kernel writes them: "0-3,8,10-11". Pure. */
#ifndef HEADROOM_CPULIST_H
#define HEADROOM_CPULIST_H

#include "fault.h"

enum { CPULIST_MAX = 8192 }; /* NR_CPUS of the largest distribution kernels */

struct cpulist {
	uint64_t bits[CPULIST_MAX / 64];
};

/* White space around it is fine; an empty text is the empty set. -EINVAL malformed or a range that
 * runs backwards, -ERANGE a CPU number above the maximum. */
int cpulist_parse(const char *text, struct cpulist *out, struct fault *f) MUST_CHECK;

unsigned cpulist_count(const struct cpulist *list);

/* *list becomes the CPUs that are in both. */
void cpulist_intersect(struct cpulist *list, const struct cpulist *other);

#endif
