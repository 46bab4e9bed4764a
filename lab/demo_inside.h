/* demo_inside.h - the demo where no limit can be made, but one is already set on ourselves: in a container.
 *
 *     docker run --rm --cpus=0.25 headroom demo
 *
 * The same even and burst load, at the given limit. Sender, probe and this program share that limit, which an
 * experiment must not do; so the report says how much of it each took, and what that changes. Other limits are not
 * tried, but predicted (forecast.h).
 */
#ifndef HEADROOM_LAB_DEMO_INSIDE_H
#define HEADROOM_LAB_DEMO_INSIDE_H

#include "base.h"

struct demo_inside {
	const char *program; /* for messages */
	double seconds;      /* of each of the two runs */
	uint64_t rounds;     /* work of a request; 0 = found out by short requests that fit into the limit */
	int64_t lead_ns;
	bool json;
};

/* True where a limit is set on our own cgroup, and none of the ways to make one works. */
bool demo_inside_applies(void);

/* Runs it and tells on stdout. An exit status: 0 both runs were measured, 1 failed, 130 or 143 interrupted. */
int demo_inside_run(const struct demo_inside *o);

#endif
