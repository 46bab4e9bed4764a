/* figures.h - what is told about one run: from the sender's report and from two snapshots of the probe's cgroup. Pure.
 */
#ifndef HEADROOM_LAB_FIGURES_H
#define HEADROOM_LAB_FIGURES_H

#include "jsonl.h"
#include "snapshot.h"

/* A counter that was not there. */
#define FIGURE_ABSENT UINT64_MAX

/* Milliseconds and others are NAN where they could not be told. */
struct figures {
	uint64_t planned, requests, ok; /* requests: sent */
	double duration_s, cpu_observed_s, cpu_cores_mean, of_limit;
	double phase_ms; /* from the first planned send to the next tick of the quota's period */
	double p50_ms, p90_ms, p99_ms, max_ms, mean_ms, lateness_p99_ms;
	uint64_t nr_periods, nr_throttled, throttled_usec; /* increase over the CPU observation */
	uint64_t psi_cpu_some_usec, psi_io_some_usec;
	double steal_share; /* of this host's CPU time, taken by its hypervisor */
	bool valid;
	char invalid_reason[160];
};

/* Everything unknown, and not valid. */
void figures_init(struct figures *o);

/* From the JSON of headroom-load. A report that says valid while a request failed is not believed. */
void figures_take_report(struct figures *o, const json_value *report);

/* From the counters at both ends; limit_cpus 0 = no limit. */
void figures_take_counters(struct figures *o, const struct snapshot *begin, const struct snapshot *end,
			   double limit_cpus);

void figures_take_steal(struct figures *o, const struct cpu_ticks *begin, const struct cpu_ticks *end);

void figures_invalidate(struct figures *o, const char *reason);

#endif
