/* measure.h - one whole run: connections, warm-up, the schedule or the closed loop, and what it came to. */
#ifndef HEADROOM_MEASURE_H
#define HEADROOM_MEASURE_H

#include "options.h"
#include "result.h"
#include "schedule.h"

struct measure {
	const struct load_options *options;
	const struct schedule *schedule; /* NULL: closed loop */
	uint64_t threads;                /* closed loop */
	int requests_fd;                 /* requests.csv, its head written; -1 = none */
	size_t first_seq;                /* number of the first request in it; advanced by the run */
	int write_error;                 /* errno of a line that could not be written; 0 = none */
};

/* How many requests may be in flight: --connections, the threads of a closed loop, or else as many as the schedule
 * sends in 2 s (8 to 900), so that a server that stalls for a second delays no send. */
uint64_t measure_connections(const struct measure *m);

/* How many warm-up requests there are: --warmup, or one for each of the --connections or threads, or else as many as
 * the schedule sends in 10 ms (8 to 900). */
uint64_t measure_warm_up(const struct measure *m);

/* Fills r, which result_init() made and which is to be freed in any case. 0 also for a run that a signal ended
 * (r->interrupted_by) or that is invalid. Negative when nothing was measured: -EINVAL for a URL or header that cannot
 * be used, -EINTR when interrupted before the first instant (r->interrupted_by), else -EIO and others, with a sentence.
 */
int measure_run(struct measure *m, struct result *r, struct fault *f) MUST_CHECK;

#endif
