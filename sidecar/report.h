/* report.h - figures as JSON: the flat fields of log lines, and the nested objects of /report. */
#ifndef HEADROOM_SIDECAR_REPORT_H
#define HEADROOM_SIDECAR_REPORT_H

#include "fleet.h"

enum { REPORT_SCHEMA_VERSION = 1 };

/* Flat: container, container_id, pod_uid (where known), scope, cgroup. */
void report_put_identity(json_value *o, const struct watch *w);

/* Flat: quota_status, quota_cpus, quota_usec, period_usec, binding_cgroup, ancestors_hidden, nproc, cpuset_cpus,
 * online_cpus, effective_cpus, mismatch. */
void report_put_limit(json_value *o, const struct watch *w);

/* Flat: duration_s, cpu_cores_mean, of_limit, nr_periods, nr_throttled, throttled_share_of_periods, throttled_per_s,
 * stop_ms_per_throttled_period, throttled_ms, nr_throttled_above, throttled_ms_above, psi_*_ms. What is not there is
 * null. */
void report_put_window(json_value *o, const struct watch *w, const struct window *window);

/* Flat: verdict, contention_by, verdict_sentence, verdict_next, verdict_disproof. */
void report_put_verdict(json_value *o, const struct verdict *v);

/* Flat: demand_periods, demand_cores_mean, periods_exhausted, exhausted_at_ms, phase_ms, phase_width_ms. */
void report_put_demand(json_value *o, const struct watch *w);

/* Flat: worst_second_*. */
void report_put_worst(json_value *o, const struct worst *worst);

/* Flat: samples, late_ticks, missed_ticks, cpu_us_per_sample, lines_dropped. */
void report_put_vitals(json_value *o, const struct fleet *fleet);

/* The document of GET /report: for every watch the window since its start, the one since the token (NULL: none asked
 * for), and a new token. *unknown_token: one was given that is not kept (any more). */
json_value *report_document(struct fleet *fleet, const char *since, bool *unknown_token);

#endif
