/* mounts.h - /proc/PID/cgroup and /proc/PID/mountinfo, as text, and how their paths fit together. Pure.
 *
 * Formats: proc(5), cgroups(7). In mountinfo the optional fields before " - " can be none or many, only
 * the field after it is the type, and blanks, tabs, newlines and backslashes are written as octal.
 */
#ifndef HEADROOM_MOUNTS_H
#define HEADROOM_MOUNTS_H

#include "fault.h"

/* The controllers that matter here, as bits of a set. */
enum controller {
	CONTROLLER_CPU = 1,
	CONTROLLER_CPUACCT = 2,
	CONTROLLER_CPUSET = 4,
	CONTROLLER_OTHER = 8, /* any other resource controller; a "name=" hierarchy has none */
};

/* ---- /proc/PID/cgroup: "ID:controllers:/path" ---- */

struct cgroup_line {
	bool is_v2;           /* "0::" */
	unsigned controllers; /* of v1 */
	const char *path;     /* absolute; may hold colons and leading "/.."; NOT terminated by a NUL */
	size_t path_len;      /* without " (deleted)" */
	bool deleted;         /* the kernel has put " (deleted)" behind it */
};

/* The next well-formed line at *text, which is advanced; others are passed over. False at the end. */
bool mounts_next_cgroup_line(const char **text, struct cgroup_line *out);

/* ---- /proc/PID/mountinfo ---- */

struct cgroup_mount {
	bool is_v2;
	unsigned controllers; /* of v1 */
	char *root;           /* unescaped; the cgroup that is mounted, as seen from the reader's cgroup namespace */
	char *point;          /* unescaped; where */
};

/* All mounts of type cgroup and cgroup2 that are not hidden by a later mount, in order. Lines that are
 * not well-formed are passed over. -ENOMEM. Free with mounts_release(). */
struct cgroup_mounts {
	struct cgroup_mount *list;
	size_t n;
};
int mounts_parse(const char *mountinfo, struct cgroup_mounts *out, struct fault *f) MUST_CHECK;
void mounts_release(struct cgroup_mounts *m);

/* Bits of a comma-separated list of controllers; exact names only ("cpu" is not in "cpuset"). */
unsigned mounts_controllers(const char *list, size_t len);

/* ---- paths ---- */

/* What is left of path (absolute) below root, on a component boundary: "" or "/a/b". NULL when path is not
 * at or below root, or when what is left holds a ".." component, which the file system must never resolve. */
const char *mounts_below(const char *root, const char *path);

#endif
