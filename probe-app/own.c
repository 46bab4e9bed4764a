#include "own.h"

#include "snapshot.h"

#include <errno.h>
#include <math.h>
#include <sched.h>

int own_affinity_cpus(uint32_t *cpus, struct fault *f)
{
	/* sched_getaffinity() refuses a mask that is smaller than the kernel's: grow until it fits */
	for (size_t n = 1024; n <= 1024 * 1024; n *= 4) {
		cpu_set_t *set = CPU_ALLOC(n);
		if (!set)
			return fault_set(f, ENOMEM, "affinity mask");
		int rc = sched_getaffinity(0, CPU_ALLOC_SIZE(n), set);
		*cpus = rc == 0 ? (uint32_t)CPU_COUNT_S(CPU_ALLOC_SIZE(n), set) : 0;
		CPU_FREE(set);
		if (rc == 0)
			return 0;
		if (errno != EINVAL)
			break;
	}
	return fault_set(f, errno, "cannot read the affinity mask");
}

static int take_own_snapshot(struct snapshot *s, struct fault *f)
{
	CLEANUP_CGROUP_TARGET struct cgroup_target target = CGROUP_TARGET_NONE;
	CLEANUP_TREE struct tree root = TREE_CLOSED;
	struct reader reader;
	int rc = tree_open(&root, "/", f);
	if (rc == 0)
		rc = cgroup_resolve_process(&target, &root, "self", f);
	if (rc == 0)
		rc = reader_open(&reader, &target, f);
	if (rc < 0)
		return rc;
	rc = reader_take(&reader, SNAPSHOT_FULL, s, f);
	reader_close(&reader);
	return rc;
}

uint32_t own_round_quota(double quota_cpus, uint32_t affinity)
{
	double up = ceil(quota_cpus);
	if (!(up > 1))
		return 1;
	return up < (double)affinity ? (uint32_t)up : affinity;
}

int own_quota_cpus(uint32_t *cpus, struct fault *f)
{
	struct snapshot s = {0};
	int rc = own_affinity_cpus(cpus, f);
	if (rc == 0)
		rc = take_own_snapshot(&s, f);
	if (rc < 0)
		return rc;
	struct limit limit = limit_of(&s);
	if (limit.status == LIMIT_UNKNOWN)
		return fault_set(f, -EIO, "the CPU quota of this cgroup cannot be read: give a number");
	if (limit.status == LIMIT_SET)
		*cpus = own_round_quota(cpu_quota_cpus(&limit.quota), *cpus);
	return 0;
}

int own_throttled_periods(uint64_t *periods, bool *limited, struct fault *f)
{
	struct snapshot s = {0};
	int rc = take_own_snapshot(&s, f);
	if (rc < 0)
		return rc;
	*periods = 0;
	for (size_t i = 0; i < s.n_levels; i++)
		if (counters_have(&s.levels[i].counters, COUNTER_NR_THROTTLED))
			*periods += s.levels[i].counters.value[COUNTER_NR_THROTTLED];
	*limited = limit_of(&s).status == LIMIT_SET;
	return 0;
}
