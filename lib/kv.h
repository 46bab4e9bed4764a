/* kv.h - pure parsers of the kernel's small text files. No system call in here.
 *
 * A kernel text file is a keyed record that will grow: whole keys are matched, unknown ones are
 * skipped whatever their value, duplicates of a wanted key are refused, and a result is written only
 * when all is well. Every function returns 0 or a negative errno (-EINVAL malformed, -ERANGE out of
 * range, -ENODATA empty or a demanded key is missing) with one sentence that does not name the file.
 * `text` is always NUL-terminated.
 */
#ifndef HEADROOM_KV_H
#define HEADROOM_KV_H

#include "fault.h"

/* ---- keyed lines: "nr_periods 12\n" (cpu.stat, cpuacct.stat, cpu.stat.local) ---- */

/* values[i] and bit i of *have are set for each keys[i] that is there; others are left 0 and unset.
 * At most 32 keys. */
int kv_read_keys(const char *text, const char *const keys[], size_t n, uint64_t values[], uint32_t *have,
		 struct fault *f) MUST_CHECK;

/* A file that holds one number (cpuacct.usage). */
int kv_read_number(const char *text, uint64_t *out, struct fault *f) MUST_CHECK;

/* ---- CPU limit ---- */

/* No limit is a named value, in v1 (-1) and v2 (max) alike. */
#define QUOTA_NONE UINT64_MAX

struct cpu_quota {
	uint64_t quota_usec;  /* QUOTA_NONE = no limit */
	uint64_t period_usec; /* > 0 */
};

/* The kernel's default period; also what a cpu.max with one value only means. */
enum { CPU_PERIOD_DEFAULT_USEC = 100000 };

/* cpu.max: "max 100000", "25000 100000", "25000", "max". */
int kv_read_cpu_max(const char *text, struct cpu_quota *out, struct fault *f) MUST_CHECK;

/* cpu.cfs_quota_us ("-1" = none) and cpu.cfs_period_us. */
int kv_read_cfs_quota(const char *quota_text, const char *period_text, struct cpu_quota *out,
		      struct fault *f) MUST_CHECK;

/* quota / period as a number of CPUs, never rounded. Only for a limit. */
double cpu_quota_cpus(const struct cpu_quota *q);

/* True if a allows less than b (exact, by cross-multiplication; QUOTA_NONE is the largest). */
bool cpu_quota_is_below(const struct cpu_quota *a, const struct cpu_quota *b);

/* ---- pressure stall information ---- */

struct psi_line {
	double avg10, avg60, avg300; /* percent of wall time */
	uint64_t total_usec;
};

struct psi {
	bool has_full; /* the `full` line of cpu.pressure is missing before 5.13 */
	struct psi_line some, full;
};

/* cpu.pressure, io.pressure, memory.pressure. -ENODATA when there is no `some` line. */
int kv_read_psi(const char *text, struct psi *out, struct fault *f) MUST_CHECK;

/* ---- /proc ---- */

/* The value of "Key:\tvalue" in /proc/PID/status, without the blanks around it. -ENODATA when it is not there. */
int kv_status_field(const char *text, const char *key, char *out, size_t size, struct fault *f) MUST_CHECK;

/* /proc/PID/schedstat: run time, run-queue wait (ns) and slices. */
struct schedstat {
	uint64_t run_ns, wait_ns, slices;
};
int kv_read_schedstat(const char *text, struct schedstat *out, struct fault *f) MUST_CHECK;

/* The first line of /proc/stat, in ticks of 1/100 s; total counts every state once (guest time is part of user). */
struct cpu_ticks {
	uint64_t total, idle, iowait, steal;
};
int kv_read_cpu_ticks(const char *text, struct cpu_ticks *out, struct fault *f) MUST_CHECK;

#endif
