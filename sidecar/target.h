/* target.h - which cgroups are watched, and by which way they are found. */
#ifndef HEADROOM_SIDECAR_TARGET_H
#define HEADROOM_SIDECAR_TARGET_H

#include "cgroup.h"
#include "hostview.h"

/* What the command line asks for; all NULL: our own cgroup. At most one of the ways. */
struct target_query {
	const char *root;           /* --root, "/" */
	const char *pid;            /* --pid, in decimal */
	const char *cgroup;         /* --cgroup */
	const char *host_cgroup;    /* --host-cgroup */
	const char *pod_uid;        /* --pod-uid */
	const char *container_id;   /* --container-id */
	const char *container;      /* --container: name or beginning of an id, in a shared PID namespace */
	bool node;                  /* --node: every pod below host_cgroup */
	const char *pod_logs;       /* --pod-logs: where names of pods are (node.h) */
	const char *container_logs; /* --container-logs: the same for containers */
};

/* In the order of choice. */
enum target_way { WAY_CGROUP, WAY_PID, WAY_HOST_VIEW, WAY_SHARED_PIDS, WAY_OWN_CGROUP, WAY_NODE };

/* "explicit cgroup", "explicit pid", "host view", "shared PID namespace", "own cgroup", "node" */
const char *target_way_name(enum target_way way);

/* 0, or -EINVAL with a sentence about options that do not go together. */
int target_check_query(const struct target_query *q, struct fault *f) MUST_CHECK;

/* One resolved target with what was found on the way. */
struct target {
	struct cgroup_target cgroup;
	const char *proc_name; /* whose affinity counts: "self", a pid, or `member`; NULL: none */
	char member[16];       /* a process of an explicit cgroup, when one is visible */
	struct host_pod pod;   /* host view only */
	struct hostview host;  /* host view only */
	bool is_host_view;
};

int target_resolve(struct target *out, const struct tree *t, const struct target_query *q, struct fault *f) MUST_CHECK;
void target_release(struct target *t);

#endif
