/* hostview.h - pods and containers in a (read-only) mount of the host's cgroup tree.
 *
 * Host paths are not computed, since drivers and distributions differ: the tree is walked, at most 5 levels deep, for a
 * folder that is `pod<uid>` or ends in `pod<uid with _>.slice`; its children named by a container id are its
 * containers. Where a runtime did not translate a systemd path (one folder `<slice>:cri-containerd:<id>`), there is
 * no pod level. Names: see lib/hostview.c and Kubernetes' and Docker's drivers.
 */
#ifndef HEADROOM_HOSTVIEW_H
#define HEADROOM_HOSTVIEW_H

#include "cgroup.h"

enum { CONTAINER_ID_LEN = 64 };

/* The id in a folder name: [cri-containerd-|crio-|docker-|libpod-]<64 hex>[.scope], or what stands behind the last
 * colon of an untranslated systemd path. False for anything else (crio-conmon-... among them). Pure. */
bool hostview_container_id(const char *folder_name, char id[CONTAINER_ID_LEN + 1]);

/* True if the folder is that of the pod. An uid of a static pod is a hash without dashes. Pure. */
bool hostview_is_pod(const char *folder_name, const char *pod_uid);

/* Where the hierarchies are below a mount of the host's tree. */
struct hostview {
	enum cgroup_version version;
	char *cpu_point, *cpuacct_point, *cpuset_point, *v2_point; /* paths in the tree, or NULL */
};

/* By the table of mounts of the tree, else by the files that are there. -ENOENT when it is no cgroup tree. */
int hostview_open(struct hostview *out, const struct tree *t, const char *mount, struct fault *f) MUST_CHECK;
void hostview_close(struct hostview *v);

struct host_container {
	char id[CONTAINER_ID_LEN + 1];
	char *below; /* path below the mount point of every hierarchy; owned */
};

struct host_pod {
	char *below; /* of the pod's own cgroup; NULL when there is none (untranslated path, plain Docker) */
	struct host_container *containers;
	size_t n;
};

/* Finds the pod and its containers. pod_uid NULL: any container whose id is container_id (12 or more of its
 * characters). -ENOENT with a sentence when there is none. Release with host_pod_release(). */
int hostview_find(struct host_pod *out, const struct hostview *v, const struct tree *t, const char *pod_uid,
		  const char *container_id, struct fault *f) MUST_CHECK;
void host_pod_release(struct host_pod *p);

/* The container whose id begins with container_id, or NULL. */
const struct host_container *host_pod_container(const struct host_pod *p, const char *container_id);

/* A target for a path below the mount points, ready for reader_open(). */
int hostview_target(struct cgroup_target *out, const struct hostview *v, const struct tree *t, const char *below,
		    struct fault *f) MUST_CHECK;

#endif
