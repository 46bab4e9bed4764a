/* requests.h - the records that headroom-load writes, one per request (requests.csv). Pure.
 */
#ifndef HEADROOM_LAB_REQUESTS_H
#define HEADROOM_LAB_REQUESTS_H

#include "fault.h"

/* What did not happen, or was not told. */
#define REQUEST_ABSENT INT64_C(-1)

/* Instants are CLOCK_MONOTONIC ns, durations ns. */
struct request {
	int64_t planned_ns, sent_ns, first_byte_ns, done_ns; /* planned: of a closed loop, sent */
	int64_t status;                                      /* of HTTP */
	int64_t arrived_ns, started_ns, ended_ns;            /* in the server */
	int64_t queue_ns;                                    /* waited for a worker */
	int64_t cpu_ns;                                      /* ran */
	int64_t runqueue_wait_ns;                            /* could have run, had no CPU: quota and contention */
	int64_t wait_ns, disk_ns, pool_wait_ns;              /* deliberate wait, disk, pool */
	bool failed;                                         /* the error column is not empty */
};

struct requests {
	struct request *list;
	size_t n;
};

#define REQUESTS_NONE ((struct requests){.n = 0})

/* True if the whole answer came with a status of 200 to 299. */
bool request_ok(const struct request *r);

/* From the planned instant to the last byte; only when done_ns is there. */
int64_t request_latency_ns(const struct request *r);

/* Reads the whole text. Columns are found by name; others are passed over; planned_ns, sent_ns, done_ns and status
 * must be there; in a row planned_ns may be empty. -EINVAL names the line. Free with requests_release(). */
int requests_parse(const char *csv, struct requests *out, struct fault *f) MUST_CHECK;
void requests_release(struct requests *r);

#endif
