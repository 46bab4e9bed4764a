/* chart_timeline.h - one condition over time: response times with the throttled intervals behind them, and under them
 * the CPU time used in each period against the budget. The script zooms both together, down to single periods.
 */
#ifndef HEADROOM_LAB_CHART_TIMELINE_H
#define HEADROOM_LAB_CHART_TIMELINE_H

#include "page_results.h"

struct timeline {
	const char *title;
	const struct page_results *results; /* its runs with this limit and pattern are shown, one at a time */
	size_t results_index;
	const char *limit, *pattern;
	double length_ms, top_ms, top_cpu_ms; /* ends of the axes, the same for all that are to be compared */
};

void chart_timeline(FILE *out, const struct timeline *t);

/* True if the run is one of this condition's that are shown: a valid one. */
bool timeline_shows(const struct timeline *t, const struct page_run *run);

#endif
