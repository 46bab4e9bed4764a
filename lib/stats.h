/* stats.h - statistics over kept samples, exact.
 *
 * A percentile is the nearest rank: the smallest sample such that at least p of all samples are not
 * above it, i.e. number ceil(n * p) of the sorted samples (1-based). The rank is computed in
 * integers, since ceil(99.9 / 100 * n) in doubles is one too high for n = 1,000, 2,000, ...
 * 1,200 samples at p99: number 1,188.
 */
#ifndef HEADROOM_STATS_H
#define HEADROOM_STATS_H

#include "base.h"

/* Percentiles are named in parts per million: p50 = 500000, p99 = 990000, p99.9 = 999000. */
enum {
	STATS_P50 = 500000,
	STATS_P90 = 900000,
	STATS_P95 = 950000,
	STATS_P99 = 990000,
	STATS_P999 = 999000,
	STATS_MAX = 1000000,
};

/* The 1-based rank, from 1 to n; 0 only for n = 0. ppm above 1,000,000 counts as 1,000,000. */
uint64_t stats_rank(uint64_t n, uint32_t ppm);

/* Sorts ascending, in place. */
void stats_sort(int64_t *samples, size_t n);

/* The sample at the nearest rank of an ascending array. n must be > 0. */
int64_t stats_percentile(const int64_t *sorted, size_t n, uint32_t ppm);

/* Middle sample, or the mean of the two middle ones rounded towards zero. Ascending, n > 0. */
int64_t stats_median(const int64_t *sorted, size_t n);

/* Arithmetic mean; 0 for n = 0. */
double stats_mean(const int64_t *samples, size_t n);

#endif
