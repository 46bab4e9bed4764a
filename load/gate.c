#include "gate.h"

#include "stats.h"
#include "units.h"

#include <errno.h>
#include <string.h>

enum unit { UNIT_TIME, UNIT_COUNT, UNIT_RATE };

struct metric {
	const char *name;
	enum unit unit;
	size_t offset; /* of the dist, or of the counter, in struct result */
	uint32_t ppm;  /* times: which percentile; 0 = the mean */
};

#define TIME(name, dist, ppm)                                                                                          \
	{                                                                                                              \
		name, UNIT_TIME, offsetof(struct result, dist), ppm                                                    \
	}
#define COUNT(name, field)                                                                                             \
	{                                                                                                              \
		name, UNIT_COUNT, offsetof(struct result, field), 0                                                    \
	}

static const struct metric metrics[] = {
	TIME("p50", latency, STATS_P50),
	TIME("p90", latency, STATS_P90),
	TIME("p95", latency, STATS_P95),
	TIME("p99", latency, STATS_P99),
	TIME("p99.9", latency, STATS_P999),
	TIME("p999", latency, STATS_P999),
	TIME("max", latency, STATS_MAX),
	TIME("mean", latency, 0),
	TIME("service_p50", service, STATS_P50),
	TIME("service_p99", service, STATS_P99),
	TIME("lateness_p50", lateness, STATS_P50),
	TIME("lateness_p99", lateness, STATS_P99),
	TIME("lateness_max", lateness, STATS_MAX),
	COUNT("failed", failed),
	COUNT("ok", ok),
	COUNT("sent", sent),
	COUNT("blocked", blocked),
	COUNT("unfinished", unfinished),
	COUNT("timeouts", errors[ANSWER_TIMEOUT]),
	{"rate", UNIT_RATE, 0, 0},
};

static const char metric_names[] =
	"p50, p90, p95, p99, p99.9, max, mean, service_p50, service_p99, lateness_p50, lateness_p99, lateness_max, failed, ok, "
	"sent, blocked, unfinished, timeouts, rate";

struct condition {
	const struct metric *metric;
	bool above, or_equal; /* > < and the = after it */
	bool percent;
	double value; /* ns, a count, percent, or per second */
	char text[80];
};

static const struct metric *find_metric(const char *name, size_t len)
{
	for (size_t i = 0; i < ARRAY_LEN(metrics); i++)
		if (strlen(metrics[i].name) == len && memcmp(metrics[i].name, name, len) == 0)
			return &metrics[i];
	return NULL;
}

static int parse_value(struct condition *c, char *text, struct fault *f)
{
	int64_t ns = 0;
	size_t len = strlen(text);
	int rc;
	if (c->metric->unit == UNIT_TIME) {
		rc = units_parse_duration_ns(text, &ns, f);
		c->value = (double)ns;
		return rc;
	}
	if (c->metric->unit == UNIT_RATE)
		return units_parse_rate(text, &c->value, f);
	c->percent = len > 0 && text[len - 1] == '%';
	if (c->percent)
		text[len - 1] = '\0';
	return units_parse_decimal(text, &c->value, f);
}

/* The condition at *p, without spaces; advances over it and over the comma behind it. */
static int next_condition(const char **p, struct condition *c, struct fault *f)
{
	*c = (struct condition){0};
	size_t n = 0;
	for (; **p && **p != ','; (*p)++)
		if (**p != ' ' && n + 1 < sizeof c->text)
			c->text[n++] = **p;
	if (**p == ',' && !*++*p)
		return fault_set(f, -EINVAL, "nothing after the last comma");
	size_t name_len = strcspn(c->text, "<>");
	c->metric = find_metric(c->text, name_len);
	if (!c->text[name_len])
		return fault_set(f, -EINVAL, "'%s' is not a condition such as p99>50ms", c->text);
	if (!c->metric) {
		fault_set(f, -EINVAL, "'%.*s' is not one of %s", (int)name_len, c->text, metric_names);
		return -EINVAL;
	}
	c->above = c->text[name_len] == '>';
	c->or_equal = c->text[name_len + 1] == '=';
	char value[sizeof c->text];
	snprintf(value, sizeof value, "%s", c->text + name_len + 1 + c->or_equal);
	return parse_value(c, value, f);
}

int gate_check(const char *conditions, struct fault *f)
{
	struct condition c;
	const char *p = conditions;
	do {
		int rc = next_condition(&p, &c, f);
		if (rc < 0)
			return rc;
	} while (*p);
	return 0;
}

static double measured(const struct condition *c, const struct result *r, bool *there)
{
	const char *field = (const char *)r + c->metric->offset;
	*there = true;
	switch (c->metric->unit) {
	case UNIT_TIME: {
		const struct dist *d = (const struct dist *)(const void *)field;
		*there = dist_count(d) > 0;
		return c->metric->ppm ? (double)dist_percentile(d, c->metric->ppm) : dist_mean_ns(d);
	}
	case UNIT_RATE:
		return result_rate(r);
	case UNIT_COUNT: {
		double count = (double)*(const uint64_t *)(const void *)field;
		if (!c->percent)
			return count;
		*there = r->planned > 0;
		return r->planned ? count * 100 / (double)r->planned : 0;
	}
	}
	return 0;
}

static void describe(const struct condition *c, double is, char text[GATE_TEXT_SIZE])
{
	char number[UNITS_TEXT_SIZE];
	const char *op = c->text + strcspn(c->text, "<>");
	if (c->metric->unit == UNIT_TIME)
		units_format_duration((int64_t)is, number);
	else
		snprintf(number, sizeof number, "%.6g%s", is,
			 c->percent                     ? "%"
			 : c->metric->unit == UNIT_RATE ? "/s"
							: "");
	snprintf(text, GATE_TEXT_SIZE, "%s is %s: %s", c->metric->name, number, op);
}

bool gate_trips(const char *conditions, const struct result *r, char text[GATE_TEXT_SIZE])
{
	struct condition c;
	const char *p = conditions;
	do {
		bool there;
		if (next_condition(&p, &c, NULL) < 0 || !c.metric)
			return false;
		double is = measured(&c, r, &there);
		if (!there) {
			snprintf(text, GATE_TEXT_SIZE, "%s was not measured: %s", c.metric->name, c.text);
			return true;
		}
		if ((c.above && is > c.value) || (!c.above && is < c.value) || (c.or_equal && is == c.value)) {
			describe(&c, is, text);
			return true;
		}
	} while (*p);
	return false;
}
