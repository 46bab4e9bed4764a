/* query.h - the query of /work as a unit of work. Strict and pure: a parameter that is unknown, given twice
 * or out of bounds is refused with one sentence, since a typing error must not become a measurement.
 *
 *   cpu_ms=4    ms of CPU, as rounds by the calibration; 0 to 60,000, fractions allowed
 *   rounds=N    instead of cpu_ms: rounds of SHA-256, up to 10^12
 *   wait_ms=50  deliberate wait; 0 to 600,000, fractions allowed
 *   disk_kb=64  kB to write and sync; 0 to 1,048,576
 *   pool=db     one unit of a pool given by --pool
 */
#ifndef HEADROOM_PROBE_QUERY_H
#define HEADROOM_PROBE_QUERY_H

#include "unit.h"

#define QUERY_CPU_MS_MAX  60000.0
#define QUERY_ROUNDS_MAX  UINT64_C(1000000000000)
#define QUERY_WAIT_MS_MAX 600000.0
#define QUERY_DISK_KB_MAX UINT64_C(1048576)

/* What a query is read against. */
struct query_context {
	const struct unit *defaults;
	double rounds_per_ms; /* 0 = not known: cpu_ms above 0 is refused */
	const struct pool_spec *pools;
	size_t pool_count;
};

struct query {
	const struct query_context *context;
	struct unit unit; /* the defaults, changed by each parameter */
	unsigned seen;
};

void query_begin(struct query *q, const struct query_context *context);

/* Takes one decoded parameter; value is NULL for "?key" without '='. 0 or -EINVAL. */
int query_take(struct query *q, const char *key, size_t key_len, const char *value, size_t value_len,
	       struct fault *f) MUST_CHECK;

/* Milliseconds of CPU as rounds, rounded; at least 1 for anything above 0. */
uint64_t query_rounds(double cpu_ms, double rounds_per_ms);

/* Index of the pool, or UNIT_NO_POOL. */
int query_find_pool(const struct pool_spec *pools, size_t count, const char *name);

#endif
