/* page_conditions.h - the conditions of study 1 that have runs, as summary.json has them. Pure.
 */
#ifndef HEADROOM_LAB_PAGE_CONDITIONS_H
#define HEADROOM_LAB_PAGE_CONDITIONS_H

#include "page_results.h"
#include "run.h"

enum { CONDITIONS_MAX = 12 };

/* One condition as summary.json has it. */
struct shown {
	const json_value *json;
	const char *pattern;
	char limit[LIMIT_TEXT_SIZE]; /* as in the CSV files */
	char name[64];               /* "burst at 0.25 CPU" */
	char class[48];              /* of its curve */
};

struct conditions {
	struct shown list[CONDITIONS_MAX];
	size_t n;
};

/* They point into the summary. */
struct conditions conditions_take(const struct page_results *r);

/* NULL: there is none. */
const struct shown *conditions_find(const struct conditions *c, const char *pattern, double limit);

/* True if the run is one of this condition's, valid or not. */
bool conditions_match(const struct shown *s, const struct page_run *run);

#endif
