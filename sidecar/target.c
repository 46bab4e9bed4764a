#include "target.h"

#include "program.h"
#include "units.h"

#include <errno.h>
#include <string.h>

const char *target_way_name(enum target_way way)
{
	static const char *const names[] = {"explicit cgroup",      "explicit pid", "host view",
					    "shared PID namespace", "own cgroup",   "node"};
	return names[way];
}

int target_check_query(const struct target_query *q, struct fault *f)
{
	uint64_t pid;
	int ways = (q->pid != NULL) + (q->cgroup != NULL) + (q->host_cgroup != NULL);
	if (ways > 1)
		return fault_set(f, -EINVAL,
				 "--pid, --cgroup and --host-cgroup are three ways to one target: give one of them");
	if ((q->pod_uid || q->container_id) && !q->host_cgroup)
		return fault_set(
			f, -EINVAL,
			"--pod-uid and --container-id need --host-cgroup, the mount of the host's cgroup tree");
	if (q->host_cgroup && !q->pod_uid && !q->container_id && !q->node)
		return fault_set(f, -EINVAL, "--host-cgroup needs --pod-uid, --container-id or --node");
	if (q->node && (!q->host_cgroup || q->pod_uid || q->container_id))
		return fault_set(f, -EINVAL,
				 "--node needs --host-cgroup, without --pod-uid and --container-id: it is all of them");
	if ((q->pod_logs || q->container_logs) && !q->node)
		return fault_set(f, -EINVAL, "--pod-logs and --container-logs give names to --node");
	if (q->pid && (units_parse_u64(q->pid, &pid, f) < 0 || pid < 1 || pid > INT32_MAX))
		return fault_set(f, -EINVAL, "--pid '%s' is no process id", q->pid);
	return 0;
}

static int resolve_host(struct target *out, const struct tree *t, const struct target_query *q, struct fault *f)
{
	out->is_host_view = true;
	int rc = hostview_open(&out->host, t, q->host_cgroup, f);
	out->cgroup.version = out->host.version;
	if (rc == 0)
		rc = hostview_find(&out->pod, &out->host, t, q->pod_uid, q->container_id, f);
	if (rc < 0)
		return rc;
	const char *below = out->pod.below;
	const struct host_container *one = host_pod_container(&out->pod, q->container_id);
	if (q->container_id && !one)
		return fault_set(f, -ENOENT, "pod %s has no container %s (any more)", q->pod_uid, q->container_id);
	/* without a pod level the pod's only container stands for it */
	if (!one && !below && out->pod.n == 1)
		one = &out->pod.containers[0];
	if (!one && !below)
		return fault_set(f, -ENOENT, "pod %s has %zu containers but no cgroup of its own: give --container-id",
				 q->pod_uid, out->pod.n);
	return hostview_target(&out->cgroup, &out->host, t, one ? one->below : below, f);
}

/* An explicit cgroup: the affinity of one of its processes counts, not ours. The pid could be another process's by now,
 * or of another tree: it must belong to that very cgroup. */
static void find_member(struct target *out, const struct tree *t)
{
	CLEANUP_CGROUP_TARGET struct cgroup_target of_pid = CGROUP_TARGET_NONE;
	program_first_pid(&out->cgroup, out->member);
	if (out->member[0] && cgroup_resolve_process(&of_pid, t, out->member, NULL) == 0 && of_pid.cpu.name &&
	    strcmp(of_pid.cpu.name, out->cgroup.cpu.name) == 0)
		out->proc_name = out->member;
}

int target_resolve(struct target *out, const struct tree *t, const struct target_query *q, struct fault *f)
{
	*out = (struct target){.cgroup = CGROUP_TARGET_NONE};
	if (q->host_cgroup)
		return resolve_host(out, t, q, f);
	if (q->cgroup) {
		int rc = cgroup_resolve_path(&out->cgroup, t, q->cgroup, f);
		if (rc == 0)
			find_member(out, t);
		return rc;
	}
	out->proc_name = q->pid ? q->pid : "self";
	return cgroup_resolve_process(&out->cgroup, t, out->proc_name, f);
}

void target_release(struct target *t)
{
	cgroup_target_release(&t->cgroup);
	host_pod_release(&t->pod);
	hostview_close(&t->host);
}
