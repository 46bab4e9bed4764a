/* mismatch.h - when nproc and what the container may really use disagree, in words and with the settings to use. */
#ifndef HEADROOM_SIDECAR_MISMATCH_H
#define HEADROOM_SIDECAR_MISMATCH_H

#include "jsonl.h"
#include "watch.h"

enum mismatch_kind {
	MISMATCH_NONE,     /* they agree, or the limit is not known */
	MISMATCH_QUOTA,    /* effective CPUs < nproc */
	MISMATCH_NO_LIMIT, /* nothing visible limits: pools grow to the node */
};

struct mismatch {
	enum mismatch_kind kind;
	char sentence[512];
};

void mismatch_judge(const struct watch *w, struct mismatch *out);

/* Adds to a log line: `runtimes` (CPUs that each runtime assumes), the ids of those that start too many threads, too
 * few, or do not see the limit of a cgroup above, and `settings` that make the first and the last fit. */
void mismatch_put(json_value *o, const struct watch *w);

/* Every runtime with its judgement and a sentence: for reports. An array, empty when the limit is not known. */
json_value *mismatch_runtimes(const struct snapshot *s, const struct cpu_counts *counts, enum hierarchy cpu_controller);

#endif
