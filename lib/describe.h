/* describe.h - figures as JSON fields, named once for every program: reports, log lines, `headroom check`.
 *
 * Not there is null, never 0. All fields are flat, with their unit in the name.
 */
#ifndef HEADROOM_DESCRIBE_H
#define HEADROOM_DESCRIBE_H

#include "cpus.h"
#include "jsonl.h"
#include "verdict.h"

/* What one cgroup is limited to, as seen from here. */
struct limit_view {
	struct limit limit;
	const char *binding_cgroup; /* name of the level that binds; NULL without a limit */
	bool ancestors_hidden_known, ancestors_hidden;
	struct cpu_counts cpus;
};

/* Of a reader and its last snapshot; the name belongs to the reader. */
struct limit_view limit_view_of(const struct reader *r, const struct snapshot *s, const struct cpu_counts *cpus);

/* A number, or null when it is not there. */
void describe_count(json_value *o, const char *key, bool have, uint64_t n);

/* quota_status, quota_cpus, quota_usec, period_usec, binding_cgroup, ancestors_hidden, cpuset_cpus, online_cpus, nproc,
 * effective_cpus, mismatch. */
void describe_limit(json_value *o, const struct limit_view *v);

/* The counters from `first` to `last`, by their keys. */
void describe_counters(json_value *o, const struct counters *c, enum counter first, enum counter last);

/* restarted, duration_s, usage_usec, cpu_cores_mean, of_limit, nr_periods, nr_throttled, throttled_usec,
 * throttled_share_of_periods, throttled_periods_per_s, stop_ms_per_throttled_period, nr_throttled_above,
 * throttled_usec_above, local_throttled_usec, psi_{cpu,io,memory}_some_usec (and _full_). */
void describe_window(json_value *o, const struct window *w, const struct limit *limit);

/* verdict, contention_by, verdict_sentence, verdict_next, verdict_disproof. */
void describe_verdict(json_value *o, const struct verdict *v);

/* An array of {name, value, threshold, holds}. */
json_value *describe_evidence(const struct verdict *v);

#endif
