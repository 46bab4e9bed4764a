/* page_study1.h - the pictures and tables of study 1, and of several results of it side by side.
 */
#ifndef HEADROOM_LAB_PAGE_STUDY1_H
#define HEADROOM_LAB_PAGE_STUDY1_H

#include "page_part.h"

void page_study1(const struct page_part *part);
void page_study1_compare(const struct page_part *part, const struct page_results *all, size_t n);

#endif
