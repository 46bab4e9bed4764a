/* summary.h - one condition over all its valid runs. Pure.
 */
#ifndef HEADROOM_LAB_SUMMARY_H
#define HEADROOM_LAB_SUMMARY_H

#include "experiment.h"
#include "parts.h"

/* NAN, or FIGURE_ABSENT, where there is nothing. Percentiles are nearest rank over all requests of the runs. */
struct summary {
	struct condition condition;
	size_t runs, invalid; /* valid runs, and those that were left out */
	uint64_t requests, ok;
	double cpu_cores_mean, of_limit; /* mean over the runs */
	double cpu_ms_per_request;       /* mean over the runs, all of the server included */
	double p50_ms, p90_ms, p99_ms, max_ms;
	double p99_low_ms, p99_high_ms;                                       /* of single runs */
	double lateness_p99_ms;                                               /* the worst of the runs */
	uint64_t nr_periods, nr_throttled, throttled_usec, psi_cpu_some_usec; /* sums */
	/* of the runs, each replayed at the phase that was observed (forecast.h): median and range of their p99 */
	double predicted_p99_ms, predicted_p99_low_ms, predicted_p99_high_ms;
	size_t n_parts;         /* requests at or above p95 whose parts are known */
	double parts_ms[PARTS]; /* their means */
	double parts_total_ms;  /* mean of their response times */
};

/* -ENOMEM. */
int summary_make(const struct experiment *e, size_t condition, struct summary *out, struct fault *f) MUST_CHECK;

/* As JSON object; NULL when out of memory. */
json_value *summary_json(const struct summary *s);

#endif
