/* page_join.h - which rows of requests.csv and periods.csv belong to which run of study 1.
 *
 * The three files are written together after each run, so rows come in the order of the runs. A run that was not valid
 * was repeated under the same name: there its numbering of requests begins anew, and so do the counters of its cgroup.
 */
#ifndef HEADROOM_LAB_PAGE_JOIN_H
#define HEADROOM_LAB_PAGE_JOIN_H

#include "page_results.h"

/* Fills requests, throttled and periods of every run. -EINVAL: rows that belong to no run. */
int page_join(struct page_results *r, struct fault *f) MUST_CHECK;

#endif
