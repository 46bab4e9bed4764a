/* dist.h - a distribution of durations: all samples (exact), or a histogram of them (bounded error).
 *
 * The histogram is always there; the samples are dropped when they do not all exist, as after a merge of results that
 * carry none. Every figure then comes from the histogram, and is too high by less than dist_error() of it.
 */
#ifndef HEADROOM_DIST_H
#define HEADROOM_DIST_H

#include "histogram.h"

enum { DIST_SUB_BITS = 10 };                         /* 1 / 1024: a percentile is at most 0.1 % too high */
#define DIST_HIGHEST_NS (INT64_C(3600) * 1000000000) /* an hour */

struct dist {
	int64_t *samples; /* ascending after dist_seal() */
	size_t n, room;
	bool exact; /* the samples are all there */
	struct histogram histogram;
};

/* Empty and exact, with room for that many samples (grows). 0 or -ENOMEM. Free with dist_free(). */
int dist_init(struct dist *d, size_t room, struct fault *f) MUST_CHECK;
void dist_free(struct dist *d);

/* One more sample; without memory for it the distribution stops being exact, and goes on. */
void dist_add(struct dist *d, int64_t ns);

/* To be called once after the last sample. */
void dist_seal(struct dist *d);

/* How many values it is made of. */
uint64_t dist_count(const struct dist *d);

/* Nearest rank; 0 when empty. dist_at_rank() counts from 1. */
int64_t dist_percentile(const struct dist *d, uint32_t ppm);
int64_t dist_at_rank(const struct dist *d, uint64_t rank);
int64_t dist_max(const struct dist *d);
double dist_mean_ns(const struct dist *d);

/* How many values are not above ns (exact), or lie in its bucket or below (histogram). */
uint64_t dist_count_to(const struct dist *d, int64_t ns);

/* 0 when exact, else the relative error of the histogram. */
double dist_error(const struct dist *d);

#endif
