/* sender.h - the open loop: follows a plan, whatever the answers do.
 *
 * A request is sent at its planned instant. When no connection is free then, the request is recorded as `blocked` and
 * is sent, in the order of the plan, as soon as one becomes free; its answer time still counts from its planned
 * instant. When none became free within the time-out it is given up (ANSWER_NOT_SENT), so that a run ends at most two
 * time-outs after its last instant.
 */
#ifndef HEADROOM_SENDER_H
#define HEADROOM_SENDER_H

#include "plan.h"
#include "run.h"

struct sender_config {
	const struct plan *plan;
	int64_t start_ns; /* CLOCK_MONOTONIC of offset 0 */
	int64_t spin_ns;  /* before each instant; negative: pacer_spin_ns() of the gap */
};

/* One shot for every instant that came due, all settled at the end. r->shots must have room. Returns 0 also when
 * stopped by a signal (r->stopped_by); -ENOMEM when recording was not possible. */
int sender_run(struct run *r, const struct sender_config *config, struct fault *f) MUST_CHECK;

#endif
