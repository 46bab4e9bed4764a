#include "record.h"

#include <string.h>

#define FIELD(member, header, in_json)                                                                                 \
	{                                                                                                              \
#member, header, offsetof(struct record, member), in_json                                              \
	}

const struct record_field record_fields[] = {
	FIELD(arrived_ns, "Headroom-Arrived-Ns", true),
	FIELD(dequeued_ns, "Headroom-Dequeued-Ns", true),
	FIELD(started_ns, "Headroom-Started-Ns", true),
	FIELD(ended_ns, "Headroom-Ended-Ns", true),
	FIELD(answered_ns, NULL, false),
	FIELD(status, NULL, false),
	FIELD(cpu_ns, "Headroom-Cpu-Ns", true),
	FIELD(runqueue_wait_ns, "Headroom-Runqueue-Wait-Ns", true),
	FIELD(wait_ns, "Headroom-Wait-Ns", true),
	FIELD(queue_ns, "Headroom-Queue-Ns", true),
	FIELD(disk_ns, "Headroom-Disk-Ns", true),
	FIELD(pool_wait_ns, "Headroom-Pool-Wait-Ns", true),
	FIELD(pool_hold_ns, "Headroom-Pool-Hold-Ns", true),
	FIELD(schedstat_wait_ns, NULL, true),
	FIELD(rest_ns, "Headroom-Rest-Ns", true),
	FIELD(arrival_wait_ns, "Headroom-Arrival-Wait-Ns", true),
	FIELD(run_ns, NULL, true),
	FIELD(read_ns, NULL, true),
	FIELD(queued_ns, NULL, true),
	FIELD(rounds, NULL, true),
	FIELD(worker, NULL, true),
	FIELD(connection, NULL, true),
	FIELD(seq, NULL, false),
	{NULL, NULL, 0, false},
};

void record_init(struct record *r)
{
	memset(r, 0, sizeof *r);
	for (const struct record_field *f = record_fields; f->name; f++)
		*(int64_t *)((char *)r + f->offset) = METER_UNKNOWN;
}

static int64_t known(int64_t ns)
{
	return ns > 0 ? ns : 0;
}

void record_balance(struct record *r, const struct elapsed *total)
{
	int64_t asleep = known(r->queue_ns) + known(r->wait_ns) + known(r->disk_ns) + known(r->pool_wait_ns) +
			 known(r->pool_hold_ns);
	int64_t ready = known(total->wall_ns - total->cpu_ns - asleep);
	r->runqueue_wait_ns = known(r->arrival_wait_ns) + ready;
	r->schedstat_wait_ns = METER_UNKNOWN;
	if (total->runqueue_ns != METER_UNKNOWN)
		r->schedstat_wait_ns = known(r->arrival_wait_ns) + total->runqueue_ns;
	r->rest_ns = known(r->ended_ns - r->arrived_ns - asleep - r->cpu_ns - r->runqueue_wait_ns);
}

int64_t record_value(const struct record *r, const struct record_field *f)
{
	return *(const int64_t *)((const char *)r + f->offset);
}

size_t record_number(int64_t value, char out[RECORD_NUMBER_SIZE])
{
	char digits[RECORD_NUMBER_SIZE];
	uint64_t left = value < 0 ? -(uint64_t)value : (uint64_t)value;
	size_t n = 0;
	size_t used = 0;
	do {
		digits[n++] = (char)('0' + left % 10);
		left /= 10;
	} while (left);
	if (value < 0)
		out[used++] = '-';
	while (n)
		out[used++] = digits[--n];
	out[used] = '\0';
	return used;
}

/* The longest text (every field, name and 20 digits) is about 1,000 bytes: see the unit test. */
static char *put(char *at, const char *text)
{
	size_t n = strlen(text);
	memcpy(at, text, n + 1);
	return at + n;
}

static char *put_json_field(char *at, const char *name, int64_t value)
{
	at = put(at, ",\"");
	at = put(at, name);
	at = put(at, "\":");
	return value == METER_UNKNOWN ? put(at, "null") : at + record_number(value, at);
}

size_t record_json(const struct record *r, char out[RECORD_TEXT_SIZE])
{
	char *at = put(out, "{\"schema_version\":1");
	for (const struct record_field *f = record_fields; f->name; f++)
		if (f->in_json)
			at = put_json_field(at, f->name, record_value(r, f));
	at = put(at, ",\"digest\":");
	if (r->rounds > 0) {
		char digest[WORK_DIGEST_TEXT];
		work_digest_text(r->digest, digest);
		at = put(put(put(at, "\""), digest), "\"");
	} else {
		at = put(at, "null");
	}
	return (size_t)(put(at, "}\n") - out);
}

size_t record_csv_header(char out[RECORD_TEXT_SIZE])
{
	char *at = out;
	for (const struct record_field *f = record_fields; f->name; f++)
		at = put(put(at, f == record_fields ? "" : ","), f->name);
	return (size_t)(put(at, "\n") - out);
}

size_t record_csv_row(const struct record *r, char out[RECORD_TEXT_SIZE])
{
	char *at = out;
	for (const struct record_field *f = record_fields; f->name; f++) {
		int64_t value = record_value(r, f);
		if (f != record_fields)
			*at++ = ',';
		if (value != METER_UNKNOWN)
			at += record_number(value, at);
	}
	return (size_t)(put(at, "\n") - out);
}
