/* reqlog.h - the last N requests, for /requests.csv.
 *
 * A ring: when it is full the oldest is overwritten. Every request has a number, and readers go by number,
 * so that a reader who takes his time sees gaps, never a mixture of two requests. Safe for threads.
 */
#ifndef HEADROOM_PROBE_REQLOG_H
#define HEADROOM_PROBE_REQLOG_H

#include "record.h"

#include <pthread.h>

struct reqlog {
	pthread_mutex_t lock;
	struct record *ring;
	uint64_t size;
	uint64_t count; /* requests so far; the newest has this number */
};

/* size > 0. -ENOMEM. The memory is touched as requests come in. */
int reqlog_init(struct reqlog *log, uint64_t size, struct fault *f) MUST_CHECK;
void reqlog_destroy(struct reqlog *log);

/* Gives the record its number (seq, from 1) and keeps it. */
void reqlog_add(struct reqlog *log, struct record *r);

/* The oldest kept record whose number is `seq` or higher; false when there is none. */
bool reqlog_get(struct reqlog *log, uint64_t seq, struct record *out);

/* Writes rows from number *seq on as long as whole rows fit, the CSV header first when *seq is 0; *seq becomes
 * the next number to ask for. Returns the bytes written, 0 at the end. `last` bounds the numbers, so that
 * reading ends although requests keep coming. size must be RECORD_TEXT_SIZE or more. */
size_t reqlog_csv(struct reqlog *log, uint64_t *seq, uint64_t last, char *out, size_t size);

/* Number of the newest request, 0 = none yet. */
uint64_t reqlog_newest(struct reqlog *log);

#endif
