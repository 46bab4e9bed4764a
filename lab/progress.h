/* progress.h - one line on stderr that says which condition runs, how far it is, and how long the rest takes. Only on
 * a terminal; else nothing is written.
 */
#ifndef HEADROOM_LAB_PROGRESS_H
#define HEADROOM_LAB_PROGRESS_H

#include "base.h"

struct progress {
	FILE *out;        /* NULL = silent */
	size_t done, all; /* runs */
	int64_t run_ns;   /* expected length of one */
	int64_t run_started_ns, drawn_ns;
	char what[96];
};

/* Silent unless `out` is a terminal that can go back to the start of a line. */
void progress_open(struct progress *p, FILE *out, size_t runs, int64_t run_ns);

/* The next run begins. Its real length corrects what is expected of the others. */
void progress_begin(struct progress *p, const char *what);

/* Called as often as one likes; draws at most 5 times a second. */
void progress_tick(struct progress *p);

void progress_end_run(struct progress *p);

/* Wipes the line, so that results can be written. */
void progress_clear(struct progress *p);

#endif
