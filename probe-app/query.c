#include "query.h"

#include "units.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static int take_cpu_ms(struct query *q, const char *text, struct fault *f);
static int take_rounds(struct query *q, const char *text, struct fault *f);
static int take_wait_ms(struct query *q, const char *text, struct fault *f);
static int take_disk_kb(struct query *q, const char *text, struct fault *f);
static int take_pool(struct query *q, const char *text, struct fault *f);

static const struct parameter {
	const char *key;
	int (*take)(struct query *q, const char *text, struct fault *f);
} parameters[] = {
	{"cpu_ms", take_cpu_ms},   {"rounds", take_rounds}, {"wait_ms", take_wait_ms},
	{"disk_kb", take_disk_kb}, {"pool", take_pool},
};

enum { SEEN_CPU_MS = 1 << 0, SEEN_ROUNDS = 1 << 1 }; /* bit i = parameters[i] */

void query_begin(struct query *q, const struct query_context *context)
{
	*q = (struct query){.context = context, .unit = *context->defaults};
}

uint64_t query_rounds(double cpu_ms, double rounds_per_ms)
{
	double rounds = cpu_ms * rounds_per_ms;
	if (rounds <= 0)
		return 0;
	if (rounds >= (double)QUERY_ROUNDS_MAX)
		return QUERY_ROUNDS_MAX;
	return rounds < 1 ? 1 : (uint64_t)llround(rounds);
}

int query_find_pool(const struct pool_spec *pools, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strcmp(pools[i].name, name) == 0)
			return (int)i;
	return UNIT_NO_POOL;
}

static int take_ms(const char *text, double max, double *ms, struct fault *f)
{
	int rc = units_parse_decimal(text, ms, f);
	if (rc < 0)
		return rc;
	if (*ms > max)
		return fault_set(f, -EINVAL, "%s is out of range: 0 to %.0f", text, max);
	return 0;
}

static int take_bounded(const char *text, uint64_t max, uint64_t *out, struct fault *f)
{
	int rc = units_parse_u64(text, out, f);
	if (rc < 0)
		return rc;
	if (*out > max)
		return fault_set(f, -EINVAL, "%s is out of range: 0 to %llu", text, (unsigned long long)max);
	return 0;
}

static int take_cpu_ms(struct query *q, const char *text, struct fault *f)
{
	double ms;
	int rc = take_ms(text, QUERY_CPU_MS_MAX, &ms, f);
	if (rc < 0)
		return rc;
	if (ms > 0 && q->context->rounds_per_ms <= 0)
		return fault_set(f, -EINVAL,
				 "the speed of this CPU is not known since the server was started with --rounds 0: "
				 "give rounds= instead");
	q->unit.rounds = query_rounds(ms, q->context->rounds_per_ms);
	return 0;
}

static int take_rounds(struct query *q, const char *text, struct fault *f)
{
	return take_bounded(text, QUERY_ROUNDS_MAX, &q->unit.rounds, f);
}

static int take_wait_ms(struct query *q, const char *text, struct fault *f)
{
	double ms;
	int rc = take_ms(text, QUERY_WAIT_MS_MAX, &ms, f);
	if (rc == 0)
		q->unit.wait_ns = llround(ms * (double)NSEC_PER_MSEC);
	return rc;
}

static int take_disk_kb(struct query *q, const char *text, struct fault *f)
{
	return take_bounded(text, QUERY_DISK_KB_MAX, &q->unit.disk_kb, f);
}

static int take_pool(struct query *q, const char *text, struct fault *f)
{
	q->unit.pool = query_find_pool(q->context->pools, q->context->pool_count, text);
	if (q->unit.pool == UNIT_NO_POOL)
		return fault_set(f, -EINVAL, "there is no pool '%.40s': pools are given by --pool NAME=UNITS:DURATION",
				 text);
	return 0;
}

static int unknown(const char *key, size_t len, struct fault *f)
{
	return fault_set(f, -EINVAL, "unknown parameter '%.*s': cpu_ms, rounds, wait_ms, disk_kb and pool are known",
			 (int)(len < 40 ? len : 40), key);
}

static int find(const char *key, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(parameters); i++)
		if (strlen(parameters[i].key) == len && memcmp(parameters[i].key, key, len) == 0)
			return (int)i;
	return -1;
}

int query_take(struct query *q, const char *key, size_t key_len, const char *value, size_t value_len, struct fault *f)
{
	char text[64];
	int i = find(key, key_len);
	if (i < 0)
		return unknown(key, key_len, f);
	const struct parameter *p = &parameters[i];
	if (q->seen & 1U << i)
		return fault_set(f, -EINVAL, "%s is given twice", p->key);
	q->seen |= 1U << i;
	if ((q->seen & SEEN_CPU_MS) && (q->seen & SEEN_ROUNDS))
		return fault_set(f, -EINVAL, "cpu_ms and rounds exclude each other");
	if (!value || value_len == 0)
		return fault_set(f, -EINVAL, "%s needs a value: %s=...", p->key, p->key);
	if (value_len >= sizeof text || memchr(value, '\0', value_len))
		return fault_set(f, -EINVAL, "%s: the value is too long or holds a zero byte", p->key);
	memcpy(text, value, value_len);
	text[value_len] = '\0';
	int rc = p->take(q, text, f);
	return rc < 0 ? fault_prefix(f, -EINVAL, "%s", p->key) : 0;
}
