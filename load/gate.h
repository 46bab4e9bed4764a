/* gate.h - conditions under which a run counts as failed: "p99>50ms", "failed>1%", "rate<990/s".
 *
 * A condition is METRIC OP VALUE; several are separated by commas. OP is one of > >= < <=.
 *   times      p50 p90 p95 p99 p99.9 (or p999) max mean, service_p50 service_p99, lateness_p50 lateness_p99
 * lateness_max: a duration counts     failed ok sent blocked unfinished timeouts: a number, or a share of the planned
 * requests ("1%", "0.1%") rate       requests sent per second: a rate The gate trips when any condition holds. A time
 * for which there are no samples trips it as well: nothing shows that the wish is met.
 */
#ifndef HEADROOM_GATE_H
#define HEADROOM_GATE_H

#include "result.h"

/* Is every condition in the text well formed? 0 or -EINVAL with a sentence. Pure. */
int gate_check(const char *conditions, struct fault *f) MUST_CHECK;

enum { GATE_TEXT_SIZE = 160 };

/* The first condition that holds, in words ("p99 is 61.2ms, which is > 50ms"). False when none does. The conditions
 * must have passed gate_check(). Pure. */
bool gate_trips(const char *conditions, const struct result *r, char text[GATE_TEXT_SIZE]);

#endif
