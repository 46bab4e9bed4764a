/* page_results.h - a folder of results, read back: what report.html is made from.
 *
 * Every study has summary.json and runs.csv. Study 1 has also requests.csv and periods.csv; their rows are joined with
 * the runs they belong to, and times count in ms from the first planned request of the run.
 */
#ifndef HEADROOM_LAB_PAGE_RESULTS_H
#define HEADROOM_LAB_PAGE_RESULTS_H

#include "jsonl.h"
#include "page_csv.h"

/* NAN where the sender or the server did not tell. */
struct page_request {
	double at_ms;      /* planned */
	double latency_ms; /* planned to last byte */
	double queue_ms, cpu_ms, cpu_wait_ms;
	double started_ms; /* when its worker began, counted as at_ms */
	bool ok;
};

struct page_span {
	double from_ms, to_ms;
};

/* One period of the quota in which something ran, or 100 ms where there is no quota. */
struct page_period {
	double from_ms, to_ms, cpu_ms;
};

struct page_run {
	const char *limit, *pattern; /* as in the files */
	double limit_cpus;           /* NAN = none */
	unsigned repetition;
	bool valid;
	const char *invalid_reason;
	double phase_ms, cpu_cores_mean, of_limit, p50_ms, p99_ms, max_ms, lateness_p99_ms;
	double nr_periods, nr_throttled, throttled_ms;
	struct page_request *requests;
	struct page_span *throttled;
	struct page_period *periods;
	size_t n_requests, n_throttled, n_periods;
};

struct page_results {
	char *folder;
	const char *name;  /* the last part of the folder */
	const char *study; /* as in summary.json */
	json_value *summary;
	struct csv_file runs_csv, requests_csv, periods_csv;
	struct page_run *runs; /* of study 1, in order of time */
	size_t n_runs;
};

/* 0, or a sentence that names the file: it is missing, was cut, or is of another version. */
int page_results_load(struct page_results *r, const char *folder, struct fault *f) MUST_CHECK;
void page_results_release(struct page_results *r);

/* A number of a JSON object; NAN when it is not there. */
double page_number(const json_value *object, const char *key);

#endif
