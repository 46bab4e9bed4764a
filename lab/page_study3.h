/* page_study3.h - the pictures and tables of study 3: throughput and response time over the number of threads, with the
 * law's N and the measured knee; and of several results of it side by side.
 */
#ifndef HEADROOM_LAB_PAGE_STUDY3_H
#define HEADROOM_LAB_PAGE_STUDY3_H

#include "page_part.h"

void page_study3(const struct page_part *part);
void page_study3_compare(const struct page_part *part, const struct page_results *all, size_t n);

#endif
