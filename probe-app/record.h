/* record.h - what is known about one request for work, and the three ways in which it is told:
 * the JSON answer, the response headers, and a row of /requests.csv. One table names them all.
 *
 * The instants, all CLOCK_MONOTONIC in ns, in the order in which they happen:
 *
 *   arrived   the request was there to be read: `read` less the time the connection's thread waited for a CPU
 *             (arrival.h)
 *   read      its request line has been read and parsed
 *   queued    its header (and body) is complete, it joined the queue of the workers
 *   dequeued  a worker was given to it
 *   started   the worker runs
 *   ended     the work is done
 *   answered  the whole answer was given to the kernel (known only in /requests.csv)
 *
 * and where the time from arrived to ended went, in ns:
 *
 *   ended - arrived = queue + cpu + runqueue_wait + wait + disk + pool_wait + pool_hold + rest
 *
 * The rest is what the server itself computes between `read` and `started`: 15 to 25 us.
 *
 * The wait for a CPU is what remains of the wall time: a thread that is neither running nor asleep by intention is
 * ready to run. The kernel's own count of it is in schedstat_wait; it serves where a thread sleeps for an unknown
 * time (disk, and before `read`). For the whole request it can be wrong: a virtual CPU that the host takes away
 * (steal) is not in it, and the 6.18 kernel at times loses, or counts twice, tens of ms of a thread that its
 * quota has stopped.
 */
#ifndef HEADROOM_PROBE_RECORD_H
#define HEADROOM_PROBE_RECORD_H

#include "meter.h"
#include "work.h"

/* A figure that does not exist (a request that was refused never started) is METER_UNKNOWN: null in JSON,
 * no header, an empty field in CSV. */
struct record {
	int64_t arrived_ns, read_ns, queued_ns, dequeued_ns, started_ns, ended_ns, answered_ns;
	int64_t queue_ns;          /* dequeued - queued */
	int64_t run_ns;            /* ended - started */
	int64_t cpu_ns;            /* CPU time of the thread from started to ended */
	int64_t runqueue_wait_ns;  /* ready to run, without a CPU, from arrived to ended: quota, contention, steal */
	int64_t schedstat_wait_ns; /* the same as schedstat counts it from read to ended, plus arrival_wait */
	int64_t arrival_wait_ns;   /* the part of it before `read` */
	int64_t wait_ns;           /* the deliberate wait, without run-queue wait at its end */
	int64_t disk_ns;           /* asleep in write and fsync */
	int64_t pool_wait_ns;      /* waited for a unit of the pool */
	int64_t pool_hold_ns;      /* held it */
	int64_t rest_ns;           /* see above */
	int64_t rounds;            /* of SHA-256 */
	int64_t worker;            /* number of the worker, from 0 */
	int64_t status;            /* of the answer */
	int64_t connection;        /* number of the connection, from 1 */
	int64_t seq;               /* number of the request, from 1 */
	uint8_t digest[WORK_DIGEST_BYTES];
};

/* Everything unknown. */
void record_init(struct record *r);

/* Balances the account of a record whose work has ended, everything else standing in it: sets runqueue_wait,
 * schedstat_wait and rest. `total` is from read to ended. None gets below 0. */
void record_balance(struct record *r, const struct elapsed *total);

struct record_field {
	const char *name;   /* in JSON and CSV */
	const char *header; /* response header, NULL = none */
	size_t offset;      /* of an int64_t in struct record */
	bool in_json;
};

/* In the order of the columns of /requests.csv; ends with name == NULL. */
extern const struct record_field record_fields[];

int64_t record_value(const struct record *r, const struct record_field *f);

/* Enough for any JSON object or CSV row below. */
enum { RECORD_TEXT_SIZE = 2048 };

/* The JSON answer with a newline. Returns its length. */
size_t record_json(const struct record *r, char out[RECORD_TEXT_SIZE]);

/* The CSV header line, one CSV row; with a newline. Returns the length. */
size_t record_csv_header(char out[RECORD_TEXT_SIZE]);
size_t record_csv_row(const struct record *r, char out[RECORD_TEXT_SIZE]);

/* Decimal digits and a NUL, "-" in front of negative numbers. Returns the length (at most 20).
 * A request has 25 numbers to print and snprintf costs 0.1 us each. */
enum { RECORD_NUMBER_SIZE = 24 };
size_t record_number(int64_t value, char out[RECORD_NUMBER_SIZE]);

#endif
