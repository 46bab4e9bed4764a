/* discover.h - the neighbours: the other containers in a shared PID namespace, found without any privilege.
 *
 * /proc/PID/cgroup is readable for every process that is visible; from inside a container it shows the others as
 * 0::/../cri-containerd-<64 hex>.scope (v2), or with their whole path (v1, or the host's cgroup namespace). Processes
 * are grouped by that id. Container name and pod uid stand in /proc/PID/mountinfo, where the kubelet binds the
 * termination log: .../pods/<pod uid>/containers/<container name>/<8 hex>. Nobody else is asked.
 *
 * When this way applies: our own process is in a container (its own id can be seen, or others are seen as "/../...",
 * so that our cgroup namespace is not the host's), and another container can be seen. On a bare host with Docker
 * containers it does not apply.
 *
 * Left out: our own container, pause (a process 1 of that name, or a container that holds nothing else), processes
 * that are in no container, and containers of other pods (hostPID) when our own pod is known.
 *
 * Nothing about a neighbour is trusted: ids are 64 hexadecimal digits, names and uids letters, digits and '-', anything
 * else counts as unknown, so that they can be printed as they are. A process that ends between listing and reading is
 * no error. A scan allocates nothing; it costs 7 us of CPU (v2) to 12 us (a dozen v1 hierarchies) for each
 * visible process.
 */
#ifndef HEADROOM_SIDECAR_DISCOVER_H
#define HEADROOM_SIDECAR_DISCOVER_H

#include "cgroup.h"
#include "discover_text.h"

enum {
	NEIGHBOURS_MAX = 64,    /* containers that are kept */
	NEIGHBOUR_PIDS_MAX = 4, /* processes through which a container's cgroup is tried */
};

struct neighbour {
	char id[CONTAINER_ID_LEN + 1];
	char name[NEIGHBOUR_NAME_SIZE]; /* "" when unknown (plain Docker) */
	char pod_uid[POD_UID_SIZE];     /* "" when unknown */
	/* In the order in which to try them with cgroup_resolve_process(): first a process that looks as if we may
	 * look into it (its files belong to our uid and gid), then the lowest. The first one stays the same for as long
	 * as it lives and nothing better comes. n_pids is 1 or more. */
	int32_t pids[NEIGHBOUR_PIDS_MAX];
	unsigned n_pids;
	unsigned n_processes; /* seen by the last scan */
	bool is_new;          /* the last scan was the first to see it */
};

/* The name, or the first 12 characters of the id: for labels and sentences. In a buffer of the neighbour's own. */
const char *neighbour_label(const struct neighbour *n, char out[NEIGHBOUR_NAME_SIZE]);

enum discovery_way {
	DISCOVERY_NOT_CONTAINED, /* we are in no container (or its cgroups are the host's and show no id) */
	DISCOVERY_ALONE,         /* in a container, no other one is visible: watch the own cgroup */
	DISCOVERY_SHARED,        /* a shared PID namespace. n can be 0: pause alone is there, the application has not
				    started yet or has just ended: wait for it. Once shared, it stays shared. */
};

/* For the line in the log: "not in a container", "no other container is visible", "shared PID namespace". */
const char *discovery_way_name(enum discovery_way way);

struct discovery_state; /* tables and buffers, in discover.c */

/* To be read, not written, by others. About 14 kB. */
struct discovery {
	struct neighbour list[NEIGHBOURS_MAX]; /* list[0..n) are the neighbours that are wanted */
	size_t n;
	enum discovery_way way;
	bool truncated;                     /* more containers or processes than are kept: use --container */
	char own_pod_uid[POD_UID_SIZE];     /* "" when unknown */
	char own_name[NEIGHBOUR_NAME_SIZE]; /* of our own container, "" when unknown */
	int64_t scan_cpu_ns;                /* CPU time of the last scan */
	struct discovery_state *state;      /* allocated by open, never grows */
};

#define DISCOVERY_CLOSED ((struct discovery){.n = 0, .state = NULL})

/* `container` (may be NULL) selects: a container's name, or 4 or more characters of the beginning of its id. It is
 * copied. The tree is needed during the call only. 0 or a negative errno: -EINVAL `container` can be neither name nor
 * id, -ENOENT no /proc there. */
int discovery_open(struct discovery *d, const struct tree *t, const char *container, struct fault *f) MUST_CHECK;

/* Looks at all processes and renews list, n, way and truncated. 1: other containers than before (a new id, one that is
 * gone), 0: the same ones, or a negative errno when /proc or our own cgroup cannot be read (the list stays). */
int discovery_scan(struct discovery *d, struct fault *f);

/* The same in pieces, so that 10,000 processes do not stop a sampler for 100 ms: goes on with the scan that is under
 * way, or begins one, for about budget_ns of CPU time (0 = to the end). DISCOVERY_MORE: call it again, at the next
 * tick; what is to be read stays as the scan before left it, but for discovery_pids(), which is not to be called in
 * between. Else as discovery_scan(), which begins anew. */
enum { DISCOVERY_MORE = 2 };
int discovery_step(struct discovery *d, int64_t budget_ns, struct fault *f);

/* How long to wait until the next scan, so that scanning costs less than 0.2 % of a CPU: 3 s for up to about 500
 * processes, never more than a minute. */
int64_t discovery_pause_ns(const struct discovery *d);

/* The processes of container `id` that the last scan saw, up to `max` (256 are kept for a container). */
size_t discovery_pids(const struct discovery *d, const char *id, int32_t *pids, size_t max);

/* Whether a target that was resolved through one of its pids is the neighbour's: between scan and resolving, the pid
 * may have been given to a process of another container. */
bool neighbour_owns(const struct neighbour *n, const struct cgroup_target *target);

/* The neighbour of that id, or NULL when it is gone. */
const struct neighbour *discovery_find(const struct discovery *d, const char *id);

void discovery_close(struct discovery *d);

#endif
