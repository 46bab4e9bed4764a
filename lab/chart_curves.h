/* chart_curves.h - distributions: how long requests took at most, over the share of requests, both on a log scale.
 *
 * From left to right the slower requests get more room: 0%, 50%, 90%, 99%, 99.9%.
 */
#ifndef HEADROOM_LAB_CHART_CURVES_H
#define HEADROOM_LAB_CHART_CURVES_H

#include "base.h"

enum { CURVES_MAX = 16 };

struct curve {
	char name[64];
	char class[48]; /* of its line and its name */
	double *ms;     /* ascending */
	size_t n;
};

void chart_curves(FILE *out, const char *label, unsigned height_px, const struct curve *curves, size_t n);

/* Ascending, in place. */
void curve_sort(double *ms, size_t n);

#endif
