/* page_part.h - one part of a page: where it is written, which results it shows, and its sections.
 */
#ifndef HEADROOM_LAB_PAGE_PART_H
#define HEADROOM_LAB_PAGE_PART_H

#include "page_html.h"
#include "page_results.h"

struct page_part {
	FILE *out;
	const struct page_results *results;
	size_t index;   /* of the results on this page: ids and the script's data go by it */
	unsigned level; /* of the sections' headings */
};

/* A section with its heading; then what it shows as one sentence; then picture and table. */
void page_section(const struct page_part *p, const char *id, const char *title);
void page_finding(const struct page_part *p, const char *fmt, ...) PRINTF_LIKE(2, 3);
void page_remark(const struct page_part *p, const char *fmt, ...) PRINTF_LIKE(2, 3); /* smaller: how to read it */
void page_section_end(const struct page_part *p);

/* A legend: pairs of a class and a text, ended by NULL. */
void page_key(FILE *out, const char *const pairs[]);

#endif
