/* study1_tables.h - what every report of study 1 has in common, wherever its probes ran: the table beside the published
 * one, the order, the judgement.
 */
#ifndef HEADROOM_LAB_STUDY1_TABLES_H
#define HEADROOM_LAB_STUDY1_TABLES_H

#include "study1.h"
#include "tables.h"

enum { STUDY1_LINE_WIDTH = 110 };

/* Wrapped, with a blank line after it; nothing for "". */
void study1_put_paragraph(FILE *out, const char *text);

/* The order of the runs, in words, as one labelled line. */
void study1_write_order(FILE *out, const struct experiment *e);

/* A row for each condition that was part of the study. 0 or -ENOMEM. */
int study1_write_main_table(FILE *out, const struct summary *s, bool color) MUST_CHECK;

/* Fills the next cell with "1.2 to 3.4", or "-" when there is no range. */
void study1_put_range(struct table *t, double low, double high);

/* "shape: ..." and what differs; j NULL: the study was not finished, and why. */
void study1_write_judgement(FILE *out, const struct study1_judgement *j, const char *unfinished, bool color);

/* A line for each run that is not valid. */
void study1_write_left_out(FILE *out, const struct experiment *e);

/* For summary.json; NULL when out of memory. */
json_value *study1_order_json(const struct experiment *e);
json_value *study1_published_json(const struct study1_published *p);

/* shape (null when j is NULL) and differences. */
void study1_set_judgement(json_value *o, const struct study1_judgement *j);

#endif
