/* experiment.h - conditions, each repeated, in an order that changes; what was measured is on disk after each run.
 *
 * A run that is not valid (the sender was late, a request failed) is repeated once, at once; the first try stays in the
 * files, marked. Then the experiment goes on. It ends early when a signal arrives or a program of ours fails.
 */
#ifndef HEADROOM_LAB_EXPERIMENT_H
#define HEADROOM_LAB_EXPERIMENT_H

#include "results.h"

struct experiment_run {
	size_t condition; /* index */
	struct run_plan plan;
	struct run_result result;
};

struct experiment {
	const struct condition *conditions;
	size_t n_conditions, repetitions;
	size_t *order;     /* [repetition * n_conditions + position] */
	double *phases_ms; /* [condition * repetitions + repetition] */
	struct run_setup setup;
	struct results *results; /* NULL = no files */

	struct experiment_run *runs; /* in order of time */
	size_t n_runs;
	char **mismatch; /* [condition] the sidecar's nproc_quota_mismatch line; NULL = none came */
};

/* Draws order and phases. phase_ms NAN: random ones that cover the period; else that one for all. */
int experiment_plan(struct experiment *e, const struct condition *conditions, size_t n, size_t repetitions,
		    uint64_t seed, double phase_ms, struct fault *f) MUST_CHECK;

/* How long one run takes, with everything around its schedule: for the time that is left. */
int64_t experiment_run_ns(const struct run_setup *setup);

/* 0 when all runs were made, valid or not; else as run_condition(), or the errno of a file. */
int experiment_run(struct experiment *e, struct fault *f) MUST_CHECK;

void experiment_release(struct experiment *e);

#endif
