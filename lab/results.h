/* results.h - the folder of one study: runs.csv, requests.csv, periods.csv, sidecar.jsonl, summary.json.
 *
 * Rows are appended and flushed after each run, so that what was measured survives whatever happens later; summary.json
 * is replaced as a whole. CSV per RFC 4180, units in the column names, an empty field for what was not there.
 *
 *   runs.csv      one row a run, also those that are not valid
 *   requests.csv  one row a request: the condition's columns, then those of headroom-load; instants are CLOCK_MONOTONIC
 *   periods.csv   one row a change of nr_periods, nr_throttled or throttled time, seen by reading cpu.stat every ms
 *   sidecar.jsonl what headroom-sidecar said beside the runs
 */
#ifndef HEADROOM_LAB_RESULTS_H
#define HEADROOM_LAB_RESULTS_H

#include "run.h"

struct results {
	char *folder;
	FILE *runs, *requests, *periods, *sidecar;
	bool requests_have_head;
	int64_t started_wall_ns;
};

#define RESULTS_NONE ((struct results){.folder = NULL})

/* Makes the folder: `out`, or results/<time> when it is NULL. -EEXIST when it holds results already. */
int results_open(struct results *r, const char *out, struct fault *f) MUST_CHECK;

/* Opens the files of a study whose runs are those of run.h, for results_add(). Other studies write their own. */
int results_begin_runs(struct results *r, struct fault *f) MUST_CHECK;

/* Appends one run. */
int results_add(struct results *r, const struct run_setup *setup, const struct run_plan *plan,
		const struct run_result *run, struct fault *f) MUST_CHECK;

/* Writes "<folder>/<name>" as a whole. */
int results_write_json(const struct results *r, const char *name, const json_value *value, struct fault *f) MUST_CHECK;

void results_close(struct results *r);

/* The head of runs.csv and one row of it, each with a newline. */
void results_write_run_head(FILE *out);
void results_write_run_row(FILE *out, const struct run_setup *setup, const struct run_plan *plan,
			   const struct figures *figures);

/* The records of the sender with the condition's columns in front, with the head line or without. */
void results_write_requests(FILE *out, const struct run_plan *plan, const char *csv, bool with_head);

#endif
