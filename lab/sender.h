/* sender.h - headroom-load as the sender of a run: a warm-up, then the schedule of a condition, each one a process.
 */
#ifndef HEADROOM_LAB_SENDER_H
#define HEADROOM_LAB_SENDER_H

#include "program.h"
#include "run.h"

/* How long the schedule of a warm-up is, and how often a sender may come too late for its own. */
enum { SENDER_WARM_UP_NS = 600000000, SENDER_LATE_STARTS = 3 };

/* Asked to end, it writes what it has until then: so long it may take. */
#define SENDER_END_GRACE_NS (3 * NSEC_PER_SEC)

/* First touches of memory, caches, connections: evenly, not recorded. */
int sender_start_warm_up(struct program *load, const struct run_setup *setup, const char *url,
			 struct fault *f) MUST_CHECK;

/* The schedule of plan->condition, from start_ns (CLOCK_MONOTONIC) on; records go to setup->requests_path. */
int sender_start(struct program *load, const struct run_setup *setup, const struct run_plan *plan, const char *url,
		 int64_t start_ns, struct fault *f) MUST_CHECK;

/* Of one that has ended: it refuses to begin when its first instant has passed before its connections were open. */
bool sender_was_late(const struct program *load, int64_t start_ns);

/* What it wrote to stdout; NULL when that is no JSON. */
json_value *sender_report(const struct program *load);

/* Takes its records, as text and parsed, and removes the file. */
int sender_take_requests(const struct run_setup *setup, struct run_result *out, struct fault *f) MUST_CHECK;

#endif
