/* runtimes.h - what each language runtime makes of the CPU limit. Pure: a table and arithmetic.
 *
 * A runtime sizes its pools by a number of CPUs that it works out itself, each in its own way. This table holds
 * those ways, and runtime_judge() says for one process what a runtime assumes, whether that fits the limit, and
 * what to set if it does not. Nothing is allocated, nothing can fail.
 *
 * A = CPUs in the affinity mask, q = quota / period. Read in the sources of each project:
 *   Go              runtime/cgroup_linux.go, internal/runtime/cgroup (1.25); automaxprocs 1.6
 *   JVM             HotSpot, osContainer_linux.cpp, cgroupUtil_linux.cpp
 *   .NET            pal/src/misc/cgroup.cpp; DOTNET_PROCESSOR_COUNT is read as decimal
 *   libuv           src/unix/core.c uv_available_parallelism(), src/unix/linux.c (1.48 to 1.52). Its v1 branch looks
 *                   below /sys/fs/cgroup without the controller's folder and finds nothing, hence "no v1"
 *   Rust            std::thread::available_parallelism(); num_cpus 1.16
 *   Python          os.cpu_count(), os.process_cpu_count() (3.13); joblib's loky
 *   Ruby            concurrent-ruby, available_processor_count
 *   nproc           GNU coreutils; its meaning changed in 9.8, so never run it to learn A
 *   others          libgomp, LLVM libomp, OpenBLAS; nginx; lxcfs --enable-cfs
 */
#ifndef HEADROOM_RUNTIMES_H
#define HEADROOM_RUNTIMES_H

#include "cpus.h"

/* ---- the table ---- */

/* What is counted where no quota is seen, and what bounds the result. */
enum runtime_counts {
	RUNTIME_COUNTS_AFFINITY, /* A */
	RUNTIME_COUNTS_ONLINE,   /* the CPUs of the node, also those it may not run on */
	RUNTIME_COUNTS_CPUSET,   /* min(online, cpuset): not the affinity that taskset sets */
};

/* How a quota becomes a number of CPUs. */
enum runtime_rounding {
	RUNTIME_IGNORES_QUOTA,
	RUNTIME_ROUNDS_UP,               /* ceil q */
	RUNTIME_ROUNDS_UP_LEAST_2,       /* max(2, ceil q) */
	RUNTIME_ROUNDS_DOWN,             /* max(1, floor q) */
	RUNTIME_ROUNDS_DOWN_UNBOUNDED,   /* the same, even if it is above A */
	RUNTIME_ROUNDS_DOWN_FROM_1,      /* floor q; a quota below 1 is ignored */
	RUNTIME_ROUNDS_DOWN_WITH_WEIGHT, /* max(1, floor(q x cpu.weight / 100)) */
	RUNTIME_ROUNDS_HALF_UP,          /* max(1, floor(q + 1/2)) */
	RUNTIME_KEEPS_FRACTION,          /* q */
};

/* At which cgroups it looks. */
enum runtime_levels {
	RUNTIME_LOOKS_NOWHERE,
	RUNTIME_LOOKS_AT_LEAF, /* its own only: a limit of a pod or a slice above is not seen */
	RUNTIME_WALKS,         /* its own and every ancestor that it can see; the least counts */
};

/* Whether a process that is running notices that its limit was changed. */
enum runtime_resize {
	RUNTIME_RESIZE_NEVER,
	RUNTIME_RESIZE_VALUE_ONLY, /* the number follows, the pools made from it do not */
	RUNTIME_RESIZE_EACH_CALL,  /* whoever asks again gets the new number; existing pools stay */
	RUNTIME_RESIZE_EACH_RUN,   /* a program that runs once and ends */
	RUNTIME_RESIZE_LIVE,
};

struct runtime {
	const char *id;      /* stable, snake_case: "go_1_25" */
	const char *name;    /* for people: "Go 1.25 or newer" */
	const char *formula; /* "min(A, max(2, ceil q))" */
	enum runtime_counts counts;
	enum runtime_rounding rounding;
	enum runtime_levels levels;
	bool reads_v1; /* also the quota of cgroup v1 (v2 is read by all that look at a quota) */
	enum runtime_resize resize;

	/* What to set, '#' stands for the number: "GOMAXPROCS=#". Several are separated by a blank. NULL = there is
	 * none. `advice` is the same as the end of a sentence; NULL: "set <setting>". */
	const char *setting;
	const char *advice;
};

size_t runtimes_count(void);

/* i < runtimes_count(); the order is that of the documentation. */
const struct runtime *runtimes_at(size_t i);

/* NULL when there is no such id. */
const struct runtime *runtimes_find(const char *id);

/* "never", "value only", "each call", "each run", "live" */
const char *runtime_resize_name(enum runtime_resize r);

/* ---- one process seen by a runtime ---- */

struct runtime_view {
	unsigned affinity;        /* A; 0 = not known */
	unsigned online;          /* CPUs of the node; 0 = not known */
	unsigned cpuset;          /* size of the effective cpuset; 0 = not known: A stands in */
	unsigned weight;          /* cpu.weight, 1 to 10000; 0 = not known: the kernel's default 100 stands in */
	enum hierarchy hierarchy; /* of the cpu controller. HIERARCHY_V1: some see no quota at all */

	/* QUOTA_NONE = no limit; the period is always above 0. own >= visible >= binding. */
	struct cpu_quota own;     /* of the process's own cgroup: what a leaf reader sees */
	struct cpu_quota visible; /* the least of the levels that the process can see: what a walker sees */
	struct cpu_quota binding; /* the least of all levels: what the kernel enforces */
};

/* Fills *out from what was read of a target. `visible` becomes `binding`: right when we look from where the process
 * looks; whoever reads a container from the host sees levels that the container's cgroup namespace hides from it, and
 * sets `visible` to `own` afterwards. The weight is left unknown. False (and *out of no use) when the limit or A could
 * not be determined: then nothing is to be said about runtimes. */
bool runtime_view_make(struct runtime_view *out, const struct snapshot *s, const struct cpu_counts *counts,
		       enum hierarchy cpu_controller) MUST_CHECK;

/* CPUs that the runtime assumes: a whole number, but for concurrent-ruby. At least 1 (concurrent-ruby: above 0).
 * NaN when it counts something that the view does not know. */
double runtime_cpus(const struct runtime *r, const struct runtime_view *v);

/* ---- the judgement ---- */

/* With allowed = min(A, binding quota). */
enum runtime_fit {
	/* runtime_cpus() is NaN, or A is not known */
	RUNTIME_UNKNOWN,

	RUNTIME_FITS,

	/* assumed > ceil(allowed). Rounding up is not too many: 2 for 1.25 is the smallest pool that can use the limit,
	 * and 1 for 0.25 is the smallest there is. One exception: Go from 1.25 on never goes below 2 on its own, so
	 * that its garbage collector need not stop the program. There 2 for a limit of 1 or less counts as "fits", and
	 * the sentence says what the second thread costs.
	 * Above the quota the threads are throttled; where the quota is not what binds (12 threads on 8 CPUs) they only
	 * wait for one another. The sentence says which. */
	RUNTIME_TOO_MANY,

	/* more than a tenth of allowed stays unused: 1 for 1.75 leaves 0.75. 12 for 12.5 is no reason to warn. */
	RUNTIME_TOO_FEW,

	/* too many, only because the limit sits on a level at which the runtime does not look, or which the process
	 * cannot see: with that quota in sight the number would be right */
	RUNTIME_BLIND_TO_ANCESTOR,

	/* no quota on any level and an affinity of all CPUs of the node (or online is not known): pools grow with the
	 * node */
	RUNTIME_NO_LIMIT,
};

/* "unknown", "fits", "too_many", "too_few", "blind_to_ancestor", "no_limit" */
const char *runtime_fit_name(enum runtime_fit f);

struct runtime_judgement {
	enum runtime_fit fit;
	double assumed;     /* runtime_cpus() */
	double allowed;     /* min(A, binding quota), never rounded; NaN when unknown */
	double unused;      /* allowed - assumed where that is above 0, else 0 */
	char setting[96];   /* "GOMAXPROCS=2" for this limit: ceil(allowed). "" without a setting, a limit or figures */
	char sentence[640]; /* one sentence for people, with the figures, the cause and what to do */
};

/* Judges the limit as it is now. A runtime whose resize is RUNTIME_RESIZE_NEVER may still go by an older one. */
void runtime_judge(const struct runtime *r, const struct runtime_view *v, struct runtime_judgement *out);

#endif
