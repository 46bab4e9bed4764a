/* limits.h - a CPU limit around one process, made by whichever way this host allows.
 *
 * Three ways, tried in this order: `v2`, a writable cgroup v2 with the cpu controller (root, or delegated); `systemd`,
 * a scope of the user's systemd; `v1`, a writable v1 `cpu` hierarchy, with a group of the same name in `cpuacct` (CPU
 * use) and in the v2 hierarchy mounted beside it (pressure) where these can be written. Two more only by name:
 * `docker`, a container for the probe (limit_docker.h), and `inside`, the limit that we are under ourselves
 * (demo_inside.h).
 *
 *     limiter_choose(&l, "/", NULL, &f);          which way works; tried for real
 *     limit_open(&g, &l, "1-burst-0.25", &f);     a group: headroom-<pid>-1-burst-0.25
 *     limit_set(&g, 0.25, &f);                    before or after the process starts; read back from the kernel
 *     child_start(.., limit_command(..), g.procs) starts inside
 *     limit_adopt(&g, pid, &f);                   the process is in there, and nothing else is
 *     limit_close(&g, &f);                        whatever is left in it is killed, the group is removed
 *
 * Groups that a killed headroom left behind are removed by the next one: only names of our pattern, only of dead
 * processes, only when empty. Functions return 0 or a negative errno with a sentence.
 */
#ifndef HEADROOM_LAB_LIMITS_H
#define HEADROOM_LAB_LIMITS_H

#include "fault.h"
#include "kv.h"

#include <sys/types.h>

enum limit_way { LIMIT_V2, LIMIT_SYSTEMD, LIMIT_V1, LIMIT_DOCKER, LIMIT_INSIDE, LIMIT_WAYS };

/* "v2", "systemd", "v1", "docker", "inside"; for --limiter. NULL-terminated. */
extern const char *const limit_way_names[];

/* No limit at this level, as a number of CPUs. */
#define LIMIT_NO_CPUS 0.0

/* Every limit has the kernel's default period, as the published studies had. */
enum { LIMIT_PERIOD_USEC = CPU_PERIOD_DEFAULT_USEC };

enum { LIMIT_FOLDERS = 3, LIMIT_NAME_SIZE = 96, LIMIT_PREFIX_MAX = 24 };

/* A way that was found to work here. */
struct limiter {
	enum limit_way way;
	char *root;                   /* of the tree, "/" on a live system */
	char *parents[LIMIT_FOLDERS]; /* folders in which groups are made, the cpu controller's first; NULL = none */
	char *own_group;              /* v2: the group into which we moved ourselves to free the parent, or NULL */
	char text[256];               /* for people: "cgroup v2 at /sys/fs/cgroup" */
};

#define LIMITER_NONE ((struct limiter){.way = LIMIT_WAYS})

/* Finds the first way that works, or tests the one in `forced` (LIMIT_WAYS = any). `root` is the tree in which
 * proc/self and the cgroup folders are looked for. When none works the sentence says why each did not, and what to do.
 */
int limiter_choose(struct limiter *l, const char *root, enum limit_way forced, struct fault *f) MUST_CHECK;

/* Undoes what limiter_choose() changed on the host (v2: moves us back). */
void limiter_release(struct limiter *l);

struct limit_group {
	struct limiter *limiter;
	char name[LIMIT_NAME_SIZE];
	char *folders[LIMIT_FOLDERS];         /* as limiter.parents; systemd: known after limit_adopt() */
	char *join[LIMIT_FOLDERS];            /* paths of their cgroup.procs */
	const char *procs[LIMIT_FOLDERS + 1]; /* for child_spec.cgroup_procs */
	double cpus;                          /* as last set */
	bool preferred;
	char quota_text[32];
	pid_t pid; /* adopted: of the process that runs under the limit; 0 = none yet */
};

#define LIMIT_GROUP_NONE ((struct limit_group){.limiter = NULL})

/* An empty group without a limit. `label` is part of its name: letters, digits, '.' and '-'. */
int limit_open(struct limit_group *g, struct limiter *l, const char *label, struct fault *f) MUST_CHECK;

/* A limit in CPUs (at least 0.01) or LIMIT_NO_CPUS, now or while the process runs; read back. */
int limit_set(struct limit_group *g, double cpus, struct fault *f) MUST_CHECK;

/* Gives the group the most weight there is against other work of this host, so that a busy host disturbs less; a quota
 * counts as before. A preference: where it cannot be had, nothing is said. To be called before the process starts. */
void limit_prefer(struct limit_group *g);

/* The limit as the kernel has it now. For systemd only after limit_adopt(). */
int limit_read(const struct limit_group *g, struct cpu_quota *out, struct fault *f) MUST_CHECK;

/* The words in front of a command that starts it inside (systemd), NULL-terminated, or none. They point into *g. */
void limit_command_prefix(struct limit_group *g, const char *prefix[LIMIT_PREFIX_MAX]);

/* Checks that the process is in the group, alone, under the limit that was set. */
int limit_adopt(struct limit_group *g, pid_t pid, struct fault *f) MUST_CHECK;

/* Kills what is left in the group, removes it and checks that it is gone. Safe on LIMIT_GROUP_NONE. */
int limit_close(struct limit_group *g, struct fault *f);

/* The quota that stands for `cpus` with the period above. Pure. */
struct cpu_quota limit_quota(double cpus);

/* The pid in a name of our pattern, or 0 when it is none. Pure. */
pid_t limit_name_pid(const char *name);

/* Removes groups of dead processes in a folder; how many. */
size_t limit_remove_stale(const char *folder);

#endif
