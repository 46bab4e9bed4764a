/* remote_report.h - what is written about a study 1 whose probes ran elsewhere: for a terminal or a pod's log, as JSON,
 * and as the short text that Kubernetes keeps with a pod that has ended.
 */
#ifndef HEADROOM_LAB_REMOTE_REPORT_H
#define HEADROOM_LAB_REMOTE_REPORT_H

#include "remote.h"
#include "study1.h"

struct remote_report {
	const struct experiment *experiment;
	const struct remote *remote;
	uint64_t seed;
	int64_t started_wall_ns;
	const struct summary *summaries;          /* the six of study 1; without a load: no part of this one */
	const struct study1_judgement *judgement; /* NULL: the study was not finished */
	const char *unfinished;                   /* why; or NULL */
	const char *folder;                       /* of the results; NULL = none */
};

void remote_write_intro(FILE *out, const struct remote_report *r, bool color);

/* The tables and the words under them. 0 or -ENOMEM. */
int remote_write_text(FILE *out, const struct remote_report *r, bool color) MUST_CHECK;

/* summary.json and `-o json`. NULL when out of memory. */
json_value *remote_json(const struct remote_report *r);

/* The termination message; to be freed. NULL when out of memory. */
char *remote_message(const struct remote_report *r);

/* What the sidecar took a condition's valid runs to wait for: "throttled", or "throttled 2, own_code 1"; "-" when it
 * said nothing. */
enum { REMOTE_VERDICT_SIZE = 96 };
void remote_verdicts(const struct experiment *e, const struct condition *condition, char out[REMOTE_VERDICT_SIZE]);

#endif
