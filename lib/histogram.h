/* histogram.h - counts of values in log-linear buckets, for distributions that are too long to keep.
 *
 * Every power of two is divided into 2^sub_bits buckets of equal width (values below 2^(sub_bits + 1) have
 * a bucket each and are exact). A bucket is reported by its highest value, so a percentile read from here
 * is never below the exact nearest-rank percentile and above it by less than 1 / 2^sub_bits of it:
 *
 *     sub_bits  5: 3.2 %      1,205 buckets for values to 1 h in ns
 *     sub_bits  7: 0.79 %     4,562
 *     sub_bits 10: 0.098 %   33,421
 *
 * All arithmetic is in integers. Recording allocates nothing and takes constant time; the size is fixed
 * by histogram_init(). Not safe against concurrent use. Two histograms of one shape can be added.
 */
#ifndef HEADROOM_HISTOGRAM_H
#define HEADROOM_HISTOGRAM_H

#include "fault.h"

enum { HISTOGRAM_SUB_BITS_MAX = 14 };

struct histogram {
	uint64_t *counts;
	size_t buckets;
	unsigned sub_bits;
	uint64_t total;   /* values recorded, the clipped ones included */
	uint64_t clipped; /* values above `highest`: counted in the last bucket */
	int64_t highest;  /* as given to histogram_init() */
	int64_t min, max; /* exact; meaningful only when total > 0 */
	double sum;
};

/* sub_bits 0..HISTOGRAM_SUB_BITS_MAX, highest >= 0. 0, -EINVAL or -ENOMEM. Free with histogram_free(). */
int histogram_init(struct histogram *h, unsigned sub_bits, int64_t highest, struct fault *f) MUST_CHECK;
void histogram_free(struct histogram *h);

/* Forgets all values, keeps the memory. */
void histogram_reset(struct histogram *h);

/* One value, or n equal ones. Below 0 counts as 0, since the monotonic clock gives nothing below. */
void histogram_record(struct histogram *h, int64_t value);
void histogram_record_n(struct histogram *h, int64_t value, uint64_t n);

/* Adds all of `from`. -EINVAL when sub_bits or highest differ. */
int histogram_add(struct histogram *into, const struct histogram *from) MUST_CHECK;

/* The highest value of the bucket in which the nearest rank lies (stats.h), but not above max. 0 when empty. */
int64_t histogram_percentile(const struct histogram *h, uint32_t ppm);

/* The same for a rank from 1 to total (above: max). */
int64_t histogram_at_rank(const struct histogram *h, uint64_t rank);

/* How many values lie in the bucket of `value` or below it. */
uint64_t histogram_count_to(const struct histogram *h, int64_t value);

/* Exact; 0 when empty. */
double histogram_mean(const struct histogram *h);

/* What a percentile may be too high by, as a share of it: 1 / 2^sub_bits. */
double histogram_relative_error(const struct histogram *h);

/* The bucket of a value (the last one for values above `highest`), and the values that a bucket holds. */
size_t histogram_bucket(const struct histogram *h, int64_t value);
int64_t histogram_bucket_low(const struct histogram *h, size_t bucket);
int64_t histogram_bucket_high(const struct histogram *h, size_t bucket);

#endif
