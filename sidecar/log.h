/* log.h - one JSON object a line on stdout (text on a terminal), which never stops the sampling.
 *
 * A line is written only when stdout can take it at once; else it is dropped and counted. A closed pipe or a full disk
 * counts too. The counter is part of every summary and of /metrics.
 */
#ifndef HEADROOM_SIDECAR_LOG_H
#define HEADROOM_SIDECAR_LOG_H

#include "jsonl.h"

enum log_keys { LOG_KEYS_DEFAULT, LOG_KEYS_GCP, LOG_KEYS_ECS }; /* names of time, level and msg */
enum log_level { LOG_INFO, LOG_WARN, LOG_ERROR };

struct log {
	int fd;
	enum log_keys keys;
	bool text; /* "time LEVEL sentence" for people */
	uint64_t written, dropped;
};

/* A line under construction: time, level, msg and event are set; the caller adds flat fields and gives it to
 * log_emit(). */
json_value *log_line(const struct log *log, enum log_level level, const char *event, const char *msg, ...)
	PRINTF_LIKE(4, 5);

/* Writes and releases it. */
void log_emit(struct log *log, json_value *line);

#endif
