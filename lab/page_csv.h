/* page_csv.h - a whole CSV file (RFC 4180) with a head line: columns by name, fields as text or numbers.
 *
 * A file that was cut is not taken for a whole one: every line has as many fields as the head and ends with a newline.
 */
#ifndef HEADROOM_LAB_PAGE_CSV_H
#define HEADROOM_LAB_PAGE_CSV_H

#include "fault.h"

struct csv_file {
	char *path;
	char *text;          /* the file; fields point into it */
	const char **fields; /* the head first, then row by row */
	size_t n_columns, n_rows;
};

#define CSV_FILE_NONE ((struct csv_file){.path = NULL})

/* Reads "<folder>/<name>". -EINVAL names the file and the line. */
int csv_file_load(struct csv_file *c, const char *folder, const char *name, struct fault *f) MUST_CHECK;
void csv_file_release(struct csv_file *c);

/* The column's number, or -EINVAL with a sentence. */
int csv_file_column(const struct csv_file *c, const char *name, struct fault *f) MUST_CHECK;

/* Rows and columns count from 0. Never NULL; "" for an empty field, and for column < 0. */
const char *csv_file_text(const struct csv_file *c, size_t row, int column);

/* NAN: an empty field. -EINVAL when it is no number. */
int csv_file_real(const struct csv_file *c, size_t row, int column, double *out, struct fault *f) MUST_CHECK;

#endif
