/* parts.h - where the time of a request went. Pure.
 *
 *     response time = lateness + network + queue + running + waiting for a CPU + deliberate wait (+ disk, pool)
 *
 * The server tells how long its worker ran and how long it could have run but had no CPU. That wait, and the wait in
 * the server's queue, are split with the throttled intervals that were seen in cpu.stat: what lies in one of them is
 * the quota's; the rest of the queue is requests before this one, the rest of the wait is contention for CPUs.
 */
#ifndef HEADROOM_LAB_PARTS_H
#define HEADROOM_LAB_PARTS_H

#include "requests.h"
#include "ticks.h"

enum part {
	PART_LATENESS,    /* planned to sent: the sender's own */
	PART_NETWORK,     /* and what server and sender need to handle a request: what remains */
	PART_QUEUE,       /* others before it were running */
	PART_QUEUE_QUOTA, /* others before it were waiting for the quota */
	PART_RUNNING,     /* its own CPU time */
	PART_QUOTA,       /* it had its turn and waited for the quota */
	PART_CONTENTION,  /* it had its turn and waited for a CPU for another reason */
	PART_WAIT,        /* deliberate: waits, disk, pool */
	PARTS,
};

/* "lateness_ms", "network_ms", ... for CSV and JSON. */
const char *part_key(enum part p);

/* ns[] of one answered request: they add up to its response time exactly; network can come out a little below 0 where
 * clocks were read one after the other. False when the server did not tell, or there is no answer. */
bool parts_of(const struct request *r, const struct ticks *ticks, int64_t ns[PARTS]);

#endif
