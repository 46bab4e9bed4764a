/* tables.h - aligned text tables for a terminal, and the two styles that help reading.
 */
#ifndef HEADROOM_LAB_TABLES_H
#define HEADROOM_LAB_TABLES_H

#include "base.h"

enum { TABLE_COLUMNS_MAX = 16, TABLE_CELL_MAX = 48 };

struct table_column {
	const char *group; /* stands above neighbours that have the same one; NULL or "" = none */
	const char *head;
	bool left; /* aligned; else right, as numbers are */
};

struct table {
	const struct table_column *columns;
	size_t n_columns, n_rows;
	char (*cells)[TABLE_CELL_MAX]; /* row by row */
	size_t room, filled;
};

void table_init(struct table *t, const struct table_column *columns, size_t n);

/* Fills the next cell, from left to right and from top to bottom; longer text is cut. -ENOMEM is remembered: then
 * table_write() writes nothing and fails. */
void table_cell(struct table *t, const char *fmt, ...) PRINTF_LIKE(2, 3);

/* A number with so many decimals, or "-" for NAN. */
void table_number(struct table *t, double value, int decimals, const char *unit);

/* Writes it with one blank line after it. 0, or -ENOMEM. */
int table_write(const struct table *t, FILE *out, bool color);
void table_release(struct table *t);

/* True if `out` is a terminal that shows styles and the user did not forbid them (NO_COLOR, TERM=dumb). */
bool tables_use_color(FILE *out);

/* Writes the escape sequence of a style when `color` is true. */
void tables_style(FILE *out, const char *style, bool color);

/* Words broken into lines of at most `width` characters. The first line begins with the label, the others with as many
 * blanks as `indent`. */
void tables_wrap(FILE *out, const char *label, const char *text, size_t indent, size_t width);

#endif
