/* study3_report.h - what is written about study 3: for a terminal, and as JSON.
 */
#ifndef HEADROOM_LAB_STUDY3_REPORT_H
#define HEADROOM_LAB_STUDY3_REPORT_H

#include "session.h"
#include "study3_run.h"

struct study3_report {
	const struct session *session;
	double cpus, seconds;
	size_t repetitions;
	const struct study3_outcome *outcomes; /* one for each case */
	const struct study3_run *runs;         /* all that were begun */
	size_t n_runs;
	const struct study3_judgement *judgement; /* NULL: not finished */
	const char *unfinished;                   /* why; or NULL */
};

void study3_write_intro(FILE *out, const struct study3_report *r, bool color);

/* The tables and the words under them. 0 or -ENOMEM. */
int study3_write_text(FILE *out, const struct study3_report *r, bool color) MUST_CHECK;

/* summary.json and `-o json`. NULL when out of memory. */
json_value *study3_json(const struct study3_report *r);

#endif
