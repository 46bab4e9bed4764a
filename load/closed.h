/* closed.h - the closed loop: each of N users sends the next request when it has its answer.
 *
 * The users are N transfers in flight of one thread. There is no plan: times count from the send, and a server that
 * stalls is asked less meanwhile (that is what a closed loop measures; the open loop does not spare it). A user whose
 * connection failed waits 100 ms before it tries again, so that a server that is gone is not flooded.
 */
#ifndef HEADROOM_CLOSED_H
#define HEADROOM_CLOSED_H

#include "run.h"

struct closed_config {
	uint64_t users;      /* not more than the handles of r->http */
	int64_t start_ns;    /* CLOCK_MONOTONIC */
	int64_t duration_ns; /* no request is begun after it; the answers of those on their way are awaited */
};

/* As sender_run(). */
int closed_run(struct run *r, const struct closed_config *config, struct fault *f) MUST_CHECK;

#endif
