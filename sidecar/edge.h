/* edge.h - warnings are edges: opened, repeated at doubling intervals while open, resolved; with hysteresis. Pure. */
#ifndef HEADROOM_SIDECAR_EDGE_H
#define HEADROOM_SIDECAR_EDGE_H

#include "base.h"

enum edge_action { EDGE_NOTHING, EDGE_OPENED, EDGE_REPEATED, EDGE_RESOLVED };

/* Intervals between repeats: 1 min, then twice as long each time, up to 1 h. */
#define EDGE_REPEAT_FIRST_NS (60 * NSEC_PER_SEC)
#define EDGE_REPEAT_MAX_NS   (3600 * NSEC_PER_SEC)

struct edge {
	bool open;
	int64_t opened_ns, said_ns, repeat_after_ns;
	bool told;           /* the last step was EDGE_REPEATED: `suppressed` has been passed on */
	uint64_t suppressed; /* evaluations since the last line in which it held and nothing was said */
};

/* One evaluation: `value` against the two thresholds (open when at or above `open_at`, resolved when below
 * `resolve_below`, which is smaller). NaN, the value that is not there, changes nothing. With EDGE_REPEATED and
 * EDGE_RESOLVED e->suppressed holds the number left unsaid, until the next call. */
enum edge_action edge_step(struct edge *e, double value, double open_at, double resolve_below, int64_t now_ns);

#endif
