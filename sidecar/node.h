/* node.h - every pod and container of a node: one walk through the host's cgroup tree, and their names out of log
 * files.
 *
 * The tree tells pod uids and container ids (lib/hostview.h says which names they have). What they are called in the
 * cluster is told by the names of the kubelet's log files; nothing is opened, no link is followed, no API is asked:
 *
 *   /var/log/containers/<pod>_<namespace>_<container>-<id>.log   certain: it has the container's id
 *   /var/log/pods/<namespace>_<pod>_<uid>/<container>/           certain for namespace and pod (it has the pod's uid);
 *                                                                 the container only where the pod has one cgroup and
 *                                                                 one folder: a sandbox has a cgroup as well
 *
 * With both, every container has its three names. A container whose id is in no log name while another of its pod's is
 * is the sandbox (pause), which waits for nothing, and is left out. A container that has not written its log yet gets
 * its name at a later look.
 */
#ifndef HEADROOM_SIDECAR_NODE_H
#define HEADROOM_SIDECAR_NODE_H

#include "hostview.h"

enum {
	NODE_UID_SIZE = 40,       /* 36 characters, or 32 of a static pod */
	NODE_NAMESPACE_SIZE = 64, /* with the 0 at the end; as Kubernetes bounds them */
	NODE_POD_SIZE = 254,
	NODE_CONTAINER_SIZE = 64,
};

/* Names are "" when unknown. */
struct node_entry {
	char uid[NODE_UID_SIZE];
	char id[CONTAINER_ID_LEN + 1]; /* "" = the pod itself */
	char namespace_name[NODE_NAMESPACE_SIZE];
	char pod[NODE_POD_SIZE];
	char container[NODE_CONTAINER_SIZE];
	char *below; /* path below the mount point of every hierarchy; owned */
};

struct node_list {
	struct node_entry *entries; /* owned; every pod before its containers */
	size_t n, room;
};

/* The uid in the name of a pod's folder (pod<uid>, ...-pod<uid with _>.slice), or in an untranslated path in front of
 * its first colon. False for anything else. Pure. */
bool node_pod_uid(const char *folder_name, char uid[NODE_UID_SIZE]);

/* The name of a file in /var/log/containers, or of a folder in /var/log/pods, into the fields of an entry. False for
 * anything else. Pure. */
bool node_parse_container_log(const char *file_name, struct node_entry *out);
bool node_parse_pod_log(const char *folder_name, struct node_entry *out);

/* Walks the tree and gives names; pod_logs and container_logs are folders in the tree or NULL, and one that cannot be
 * read gives no names. 0 or a negative errno. Release in every case. */
int node_walk(struct node_list *out, const struct hostview *v, const struct tree *t, const char *pod_logs,
	      const char *container_logs, struct fault *f) MUST_CHECK;
void node_list_release(struct node_list *l);

#endif
