#include "edge.h"

#include <math.h>

static enum edge_action step_open(struct edge *e, int64_t now_ns)
{
	if (now_ns - e->said_ns < e->repeat_after_ns) {
		e->suppressed++;
		return EDGE_NOTHING;
	}
	e->told = true;
	e->said_ns = now_ns;
	e->repeat_after_ns *= 2;
	if (e->repeat_after_ns > EDGE_REPEAT_MAX_NS)
		e->repeat_after_ns = EDGE_REPEAT_MAX_NS;
	return EDGE_REPEATED;
}

enum edge_action edge_step(struct edge *e, double value, double open_at, double resolve_below, int64_t now_ns)
{
	if (isnan(value))
		return EDGE_NOTHING;
	if (!e->open) {
		if (value < open_at)
			return EDGE_NOTHING;
		*e = (struct edge){
			.open = true, .opened_ns = now_ns, .said_ns = now_ns, .repeat_after_ns = EDGE_REPEAT_FIRST_NS};
		return EDGE_OPENED;
	}
	if (e->told) {
		e->told = false;
		e->suppressed = 0;
	}
	if (value < resolve_below) {
		e->open = false;
		return EDGE_RESOLVED;
	}
	return step_open(e, now_ns);
}
