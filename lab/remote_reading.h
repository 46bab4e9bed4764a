/* remote_reading.h - what a sidecar's /report says about the container beside it. Pure.
 */
#ifndef HEADROOM_LAB_REMOTE_READING_H
#define HEADROOM_LAB_REMOTE_READING_H

#include "figures.h"

struct reading {
	char token[64];
	char container[128], container_id[80]; /* id "" where it is not known */
	int64_t mono_ns;                       /* the sidecar's CLOCK_MONOTONIC: another host has another */
	bool limit_known;
	double limit_cpus;                /* 0 = it has none */
	uint64_t restarts;                /* of the container, since the sidecar began to watch it */
	bool have_phase;                  /* ticks of the quota's period are at phase_ns + k x period, by that clock, */
	int64_t phase_ns, phase_width_ns; /* give or take half of the width */
	const json_value *window;         /* since the token that was asked for, or NULL; belongs to the document */
};

/* Of the only container in the document, or, of several, of the one called `container`. -EPROTO when it is no report of
 * a sidecar, -ENOENT when there is no such container, -ENODATA when the sidecar cannot read it (and why). */
int reading_take(const json_value *document, const char *container, struct reading *out, struct fault *f) MUST_CHECK;

/* The sidecar's counters over a window as figures of a run; limit_cpus 0 = none. */
void figures_take_window(struct figures *o, const json_value *window, double limit_cpus);

#endif
