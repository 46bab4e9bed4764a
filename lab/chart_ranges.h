/* chart_ranges.h - one row a case, on a log scale: what was measured here, with the range over its runs; what was
 * published; what was predicted.
 */
#ifndef HEADROOM_LAB_CHART_RANGES_H
#define HEADROOM_LAB_CHART_RANGES_H

#include "base.h"

/* NAN: there is none. */
struct range {
	double low, at, high;
};

struct range_row {
	char name[64];
	struct range here, published, predicted;
};

/* Values are above 0. */
void chart_ranges(FILE *out, const char *label, const char *title, const struct range_row *rows, size_t n);

#endif
