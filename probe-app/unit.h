/* unit.h - one unit of work: kinds of work, done one after the other by the thread that holds a worker.
 *
 * Each kind is one line of a table in unit.c: a unit of a named pool (a database connection, say), CPU,
 * a wait (a call to another service), a file written and synced. Nothing here knows HTTP.
 */
#ifndef HEADROOM_PROBE_UNIT_H
#define HEADROOM_PROBE_UNIT_H

#include "gate.h"
#include "meter.h"
#include "record.h"
#include "stop.h"

enum { POOLS_MAX = 16, POOL_NAME_SIZE = 32, UNIT_NO_POOL = -1 };

/* "db=5:20ms": 5 units, each held for 20 ms. */
struct pool_spec {
	char name[POOL_NAME_SIZE];
	uint32_t units;
	int64_t hold_ns;
};

/* What one request asks for. Zero means: this kind is left out. */
struct unit {
	uint64_t rounds;
	int64_t wait_ns;
	uint64_t disk_kb;
	int pool; /* index of a pool, or UNIT_NO_POOL */
};

/* What units are done with; shared by all threads. */
struct unit_tools {
	const char *disk_dir;
	const struct pool_spec *pool_specs;
	struct gate *pools; /* one for each spec */
	struct stop *stop;
};

/* There is nothing to do in it. */
bool unit_is_empty(const struct unit *u);

/* Does the unit and completes *r, in which the instants up to dequeued, the queue time and the wait at the arrival
 * stand already; `since` was taken at `read`. 0, or a negative errno with a sentence: -ECANCELED when the
 * server is ending, -ENOSPC and other faults of the disk. The figures of what was done before a fault are written too.
 */
int unit_run(const struct unit *u, const struct unit_tools *tools, const struct meter *meter,
	     const struct reading *since, struct record *r, struct fault *f) MUST_CHECK;

#endif
