/* chart_bars.h - stacked bars, lying: of what a sum is made, one bar a row.
 */
#ifndef HEADROOM_LAB_CHART_BARS_H
#define HEADROOM_LAB_CHART_BARS_H

#include "base.h"

enum { BAR_PARTS_MAX = 8 };

struct bar {
	char name[64];
	double parts[BAR_PARTS_MAX]; /* negative ones and NAN are left out */
	double total;                /* written behind the bar; NAN: no bar */
};

/* classes: of the parts, in the order from left to right. */
void chart_bars(FILE *out, const char *label, const char *title, const char *const classes[], size_t n_parts,
		const struct bar *bars, size_t n);

#endif
