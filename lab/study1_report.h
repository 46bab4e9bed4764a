/* study1_report.h - what is written about a finished study 1: for a terminal, and as JSON.
 */
#ifndef HEADROOM_LAB_STUDY1_REPORT_H
#define HEADROOM_LAB_STUDY1_REPORT_H

#include "session.h"
#include "study1.h"

struct study1_report {
	const struct experiment *experiment;
	const struct calibration *calibration;
	uint64_t seed;
	bool phase_is_random;
	const struct summary *summaries;
	const struct study1_judgement *judgement; /* NULL: the study was not finished */
	const char *unfinished;                   /* why; or NULL */
};

/* What is fixed before the first run: how the limit is made, the work, the order. */
void study1_write_intro(FILE *out, const struct study1_report *r, bool color);

/* The tables and the words under them. 0 or -ENOMEM. */
int study1_write_text(FILE *out, const struct study1_report *r, bool color) MUST_CHECK;

/* summary.json and `-o json`. NULL when out of memory. */
json_value *study1_json(const struct study1_report *r);

#endif
