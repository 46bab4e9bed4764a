/* mismatch.h - when nproc and what the container may really use disagree, in words and with the settings to use. */
#ifndef HEADROOM_MISMATCH_H
#define HEADROOM_MISMATCH_H

#include "describe.h"

enum mismatch_kind {
	MISMATCH_NONE,     /* they agree, or the limit is not known */
	MISMATCH_QUOTA,    /* effective CPUs < nproc */
	MISMATCH_NO_LIMIT, /* nothing visible limits: pools grow to the node */
};

struct mismatch {
	enum mismatch_kind kind;
	char sentence[512];
};

/* `who` is how the container is called in the sentence. */
void mismatch_judge(const char *who, const struct limit_view *v, struct mismatch *out);

/* Adds to a line: `runtimes` (CPUs that each runtime assumes), the ids of those that start too many threads, too few,
 * or do not see the limit of a cgroup above, and `settings` that make the first and the last fit. */
void mismatch_put(json_value *o, const struct snapshot *s, const struct cpu_counts *cpus,
		  enum hierarchy cpu_controller);

/* Every runtime with its judgement and a sentence: for reports. An array, empty when the limit is not known. */
json_value *mismatch_runtimes(const struct snapshot *s, const struct cpu_counts *cpus, enum hierarchy cpu_controller);

/* The settings alone, one line: "GOMAXPROCS=1 OMP_NUM_THREADS=1 ..."; "" when everything fits or nothing is known. */
enum { MISMATCH_SETTINGS_SIZE = 512 };
void mismatch_settings(const struct snapshot *s, const struct cpu_counts *cpus, enum hierarchy cpu_controller,
		       char out[MISMATCH_SETTINGS_SIZE]);

#endif
