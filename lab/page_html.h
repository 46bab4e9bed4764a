/* page_html.h - pieces of HTML. Whatever comes from a file or a name passes through here, and is text afterwards.
 */
#ifndef HEADROOM_LAB_PAGE_HTML_H
#define HEADROOM_LAB_PAGE_HTML_H

#include "base.h"

/* Text for an element or a quoted attribute: & < > " ' as references; control characters and what is not UTF-8 as
 * U+FFFD. */
void html_text(FILE *out, const char *text);

/* The same for a formatted one, of any length. */
void html_format(FILE *out, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* ---- tables: <details> with a caption, heads that say what they head, the first cell of a row as its head ---- */

struct html_table {
	FILE *out;
	bool in_row;
	size_t cell; /* of the row */
};

enum html_table_kind { HTML_TABLE_OPEN, HTML_TABLE_FOLDED };

/* Cells that begin like a number stand at the right. heads: NULL-terminated. Folded: behind its caption.
 */
void html_table_begin(struct html_table *t, FILE *out, enum html_table_kind kind, const char *caption,
		      const char *const heads[]);
void html_row(struct html_table *t);
void html_cell(struct html_table *t, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* The same at the left, whatever it begins with. */
void html_cell_words(struct html_table *t, const char *text);

/* A dash for NAN. */
void html_cell_number(struct html_table *t, double value, int decimals, const char *unit);
void html_table_end(struct html_table *t, enum html_table_kind kind);

#endif
