/* metrics.h - the figures for Prometheus: text format 0.0.4, or OpenMetrics 1.0 when the Accept header prefers it. */
#ifndef HEADROOM_SIDECAR_METRICS_H
#define HEADROOM_SIDECAR_METRICS_H

#include "fleet.h"

enum metrics_format { METRICS_TEXT, METRICS_OPENMETRICS };

/* OpenMetrics when the header names it with a quality not below that of text/plain (q defaults to 1). */
enum metrics_format metrics_choose(const char *accept);

const char *metrics_content_type(enum metrics_format format);

/* The whole exposition, to be freed; NULL when out of memory. */
char *metrics_render(const struct fleet *fleet, enum metrics_format format, size_t *len);

#endif
