/* watch.h - one cgroup, watched while a run goes on: snapshots at its ends, and cpu.stat every ms in between.
 *
 * One poll is one pread and a search for three keys: 2 to 3 us of CPU, 0.3% of one CPU at 1 ms.
 */
#ifndef HEADROOM_LAB_WATCH_H
#define HEADROOM_LAB_WATCH_H

#include "snapshot.h"
#include "ticks.h"

#include <sys/types.h>

enum { WATCH_INTERVAL_NS = 1000000 };

struct watch {
	struct reader reader;
	bool open;
	struct ticks ticks; /* all that were seen since watch_open() */
};

#define WATCH_CLOSED ((struct watch){.open = false})

/* Watches the cgroup of a process. 0 or a negative errno. */
int watch_open(struct watch *w, pid_t pid, struct fault *f) MUST_CHECK;

/* One cheap reading. A cgroup without periods (no limit was ever set) gives no ticks and is no failure. */
int watch_poll(struct watch *w, struct fault *f) MUST_CHECK;

/* All counters at this instant. */
int watch_snapshot(const struct watch *w, struct snapshot *s, struct fault *f) MUST_CHECK;

void watch_close(struct watch *w);

#endif
