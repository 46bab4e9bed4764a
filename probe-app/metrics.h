/* metrics.h - what /metrics tells: Prometheus text 0.0.4, or OpenMetrics 1.0 for clients that accept it. */
#ifndef HEADROOM_PROBE_METRICS_H
#define HEADROOM_PROBE_METRICS_H

#include "buckets.h"
#include "record.h"
#include "unit.h"

#include <pthread.h>

/* Requests for work are counted by the status of the answer; others than these under "other". */
enum { METRICS_STATUSES = 7 };
extern const int metrics_statuses[METRICS_STATUSES];

/* Which part of a request each histogram counts. */
enum metrics_part { PART_QUEUE, PART_CPU, PART_RUNQUEUE, PART_WAIT, PART_TOTAL, METRICS_PARTS };

struct metrics {
	pthread_mutex_t lock;
	struct buckets parts[METRICS_PARTS];
	uint64_t by_status[METRICS_STATUSES + 1];
};

/* What is true at this instant, gathered by the caller. */
struct metrics_now {
	uint32_t workers, workers_busy, queue_depth, queue_max;
	uint64_t in_flight, connections;
	uint64_t rounds;
	double cpu_ms;
	size_t pool_count;
	const struct pool_spec *pools;
	uint32_t pool_used[POOLS_MAX], pool_waiting[POOLS_MAX];
};

void metrics_init(struct metrics *m);
void metrics_destroy(struct metrics *m);

/* Counts a finished request. Histograms: those that were done (status 200). */
void metrics_add(struct metrics *m, const struct record *r);

/* Does this Accept header (NULL = none) ask for OpenMetrics 1.x text? Pure. */
bool metrics_wants_openmetrics(const char *accept);

extern const char metrics_type_text[], metrics_type_openmetrics[]; /* the Content-Types */

/* The whole text, to be freed; NULL when out of memory. */
char *metrics_text(struct metrics *m, const struct metrics_now *now, bool openmetrics, size_t *len) MUST_CHECK;

#endif
