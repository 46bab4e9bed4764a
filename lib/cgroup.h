/* cgroup.h - which folder holds the figures of a process, for each controller on its own.
 *
 * Two hierarchies of a hybrid host can have different paths for one process, so cpu, cpuacct, cpuset and
 * the v2 hierarchy (pressure) are resolved separately, and a failure of one does not hide the others. The
 * hierarchy that owns the controller named exactly `cpu` carries the quota: a v1 line that lists it, else v2.
 *
 * The path in /proc/PID/cgroup and the root field in mountinfo are both relative to the cgroup namespace
 * of the reader: the folder is mount point + (path without the root), joined on a component boundary. A
 * path that is not below the root is outside of what is visible; nothing else is tried in its place.
 */
#ifndef HEADROOM_CGROUP_H
#define HEADROOM_CGROUP_H

#include "mounts.h"
#include "textfile.h"

/* Only cgroup2 mounts: v2. Only v1 mounts with a resource controller: v1. cgroup2 and any v1 mount, even a mere
 * name=systemd: hybrid (cpu_controller tells which of them counts). */
enum cgroup_version { CGROUP_NO_VERSION, CGROUP_V1, CGROUP_V2, CGROUP_HYBRID };

/* "none", "v1", "v2", "hybrid" */
const char *cgroup_version_name(enum cgroup_version v);

enum hierarchy { HIERARCHY_NONE, HIERARCHY_V1, HIERARCHY_V2 };

const char *hierarchy_name(enum hierarchy h); /* "none", "v1", "v2" */

/* A cgroup in one hierarchy. `name` and `folder` are owned; HIERARCHY_NONE leaves the rest unset. */
struct cgroup_place {
	enum hierarchy hierarchy;
	char *name;     /* as the kernel names it: mount root + path below it, "/" at the top */
	char *folder;   /* path inside the tree: mount point + path below it */
	size_t top_len; /* length of the mount point in `folder` */
};

struct cgroup_target {
	enum cgroup_version version;   /* by the mounts that are visible */
	enum hierarchy cpu_controller; /* the owner of `cpu`, also when its place could not be found */
	struct tree tree;              /* where the folders are; owned */
	struct cgroup_place cpu, cpuacct, cpuset;
	struct cgroup_place v2; /* for pressure; HIERARCHY_NONE when there is no cgroup2 mount */
};

#define CGROUP_TARGET_NONE ((struct cgroup_target){.tree = TREE_CLOSED})

/* The cgroup of a process: proc_name is "self" or a pid in decimal, looked up in t's /proc. Another process is
 * looked for through our own mounts first (they show its ancestors too, if our view of the hierarchy is wide enough),
 * then through its own, below /proc/PID/root, where nothing but the kernel's own file systems is trusted.
 * 0, or a negative errno with a sentence; then version and cpu_controller still say what was seen:
 * -ENOENT no cgroup information, or the cgroup was removed; -EACCES may not look into that process (the sentence names
 * both identities); -EXDEV the cgroup is outside of what is visible. Release in every case. */
int cgroup_resolve_process(struct cgroup_target *out, const struct tree *t, const char *proc_name,
			   struct fault *f) MUST_CHECK;

/* An explicit cgroup: a folder below a cgroup mount ("/sys/fs/cgroup/cpu/x") or a name that is the same in every
 * hierarchy ("/x"). */
int cgroup_resolve_path(struct cgroup_target *out, const struct tree *t, const char *path, struct fault *f) MUST_CHECK;

/* Makes a place from its hierarchy, mount and the path below it ("" or "/a/b"). -ENOMEM. */
int cgroup_place_make(struct cgroup_place *out, enum hierarchy h, const char *mount_root, const char *mount_point,
		      const char *below);
void cgroup_place_release(struct cgroup_place *p);

/* Opens the place's folder and, in a live tree, checks that it is on a cgroup file system. Descriptor or -errno. */
int cgroup_place_open(const struct cgroup_place *p, const struct tree *t, struct fault *f) MUST_CHECK;

void cgroup_target_release(struct cgroup_target *t);

static inline void cleanup_cgroup_targetp(struct cgroup_target *t)
{
	cgroup_target_release(t);
}
#define CLEANUP_CGROUP_TARGET __attribute__((cleanup(cleanup_cgroup_targetp)))

#endif
