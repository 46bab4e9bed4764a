/* merge.h - `headroom-load merge FILE...`: joins the JSON of several senders into one result.
 *
 * Shards of one schedule (`--shard I/N`): all of them must be there, once. Results without a shard are repetitions of
 * one run and are pooled; the same one twice is refused. When every result carries all its samples the percentiles are
 * exact, else they come from the histograms, with the error that dist.h states; the result says which.
 */
#ifndef HEADROOM_MERGE_H
#define HEADROOM_MERGE_H

#include "result.h"

struct merge_item {
	char source[192]; /* "shard-0.json" or "pods.log, line 3" */
	struct result result;
};

/* May these be joined? 0 or -EINVAL with a sentence that names what is missing, there twice or different. Pure. */
int merge_check(const struct merge_item *items, size_t n, struct fault *f) MUST_CHECK;

/* Joins items that passed merge_check() into `into` (freed by the caller in any case). Pure. */
int merge_join(const struct merge_item *items, size_t n, struct result *into, struct fault *f) MUST_CHECK;

/* The sub-command; argv[0] is "merge". Returns the exit status. */
int merge_main(int argc, char **argv);

#endif
