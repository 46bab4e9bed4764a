#include "units.h"

#include <errno.h>
#include <string.h>

/* Digits [ '.' digits ] at *text, as a whole number of billionths. Advances *text. */
static int take_fixed(const char **text, unsigned __int128 *billionths)
{
	const char *p = *text;
	unsigned __int128 value = 0;
	int whole_digits = 0;
	int places = 0;
	for (; *p >= '0' && *p <= '9'; p++) {
		if (++whole_digits > 18)
			return -ERANGE;
		value = value * 10 + (unsigned)(*p - '0');
	}
	if (whole_digits == 0)
		return -EINVAL;
	if (*p == '.') {
		p++;
		for (; *p >= '0' && *p <= '9'; p++) {
			if (++places > 9)
				return -ERANGE;
			value = value * 10 + (unsigned)(*p - '0');
		}
		if (places == 0)
			return -EINVAL;
	}
	for (; places < 9; places++)
		value *= 10;
	*billionths = value;
	*text = p;
	return 0;
}

int units_parse_u64(const char *text, uint64_t *out, struct fault *f)
{
	uint64_t value = 0;
	if (!*text)
		return fault_set(f, -EINVAL, "a number is missing");
	for (const char *p = text; *p; p++) {
		if (*p < '0' || *p > '9')
			return fault_set(f, -EINVAL, "'%.40s' is not a whole number: use digits only", text);
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return fault_set(f, -ERANGE, "'%.40s' is too large", text);
	}
	*out = value;
	return 0;
}

int units_parse_decimal(const char *text, double *out, struct fault *f)
{
	const char *p = text;
	unsigned __int128 billionths;
	int rc = take_fixed(&p, &billionths);
	if (rc < 0 || *p)
		return fault_set(f, rc < 0 ? rc : -EINVAL, "'%.40s' is not a number such as 2 or 0.25", text);
	*out = (double)billionths / 1e9;
	return 0;
}

int units_parse_duration_ns(const char *text, int64_t *out, struct fault *f)
{
	static const struct {
		const char *name;
		int64_t ns;
	} units[] = {
		{"ns", 1},           {"us", NSEC_PER_USEC},    {"ms", NSEC_PER_MSEC},
		{"s", NSEC_PER_SEC}, {"m", 60 * NSEC_PER_SEC}, {"h", 3600 * NSEC_PER_SEC},
	};
	const unsigned __int128 longest = (unsigned __int128)10000 * 3600 * NSEC_PER_SEC;
	const char *p = text;
	unsigned __int128 billionths;
	int rc = take_fixed(&p, &billionths);
	if (rc < 0)
		return fault_set(f, rc, "'%.40s' is not a duration such as 50ms, 1.5s or 2m", text);
	if (!*p && billionths == 0) {
		*out = 0;
		return 0;
	}
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (strcmp(p, units[i].name) != 0)
			continue;
		unsigned __int128 ns = billionths * (unsigned __int128)units[i].ns / 1000000000;
		if (ns > longest)
			return fault_set(f, -ERANGE, "'%.40s' is too long: at most 10000h", text);
		*out = (int64_t)ns;
		return 0;
	}
	return fault_set(f, -EINVAL, "'%.40s' needs a unit: ns, us, ms, s, m or h, as in 50ms", text);
}

int units_parse_rate(const char *text, double *per_second, struct fault *f)
{
	const char *p = text;
	unsigned __int128 billionths;
	int rc = take_fixed(&p, &billionths);
	double value = rc < 0 ? 0 : (double)billionths / 1e9;
	bool per_minute = strcmp(p, "/m") == 0;
	if (rc < 0 || (*p && !per_minute && strcmp(p, "/s") != 0))
		return fault_set(f, -EINVAL, "'%.40s' is not a rate such as 20/s or 600/m", text);
	if (value <= 0)
		return fault_set(f, -EINVAL, "a rate must be above 0, as in 20/s");
	*per_second = per_minute ? value / 60 : value;
	return 0;
}

void units_format_duration(int64_t ns, char out[UNITS_TEXT_SIZE])
{
	static const struct {
		int64_t ns;
		const char *name;
	} units[] = {{NSEC_PER_SEC, "s"}, {NSEC_PER_MSEC, "ms"}, {NSEC_PER_USEC, "us"}, {1, "ns"}};
	const char *sign = ns < 0 ? "-" : "";
	uint64_t size = ns < 0 ? 0 - (uint64_t)ns : (uint64_t)ns;
	size_t i = 0;
	while (i + 1 < ARRAY_LEN(units) && size < (uint64_t)units[i].ns)
		i++;
	double value = (double)size / (double)units[i].ns;
	/* %g would write 86400 as 8.64e+04 */
	snprintf(out, UNITS_TEXT_SIZE, value < 9999.5 ? "%s%.4g%s" : "%s%.0f%s", sign, value,
		 size ? units[i].name : "s");
}
