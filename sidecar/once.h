/* once.h - the one-shot report: what this container is limited to, and its counters. */
#ifndef HEADROOM_SIDECAR_ONCE_H
#define HEADROOM_SIDECAR_ONCE_H

#include "jsonl.h"
#include "target.h"

/* Prints one report on out, or one for each container of a shared PID namespace (where no other target was asked for):
 * a JSON object a line, or text for people. "error" is a sentence when something could not be determined, and the
 * figures that depend on it are null. 0; 1 when a report has an error or could not be written (then f says why);
 * -EINVAL, -ENOENT for a --container that is not there. */
int once_run(const struct tree *t, const struct target_query *q, FILE *out, bool text, struct fault *f);

#endif
