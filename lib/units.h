/* units.h - what users type, as numbers with a unit; and back. Strict: the whole text must be used,
 * no sign, no exponent, no overflow; anything else is -EINVAL or -ERANGE with one sentence.
 */
#ifndef HEADROOM_UNITS_H
#define HEADROOM_UNITS_H

#include "fault.h"

/* Decimal digits only, up to 2^64 - 1. */
int units_parse_u64(const char *text, uint64_t *out, struct fault *f) MUST_CHECK;

/* Digits with at most one '.', at most 18 digits before it and 9 after it: "0.25", "12". */
int units_parse_decimal(const char *text, double *out, struct fault *f) MUST_CHECK;

/* "50ms", "1.5s", "200us", "100ns", "2m", "1h"; "0" alone needs no unit. At most 10,000 hours. */
int units_parse_duration_ns(const char *text, int64_t *out, struct fault *f) MUST_CHECK;

/* "1000/s", "20/s", "0.5/s", "600/m"; per second. A bare number is per second. Above 0. */
int units_parse_rate(const char *text, double *per_second, struct fault *f) MUST_CHECK;

/* "1s", "850ms", "1.250s", "35us", "86400s": at most 4 significant digits, or whole seconds; for people. */
enum { UNITS_TEXT_SIZE = 32 };
void units_format_duration(int64_t ns, char out[UNITS_TEXT_SIZE]);

#endif
