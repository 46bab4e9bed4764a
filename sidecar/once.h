/* once.h - the one-shot report: what this container is limited to, and its counters. */
#ifndef HEADROOM_SIDECAR_ONCE_H
#define HEADROOM_SIDECAR_ONCE_H

#include "jsonl.h"
#include "target.h"

/* One JSON object with every key of the report; "error" is a sentence when something could not be determined (then
 * the figures that depend on it are null). *failed says so. NULL only when out of memory. */
json_value *once_report(const struct tree *t, const struct target_query *q, bool *failed);

/* The same for people, on out. */
void once_print_text(const json_value *report, FILE *out);

#endif
