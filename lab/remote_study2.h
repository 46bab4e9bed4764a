/* remote_study2.h - study 2 against probes that run elsewhere: one piece of work under named circumstances, and the
 * counters that tell them apart. The judgement: the sidecars' verdicts on the cases called A to D are
 *
 *   A own_code     B throttled     C contention     D io_wait
 *
 * in every run that is valid. Other names are shown, not judged.
 */
#ifndef HEADROOM_LAB_REMOTE_STUDY2_H
#define HEADROOM_LAB_REMOTE_STUDY2_H

#include "remote.h"
#include "summary.h"

/* The verdict that belongs to a case by its name; NULL = none. */
const char *study2_expected_verdict(const char *name);

struct remote_study2 {
	const struct experiment *experiment; /* one condition for each target, in their order */
	const struct remote *remote;
	const struct summary *summaries; /* of the conditions */
	uint64_t seed;
	int64_t started_wall_ns;
	const char *unfinished; /* why it was not finished; NULL = it was */
	const char *folder;     /* of the results; NULL = none */
};

/* How many cases differ; each, in words, is a line of `out` (NULL = only counted). */
size_t study2_differences(const struct remote_study2 *s, FILE *out);

void study2_write_intro(FILE *out, const struct remote_study2 *s);

/* The table of fingerprints, a column for each case, and the judgement. 0 or -ENOMEM. */
int study2_write_text(FILE *out, const struct remote_study2 *s, bool color) MUST_CHECK;

/* The judgement, then a line for each case: the termination message. */
void study2_write_message(FILE *out, const struct remote_study2 *s);

/* summary.json and `-o json`. NULL when out of memory. */
json_value *study2_json(const struct remote_study2 *s);

#endif
