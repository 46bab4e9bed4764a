/* law.h - the concurrency law: how many threads a service needs. Pure.
 *
 *     threads = (CPU time + wait time) / CPU time x CPUs
 *
 * In general: units of the bottleneck resource / the part of a request that holds one (study 3; it is Little's law at
 * the point where the bottleneck is just always busy). In a container the CPUs are the effective ones, not nproc.
 */
#ifndef HEADROOM_LAW_H
#define HEADROOM_LAW_H

#include "base.h"

/* Of one request: CPU time and time waiting for something else. NaN unless cpu_ms > 0, wait_ms >= 0 and cpus > 0. */
double law_threads(double cpu_ms, double wait_ms, double cpus);

/* Requests per second that the CPUs can carry at most. NaN under the same conditions. */
double law_max_rate(double cpu_ms, double cpus);

/* Threads for a pool of `units`, each held for hold_ms of a request that takes request_ms in all. NaN unless
 * 0 < hold_ms <= request_ms. */
double law_threads_for_pool(double units, double hold_ms, double request_ms);

/* ---- the measured knee ---- */

struct law_point {
	double threads, per_second;
};

/* Where throughput stops growing, fitted: the crossing of a line through the origin (throughput = slope x threads,
 * least squares over the points before the knee) with the plateau (mean of the points behind it), for the split that
 * leaves the least sum of squared relative errors. Points ascending by threads, at least 3, of which at least 1 lies on
 * either side. NaN when there is no such split. */
double law_knee(const struct law_point *points, size_t n);

#endif
