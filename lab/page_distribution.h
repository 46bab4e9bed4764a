/* page_distribution.h - how the response times of study 1 are distributed: a curve a condition.
 */
#ifndef HEADROOM_LAB_PAGE_DISTRIBUTION_H
#define HEADROOM_LAB_PAGE_DISTRIBUTION_H

#include "page_conditions.h"
#include "page_part.h"

void page_distribution(const struct page_part *p, const struct conditions *c);

#endif
