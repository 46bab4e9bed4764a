/* fuzz_units.c - numbers as users type them.
 * seeds:
 */
#include "../fuzz.h"
#include "stats.h"
#include "units.h"

enum { TEN_THOUSAND_HOURS_S = 36000000 };

static void check_u64(const char *text)
{
	struct fault f = {0};
	char written[32];
	uint64_t value;
	int rc = units_parse_u64(text, &value, &f);
	fuzz_check_fault(rc, &f);
	if (rc < 0)
		return;
	/* the same number as the shortest text */
	snprintf(written, sizeof written, "%llu", (unsigned long long)value);
	const char *digits = text;
	while (digits[0] == '0' && digits[1])
		digits++;
	FUZZ_HOLDS(strcmp(digits, written) == 0);
}

static void check_decimal(const char *text)
{
	struct fault f = {0};
	double value;
	int rc = units_parse_decimal(text, &value, &f);
	fuzz_check_fault(rc, &f);
	if (rc == 0)
		FUZZ_HOLDS(value >= 0 && value <= 1e18 && strspn(text, "0123456789.") == strlen(text));
}

/* What is written for people means the same to 4 digits, when it is typed in again. */
static void check_formatted(int64_t ns)
{
	char written[UNITS_TEXT_SIZE];
	int64_t again;
	units_format_duration(ns, written);
	FUZZ_HOLDS(strlen(written) < UNITS_TEXT_SIZE && written[0]);
	if (ns < 0 || ns > TEN_THOUSAND_HOURS_S * NSEC_PER_SEC)
		return;
	FUZZ_HOLDS(units_parse_duration_ns(written, &again, NULL) == 0);
	FUZZ_HOLDS(fabs((double)again - (double)ns) <= (double)ns * 0.0006);
}

static void check_duration(const char *text)
{
	struct fault f = {0};
	int64_t ns;
	int rc = units_parse_duration_ns(text, &ns, &f);
	fuzz_check_fault(rc, &f);
	if (rc < 0)
		return;
	FUZZ_HOLDS(ns >= 0 && ns <= TEN_THOUSAND_HOURS_S * NSEC_PER_SEC);
	check_formatted(ns);
}

static void check_rate(const char *text)
{
	struct fault f = {0};
	double per_second;
	int rc = units_parse_rate(text, &per_second, &f);
	fuzz_check_fault(rc, &f);
	if (rc == 0)
		FUZZ_HOLDS(per_second > 0 && isfinite(per_second));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = fuzz_text(data, size);
	int64_t ns;
	check_u64(text);
	check_decimal(text);
	check_duration(text);
	check_rate(text);
	if (size == sizeof ns) {
		memcpy(&ns, data, sizeof ns);
		check_formatted(ns);
	}
	return 0;
}
