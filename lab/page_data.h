/* page_data.h - the data of a page as JSON: the summary of each of the results, and of study 1 every request, period
 * and throttled interval. Times in ms, rounded to the microsecond.
 */
#ifndef HEADROOM_LAB_PAGE_DATA_H
#define HEADROOM_LAB_PAGE_DATA_H

#include "page_results.h"

/* <script type="application/json" id="data">. 0 or -ENOMEM. */
int page_data_write(FILE *out, const struct page_results *all, size_t n) MUST_CHECK;

#endif
