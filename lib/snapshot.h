/* snapshot.h - all counters of one cgroup at one instant, from kept descriptors.
 *
 * A reader opens, once, the files of the target's own cgroup and of every ancestor that is visible; taking a
 * snapshot only re-reads them and allocates nothing. What was not there is not 0: each set of counters carries a
 * mask, each pressure file a status. All figures are the kernel's, in usec (v1: nanoseconds / 1000 rounded down,
 * ticks x 10000).
 *
 * Scope: usage, user and system are of the cgroup with everything below it. nr_* and throttled_* belong to the quota
 * of that very level, so they are read at every level that has one. Pressure is the target cgroup's own (v2).
 */
#ifndef HEADROOM_SNAPSHOT_H
#define HEADROOM_SNAPSHOT_H

#include "cgroup.h"
#include "kv.h"

enum counter {
	COUNTER_USAGE,        /* usage_usec: CPU time */
	COUNTER_USER,         /* user_usec */
	COUNTER_SYSTEM,       /* system_usec */
	COUNTER_NR_PERIODS,   /* periods in which something wanted to run */
	COUNTER_NR_THROTTLED, /* periods at whose end a run queue was throttled */
	COUNTER_THROTTLED,    /* throttled_usec: summed over CPUs; can grow faster than the clock */
	COUNTER_NR_BURSTS,    /* periods that used more than the quota (cpu.max.burst) */
	COUNTER_BURST,        /* burst_usec */
	COUNTERS
};

/* "usage_usec", "nr_periods", ... */
const char *counter_key(enum counter c);

struct counters {
	uint32_t have; /* bit 1 << enum counter */
	uint64_t value[COUNTERS];
};

static inline bool counters_have(const struct counters *c, enum counter which)
{
	return c->have & (1U << which);
}

enum psi_resource { PSI_CPU, PSI_IO, PSI_MEMORY, PSI_RESOURCES };

enum psi_status {
	PSI_ABSENT,   /* no such file: v1, psi=0 on 6.1 and later, switched off for this cgroup, no v2 mount */
	PSI_OK,       /* read */
	PSI_DISABLED, /* the file is there, reading it fails with EOPNOTSUPP, or is empty */
	PSI_DENIED,   /* may not be read */
	PSI_BROKEN,   /* could not be understood */
};

const char *psi_status_name(enum psi_status s); /* "absent", "ok", "disabled", "denied", "broken" */

/* The quota of one level. */
enum quota_state {
	QUOTA_NO_FILE, /* the root cgroup, or the controller is not enabled here: no limit of this level */
	QUOTA_READ,    /* `quota` says it; may be QUOTA_NONE */
	QUOTA_BROKEN,  /* could not be read or understood; the fault says why */
};

/* Deepest tree that is handled, own cgroup and the top included (rootless podman in WSL has 10). */
enum { SNAPSHOT_LEVELS_MAX = 32 };

struct level_figures {
	enum quota_state state;
	struct cpu_quota quota;   /* QUOTA_READ */
	struct counters counters; /* levels[0]: all of them; ancestors: nr_* and throttled, where they have a quota */
};

struct snapshot {
	int64_t mono_ns;   /* when it was taken */
	uint64_t identity; /* inode of the cgroup's folder: a new one means a new cgroup of the same name */
	size_t n_levels;   /* 1 or more */
	struct level_figures levels[SNAPSHOT_LEVELS_MAX]; /* 0 = the target, n_levels - 1 = the top that is visible */
	bool have_local_throttled;
	uint64_t local_throttled_usec; /* cpu.stat.local: including being throttled by an ancestor */
	enum psi_status psi_status[PSI_RESOURCES];
	/* grows when it can be read again: what was waited for in between is in no total, so differences across it are
	 * none */
	uint32_t psi_epoch[PSI_RESOURCES];
	struct psi psi[PSI_RESOURCES];
};

/* ---- the reader ---- */

struct level_files {
	char *name;                          /* owned; as cgroup_place.name */
	struct textfile quota, period, stat; /* v2: quota = cpu.max, no period */
};

struct reader {
	enum hierarchy hierarchy; /* of the cpu controller */
	uint64_t identity;
	size_t n_levels;
	struct level_files levels[SNAPSHOT_LEVELS_MAX];
	struct textfile usage, user_system; /* v1: cpuacct.usage, cpuacct.stat */
	struct textfile stat_local;
	struct textfile psi[PSI_RESOURCES];
	enum psi_status psi_open_status[PSI_RESOURCES];
	bool ancestors_hidden, ancestors_hidden_known;
};

/* Opens the files of a resolved target, which may be released afterwards. 0 or a negative errno. */
int reader_open(struct reader *r, const struct cgroup_target *target, struct fault *f) MUST_CHECK;

enum snapshot_what {
	SNAPSHOT_FAST,   /* own counters, and those of the level whose quota binds: every sample */
	SNAPSHOT_LIMITS, /* and the quotas of all levels: once in a period, since a new one acts from the next on */
	SNAPSHOT_FULL,   /* and the counters of all levels with a quota, pressure, cpu.stat.local */
};

/* Fills *s; with less than SNAPSHOT_FULL what is not read keeps its value in *s, so pass the same one again. 0, or
 * -ENODEV when the cgroup is gone (the target must be looked for again). A figure that cannot be read is missing
 * from its mask or has its state set, and the first such reason is put into f; that is no failure of the whole. */
int reader_take(const struct reader *r, enum snapshot_what what, struct snapshot *s, struct fault *f);

/* Pressure that was switched off ends the kept descriptors: opens those anew that could not be read in the last full
 * snapshot. Cheap enough for every few seconds. */
void reader_reopen_pressure(struct reader *r, const struct cgroup_target *target, const struct snapshot *last);

/* Harmless on one that is all zero or closed already. */
void reader_close(struct reader *r);

/* ---- judging the quotas of one snapshot (pure) ---- */

enum limit_status { LIMIT_UNKNOWN, LIMIT_NONE, LIMIT_SET };

struct limit {
	enum limit_status status;
	size_t level; /* LIMIT_SET: the level that binds, the nearest to the target of those with the least quota */
	struct cpu_quota quota;
};

/* The minimum of quota / period over all visible levels. Unknown as soon as one level could not be read:
 * the limit could be there. */
struct limit limit_of(const struct snapshot *s);

#endif
