/* report.h - figures as JSON: the flat fields of log lines, and the nested objects of /report. */
#ifndef HEADROOM_SIDECAR_REPORT_H
#define HEADROOM_SIDECAR_REPORT_H

#include "fleet.h"

enum { REPORT_SCHEMA_VERSION = 1 };

/* Flat: container, container_id, pod_uid (where known), scope, cgroup. */
void report_put_identity(json_value *o, const struct watch *w);

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
