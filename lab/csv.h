/* csv.h - fields of a CSV file (RFC 4180), each with the comma behind it. Nothing is written for what was not there.
 */
#ifndef HEADROOM_LAB_CSV_H
#define HEADROOM_LAB_CSV_H

#include "base.h"

/* NAN: an empty field. */
void csv_put_real(FILE *out, double value, int decimals);

/* FIGURE_ABSENT: an empty field. */
void csv_put_count(FILE *out, uint64_t value);

/* Quoted only where it must be. */
void csv_put_text(FILE *out, const char *text);

#endif
