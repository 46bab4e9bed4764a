/* chart_growth.h - how something grows with a number: measured points joined by lines, and marked places on the axis.
 */
#ifndef HEADROOM_LAB_CHART_GROWTH_H
#define HEADROOM_LAB_CHART_GROWTH_H

#include "base.h"

enum { GROWTH_POINTS_MAX = 32, GROWTH_SERIES_MAX = 16 };

struct growth_series {
	char name[64]; /* beside its end; "" = none */
	const char *class;
	size_t n;
	double x[GROWTH_POINTS_MAX], y[GROWTH_POINTS_MAX];
};

struct growth {
	const char *label, *x_title, *y_title;
	unsigned height_px;
	double law, knee; /* on the x axis; NAN = none */
	const struct growth_series *series;
	size_t n;
};

void chart_growth(FILE *out, const struct growth *g);

#endif
