/* discover_text.h - which container a process is in and what it is called, by the texts in /proc. Pure.
 *
 * The texts are of neighbours that are not trusted: what is handed on is 64 hexadecimal digits, or letters, digits and
 * '-'.
 */
#ifndef HEADROOM_SIDECAR_DISCOVER_TEXT_H
#define HEADROOM_SIDECAR_DISCOVER_TEXT_H

#include "hostview.h"

enum {
	NEIGHBOUR_NAME_SIZE = 64, /* a container's name is a DNS label: 63 characters */
	POD_UID_SIZE = 64,
};

/* The container that a process is in, by the texts of our own and its /proc/PID/cgroup. A relative path ("/../x") is of
 * a neighbour; an absolute one is compared with ours component by component, if ours is in a container. The first id
 * counts: what stands below it was made inside of that container. False: it is in our container, or in none. *relative
 * is set to true when a path begins with "/..", else left alone. */
bool discovery_container_of(const char *own_text, const char *text, char id[CONTAINER_ID_LEN + 1], bool *relative);

/* Whether the text of our own /proc/PID/cgroup shows a container's id. */
bool discovery_has_id(const char *own_text);

/* One line of mountinfo: fills pod_uid and name when it is a mount the kubelet made for the container
 * (.../pods/<uid>/containers/<name>/<8 hex>, .../pods/<uid>/etc-hosts). Returns whether it holds the name. What is
 * known already is kept, so begin with empty strings. */
bool discovery_read_mount(const char *line, size_t len, char pod_uid[POD_UID_SIZE], char name[NEIGHBOUR_NAME_SIZE]);

#endif
