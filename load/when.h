/* when.h - points in time as people and logs write them. Pure: no clock, no locale, no time zone file.
 *
 * All results are ns since 1970 in UTC, from year 1970 to 2200. 0 or -EINVAL with a sentence.
 */
#ifndef HEADROOM_WHEN_H
#define HEADROOM_WHEN_H

#include "fault.h"

/* RFC 3339 ("2026-11-30T22:03:17.042Z", "2026-11-30 22:03:17+01:00"; up to 9 decimals count) or seconds since 1970
 * with a fraction ("1796076197.25"). The whole text. */
int when_parse(const char *text, int64_t *wall_ns, struct fault *f) MUST_CHECK;

/* The RFC 3339 form alone. */
int when_parse_rfc3339(const char *text, int64_t *wall_ns, struct fault *f) MUST_CHECK;

/* What stands in the brackets of an access log: "30/Nov/2026:22:03:17 +0100". */
int when_parse_clf(const char *text, size_t len, int64_t *wall_ns) MUST_CHECK;

/* Digits with an optional fraction, as ns: "12.5" -> 12500000000. Decimals beyond the ninth are dropped. The whole
 * text. No sign. */
int when_parse_seconds(const char *text, size_t len, int64_t *ns) MUST_CHECK;

#endif
