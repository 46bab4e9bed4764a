/* limit_way.h - what a way of limiting must be able to do. One file per way; limits.c chooses among them.
 */
#ifndef HEADROOM_LAB_LIMIT_WAY_H
#define HEADROOM_LAB_LIMIT_WAY_H

#include "cgroup.h"
#include "limits.h"

struct limit_ops {
	/* Finds where groups can be made, and tries it with limiter_try() or by other means. `self` is our own place,
	 * or NULL with the reason in *f when it could not be found. */
	int (*detect)(struct limiter *l, const struct cgroup_target *self, struct fault *f);
	/* Writes the limit; not read back here. */
	int (*apply)(struct limit_group *g, const struct cpu_quota *q, struct fault *f);
	int (*read)(const struct limit_group *g, struct cpu_quota *out, struct fault *f);
	/* The file and value that give the most weight; NULL = by other means, when g->preferred is set. */
	const char *weight_file, *weight_value;
	/* Words in front of a command; NULL = none. */
	void (*prefix)(struct limit_group *g, const char *prefix[LIMIT_PREFIX_MAX]);
	/* Learns where the process is, and which it is (g->pid) if the one that was started only stands for it; NULL =
	 * the folders are known from the start. */
	int (*locate)(struct limit_group *g, pid_t pid, struct fault *f);
	/* Ends what holds the group, before its folders are removed; NULL = nothing. */
	int (*close)(struct limit_group *g, struct fault *f);
	/* Undoes what detect() changed; NULL = nothing. */
	void (*release)(struct limiter *l);
	bool by_name_only; /* not tried unless --limiter names it */
};

extern const struct limit_ops limit_v2_ops, limit_systemd_ops, limit_v1_ops, limit_docker_ops, limit_inside_ops;

/* Makes a group in l->parents, limits it, reads that back, and removes it again. */
int limiter_try(struct limiter *l, struct fault *f) MUST_CHECK;

#endif
