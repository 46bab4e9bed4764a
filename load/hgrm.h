/* hgrm.h - a percentile distribution in the text form that HdrHistogram's plotter and its relatives read. */
#ifndef HEADROOM_HGRM_H
#define HEADROOM_HGRM_H

#include "dist.h"

/* Values in ms; five lines for every halving of what is left to 100 %. The stream's error flag tells whether all of it
 * was written. note: comment lines of its own ("# ..."), or NULL. */
void hgrm_write(FILE *out, const struct dist *d, const char *note);

#endif
