/* study3_run.h - one case of study 3: a probe alone under the limit, one closed loop after the other against it.
 *
 * A point is seen over a window that begins 0.7 s after its sender was started, when all threads are at work and what
 * the quota had left over is used up. The throughput is the sum, over all requests, of the part of a request's life
 * that lies in the window: exact also where few requests fit in, and threads that start together answer together.
 */
#ifndef HEADROOM_LAB_STUDY3_RUN_H
#define HEADROOM_LAB_STUDY3_RUN_H

#include "program.h"
#include "run.h"
#include "study3.h"
#include "watch.h"

struct study3_run {
	const struct study3_case *of;
	uint64_t threads;
	unsigned repetition, position; /* from 1 */
	struct study3_point point;     /* runs is 0 or 1 */
	uint64_t throttled_usec;       /* FIGURE_ABSENT = not there */
	bool valid;
	char invalid_reason[160];
};

/* A probe of a case, under its limit. */
struct study3_service {
	const struct run_setup *setup; /* limiter, programs, rounds, duration_ns of a window, signals, progress */
	const struct study3_case *of;
	double cpus;
	struct limit_group group;
	struct program probe, sidecar;
	struct watch watch;
	char url[256];
};

/* Starts it; workers = the most threads that will ask. Close in every case. */
int study3_service_open(struct study3_service *s, const struct run_setup *setup, const struct study3_case *of,
			double cpus, uint64_t workers, struct fault *f) MUST_CHECK;

/* What its sidecar said, to be freed; NULL = nothing. Ends everything, proves it gone, removes the group. */
int study3_service_close(struct study3_service *s, char **sidecar_log, struct fault *f) MUST_CHECK;

/* Measures run->threads. 0, or a negative errno: -EINTR a signal. Then the run is not valid, and says why. */
int study3_measure(struct study3_service *s, struct study3_run *run, struct fault *f) MUST_CHECK;

/* Figures of the requests within [from_ns, to_ns). Pure. */
void study3_take_requests(struct study3_point *p, const struct requests *r, int64_t from_ns, int64_t to_ns);

/* Head and rows of runs.csv. */
void study3_write_head(FILE *out);
void study3_write_row(FILE *out, const struct study3_run *run, double cpus);

#endif
