/* buckets.h - a histogram with the fixed bounds of the metrics, from 50 us to 10 s. Pure. */
#ifndef HEADROOM_PROBE_BUCKETS_H
#define HEADROOM_PROBE_BUCKETS_H

#include "base.h"

enum { BUCKETS = 17 };

/* Upper bounds in ns, ascending; a value equal to a bound belongs to its bucket (Prometheus' `le`). */
extern const int64_t bucket_bounds_ns[BUCKETS];

/* The same in seconds as text, as OpenMetrics wants floats: "0.001", "1.0". */
extern const char *const bucket_bounds_text[BUCKETS];

struct buckets {
	uint64_t counts[BUCKETS + 1]; /* the last: above all bounds */
	uint64_t total;
	int64_t sum_ns;
};

/* ns below 0 (unknown) are not counted. */
void buckets_add(struct buckets *b, int64_t ns);

#endif
