/* own.h - the CPUs that this very process may use. */
#ifndef HEADROOM_PROBE_OWN_H
#define HEADROOM_PROBE_OWN_H

#include "fault.h"

/* CPUs of the affinity mask: what nproc printed before coreutils 9.8, and what most thread pools are
 * sized by. At least 1. */
int own_affinity_cpus(uint32_t *cpus, struct fault *f) MUST_CHECK;

/* The least CPU quota of the own cgroup and those above it, rounded up, at least 1; the CPUs of the affinity
 * mask when there is no quota. Unreadable limits are an error: a guess would be taken for a limit. */
int own_quota_cpus(uint32_t *cpus, struct fault *f) MUST_CHECK;

/* ceil(cpus), at least 1 and not above `affinity`. Pure. */
uint32_t own_round_quota(double quota_cpus, uint32_t affinity);

/* Periods in which the own cgroup, or one above it, was stopped by its quota: only its growth means something.
 * *limited is false when there is no quota at all. Negative errno when the counters cannot be read. */
int own_throttled_periods(uint64_t *periods, bool *limited, struct fault *f) MUST_CHECK;

#endif
