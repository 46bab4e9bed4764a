/* concurrency.h - the concurrency law (law.h) for a service of one's own: what nproc would give, what the effective
 * limit gives. Pure.
 */
#ifndef HEADROOM_LAB_CONCURRENCY_H
#define HEADROOM_LAB_CONCURRENCY_H

#include "jsonl.h"

struct concurrency {
	double cpu_ms, wait_ms; /* of one request */
	double effective_cpus;  /* what the limit leaves */
	unsigned nproc;
	const char *cpus_source; /* for people: who says so */
	const char *source;      /* of cpu_ms and wait_ms: "given", "service", "sidecar" */
	double response_ms;      /* of one request alone, measured; NAN = not measured */
	double requests;         /* that it is the mean of; NAN = not measured */

	/* by the law */
	double threads_effective, threads_nproc;
	double max_rate; /* requests/s under the effective limit */
};

/* Fills what is by the law. -EINVAL with a sentence when the figures do not allow it. */
int concurrency_apply(struct concurrency *c, struct fault *f) MUST_CHECK;

/* Whole threads: the law's N, up to the next one, at least 1. */
double concurrency_whole(double threads);

/* One paragraph that a person can repeat to a colleague. */
enum { CONCURRENCY_TEXT_SIZE = 1024 };
void concurrency_sentence(const struct concurrency *c, char out[CONCURRENCY_TEXT_SIZE]);

void concurrency_write_text(FILE *out, const struct concurrency *c);

/* NULL when out of memory. */
json_value *concurrency_json(const struct concurrency *c);

#endif
