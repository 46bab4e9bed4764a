#include "answer.h"

#include <string.h>

static const char *const error_names[ANSWER_ERRORS] = {
	[ANSWER_WHOLE] = "",
	[ANSWER_REFUSED] = "refused",
	[ANSWER_UNREACHABLE] = "unreachable",
	[ANSWER_DNS] = "dns",
	[ANSWER_TIMEOUT] = "timeout",
	[ANSWER_CUT_SHORT] = "cut_short",
	[ANSWER_CLOSED] = "closed",
	[ANSWER_RESET] = "reset",
	[ANSWER_CERTIFICATE] = "certificate",
	[ANSWER_TLS] = "tls",
	[ANSWER_NOT_HTTP] = "not_http",
	[ANSWER_NOT_SENT] = "not_sent",
	[ANSWER_INTERRUPTED] = "interrupted",
	[ANSWER_OTHER] = "other",
};

static const struct {
	const char *header, *column;
	bool instant;
} fields[ANSWER_FIELDS] = {
	[ANSWER_QUEUE] = {"Headroom-Queue-Ns", "server_queue_ns", false},
	[ANSWER_CPU] = {"Headroom-Cpu-Ns", "server_cpu_ns", false},
	[ANSWER_RUNQUEUE_WAIT] = {"Headroom-Runqueue-Wait-Ns", "server_runqueue_wait_ns", false},
	[ANSWER_WAIT] = {"Headroom-Wait-Ns", "server_wait_ns", false},
	[ANSWER_ARRIVED] = {"Headroom-Arrived-Ns", "server_arrived_ns", true},
	[ANSWER_STARTED] = {"Headroom-Started-Ns", "server_started_ns", true},
	[ANSWER_ENDED] = {"Headroom-Ended-Ns", "server_ended_ns", true},
	[ANSWER_DISK] = {"Headroom-Disk-Ns", "server_disk_ns", false},
	[ANSWER_POOL_WAIT] = {"Headroom-Pool-Wait-Ns", "server_pool_wait_ns", false},
	[ANSWER_POOL_HOLD] = {"Headroom-Pool-Hold-Ns", "server_pool_hold_ns", false},
	[ANSWER_REST] = {"Headroom-Rest-Ns", "server_rest_ns", false},
	[ANSWER_ARRIVAL_WAIT] = {"Headroom-Arrival-Wait-Ns", "server_arrival_wait_ns", false},
	[ANSWER_DEQUEUED] = {"Headroom-Dequeued-Ns", "server_dequeued_ns", true},
};

const char *answer_error_name(enum answer_error error)
{
	return error_names[error];
}

enum answer_error answer_error_by_name(const char *name)
{
	int i = ANSWER_WHOLE + 1;
	while (i < ANSWER_ERRORS && strcmp(error_names[i], name) != 0)
		i++;
	return (enum answer_error)i;
}

enum answer_field answer_field_by_header(const char *name, size_t len)
{
	int i = 0;
	while (i < ANSWER_FIELDS && (strlen(fields[i].header) != len || strncasecmp(fields[i].header, name, len) != 0))
		i++;
	return (enum answer_field)i;
}

const char *answer_field_column(enum answer_field field)
{
	return fields[field].column;
}

bool answer_field_is_instant(enum answer_field field)
{
	return fields[field].instant;
}

void answer_take_header(struct answer *a, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);
	if (!colon)
		return;
	enum answer_field field = answer_field_by_header(line, (size_t)(colon - line));
	if (field == ANSWER_FIELDS)
		return;
	const char *p = colon + 1;
	const char *end = line + len;
	while (p < end && *p == ' ')
		p++;
	int64_t value = 0;
	const char *first = p;
	for (; p < end && *p >= '0' && *p <= '9' && value < INT64_MAX / 10 - 1; p++)
		value = value * 10 + (*p - '0');
	if (p == first || (p < end && *p != '\r' && *p != '\n' && *p != ' '))
		return;
	a->server_ns[field] = value;
	a->server_have |= (uint16_t)(1u << field);
}
