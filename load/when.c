#include "when.h"

#include <ctype.h>
#include <errno.h>
#include <string.h>

static bool take_digits(const char **p, const char *end, int count, int *out)
{
	int value = 0;
	for (int i = 0; i < count; i++) {
		if (*p == end || !isdigit((unsigned char)**p))
			return false;
		value = value * 10 + (*(*p)++ - '0');
	}
	*out = value;
	return true;
}

static bool take_char(const char **p, const char *end, const char *allowed)
{
	if (*p == end || !strchr(allowed, **p) || !**p)
		return false;
	(*p)++;
	return true;
}

static bool is_leap(int year)
{
	return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
}

/* Days since 1970-01-01 of a proleptic Gregorian date; false for one that does not exist. */
static bool days_of(int year, int month, int day, int64_t *days)
{
	static const int before[] = {0, 31, 59, 90, 120, 151, 181, 212, 243, 273, 304, 334};
	static const int length[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
	if (year < 1970 || year > 2200 || month < 1 || month > 12)
		return false;
	if (day < 1 || day > length[month - 1] + (month == 2 && is_leap(year)))
		return false;
	int64_t y = year - 1;
	int64_t leaps = y / 4 - y / 100 + y / 400 - (1969 / 4 - 1969 / 100 + 1969 / 400);
	*days = (int64_t)(year - 1970) * 365 + leaps + before[month - 1] + (month > 2 && is_leap(year)) + day - 1;
	return true;
}

struct clock_time {
	int year, month, day, hour, minute, second;
};

static bool to_ns(const struct clock_time *t, int64_t offset_s, int64_t fraction_ns, int64_t *out)
{
	int64_t days;
	/* second 60 is a leap second: the same instant as second 0 of the next minute in POSIX time */
	if (!days_of(t->year, t->month, t->day, &days) || t->hour > 23 || t->minute > 59 || t->second > 60)
		return false;
	int64_t seconds = days * 86400 + t->hour * 3600 + t->minute * 60 + t->second - offset_s;
	if (seconds < 0)
		return false;
	*out = seconds * NSEC_PER_SEC + fraction_ns;
	return true;
}

static bool take_fraction(const char **p, const char *end, int64_t *ns)
{
	int64_t unit = NSEC_PER_SEC / 10;
	*ns = 0;
	if (*p == end || !isdigit((unsigned char)**p))
		return false;
	for (; *p < end && isdigit((unsigned char)**p); (*p)++, unit /= 10)
		*ns += (**p - '0') * unit;
	return true;
}

/* "Z", "+01:00", "-0130": seconds east of UTC. */
static bool take_zone(const char **p, const char *end, int64_t *offset_s)
{
	int hours;
	int minutes;
	*offset_s = 0;
	if (take_char(p, end, "Zz"))
		return true;
	bool west = *p < end && **p == '-';
	if (!take_char(p, end, "+-") || !take_digits(p, end, 2, &hours))
		return false;
	if (*p < end && **p == ':')
		(*p)++;
	if (!take_digits(p, end, 2, &minutes) || hours > 23 || minutes > 59)
		return false;
	*offset_s = (west ? -1 : 1) * (hours * 3600 + minutes * 60);
	return true;
}

int when_parse_rfc3339(const char *text, int64_t *wall_ns, struct fault *f)
{
	struct clock_time t;
	int64_t fraction_ns = 0;
	int64_t offset_s;
	const char *p = text;
	const char *end = text + strlen(text);
	bool good = take_digits(&p, end, 4, &t.year) && take_char(&p, end, "-") && take_digits(&p, end, 2, &t.month) &&
		    take_char(&p, end, "-") && take_digits(&p, end, 2, &t.day) && take_char(&p, end, "Tt ") &&
		    take_digits(&p, end, 2, &t.hour) && take_char(&p, end, ":") && take_digits(&p, end, 2, &t.minute) &&
		    take_char(&p, end, ":") && take_digits(&p, end, 2, &t.second);
	if (good && take_char(&p, end, ".,"))
		good = take_fraction(&p, end, &fraction_ns);
	good = good && take_zone(&p, end, &offset_s) && p == end && to_ns(&t, offset_s, fraction_ns, wall_ns);
	return good ? 0 : fault_set(f, -EINVAL, "'%.60s' is not a time such as 2026-11-30T22:03:17Z", text);
}

int when_parse_seconds(const char *text, size_t len, int64_t *ns)
{
	const char *p = text;
	const char *end = text + len;
	int64_t seconds = 0;
	int64_t fraction_ns = 0;
	/* the year 2200 */
	const int64_t most = INT64_C(7289654400);
	for (; p < end && isdigit((unsigned char)*p); p++) {
		seconds = seconds * 10 + (*p - '0');
		if (seconds > most)
			return -EINVAL;
	}
	if (p == text || (take_char(&p, end, ".") && !take_fraction(&p, end, &fraction_ns)) || p != end)
		return -EINVAL;
	*ns = seconds * NSEC_PER_SEC + fraction_ns;
	return 0;
}

int when_parse(const char *text, int64_t *wall_ns, struct fault *f)
{
	if (when_parse_seconds(text, strlen(text), wall_ns) == 0 || when_parse_rfc3339(text, wall_ns, NULL) == 0)
		return 0;
	return fault_set(f, -EINVAL, "'%.60s' is neither a time such as 2026-11-30T22:03:17Z nor seconds since 1970",
			 text);
}

static bool take_month(const char **p, const char *end, int *month)
{
	static const char names[] = "JanFebMarAprMayJunJulAugSepOctNovDec";
	for (int i = 0; end - *p >= 3 && i < 12; i++) {
		if (strncasecmp(*p, names + (size_t)i * 3, 3) == 0) {
			*p += 3;
			*month = i + 1;
			return true;
		}
	}
	return false;
}

int when_parse_clf(const char *text, size_t len, int64_t *wall_ns)
{
	struct clock_time t;
	int64_t offset_s;
	const char *p = text;
	const char *end = text + len;
	bool good = take_digits(&p, end, 2, &t.day) && take_char(&p, end, "/") && take_month(&p, end, &t.month) &&
		    take_char(&p, end, "/") && take_digits(&p, end, 4, &t.year) && take_char(&p, end, ":") &&
		    take_digits(&p, end, 2, &t.hour) && take_char(&p, end, ":") && take_digits(&p, end, 2, &t.minute) &&
		    take_char(&p, end, ":") && take_digits(&p, end, 2, &t.second) && take_char(&p, end, " ") &&
		    take_zone(&p, end, &offset_s) && p == end && to_ns(&t, offset_s, 0, wall_ns);
	return good ? 0 : -EINVAL;
}
