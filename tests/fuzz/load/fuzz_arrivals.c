/* fuzz_arrivals.c - recorded arrivals: seconds in a column, access logs, JSON lines; and the schedule made of them.
 * seeds:
 */
#include "../fuzz.h"
#include "load/plan.h"
#include "load/replay.h"
#include "load/when.h"

#include "clock.h"

/* The year 2201, to the ns; what follows is not accepted anywhere. */
static const int64_t latest_ns = INT64_C(7289740800) * NSEC_PER_SEC;

static void check_schedule(struct replay *r, double speed)
{
	struct plan plan;
	struct fault f = {0};
	int rc = plan_recorded(&plan, r->at_ns, r->n, speed, 0, &f);
	fuzz_check_fault(rc, &f);
	if (rc == 0) {
		FUZZ_HOLDS(plan.n == r->n && plan.offset_ns[0] == 0);
		for (size_t i = 1; i < plan.n; i++)
			FUZZ_HOLDS(plan.offset_ns[i] >= plan.offset_ns[i - 1]);
		FUZZ_HOLDS(plan.offset_ns[plan.n - 1] < plan.duration_ns);
		FUZZ_HOLDS(plan_most_within(&plan, NSEC_PER_SEC) <= plan.n);
		FUZZ_HOLDS(plan_gap_before(&plan, plan.n - 1) >= 0);
	}
	plan_free(&plan);
}

static void check_file(const char *text, size_t size, const struct replay_config *config)
{
	struct replay r = {0};
	struct fault f = {0};
	size_t lines = 0;
	for (size_t at = 0; at < size; lines++) {
		const char *nl = memchr(text + at, '\n', size - at);
		size_t len = nl ? (size_t)(nl + 1 - (text + at)) : size - at;
		CLEANUP_FREE char *line = fuzz_copy(text + at, len);
		FUZZ_HOLDS(replay_add_line(&r, line, len, config) == 0);
		at += len;
	}
	FUZZ_HOLDS(r.n + r.skipped <= lines);
	for (size_t i = 0; i < r.n; i++)
		FUZZ_HOLDS(r.at_ns[i] >= 0 && r.at_ns[i] < latest_ns);
	int rc = replay_finish(&r, config, &f);
	fuzz_check_fault(rc, &f);
	if (rc == 0) {
		for (size_t i = 1; i < r.n; i++)
			FUZZ_HOLDS(r.at_ns[i] >= r.at_ns[i - 1]);
		check_schedule(&r, 1);
		check_schedule(&r, 2.5);
	}
	replay_free(&r);
}

/* A time that was read, written as RFC 3339, is the same to the ms. */
static void check_time(const char *text)
{
	struct fault f = {0};
	char written[CLOCK_RFC3339_SIZE];
	int64_t ns;
	int64_t again;
	int rc = when_parse(text, &ns, &f);
	fuzz_check_fault(rc, &f);
	if (rc < 0)
		return;
	FUZZ_HOLDS(ns >= 0 && ns < latest_ns);
	clock_rfc3339(ns, written);
	FUZZ_HOLDS(when_parse_rfc3339(written, &again, NULL) == 0);
	FUZZ_HOLDS(again == ns - ns % NSEC_PER_MSEC);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static const struct replay_config configs[] = {{.time_field = NULL, .together = false},
						       {.time_field = "at", .together = true}};
	CLEANUP_FREE char *text = fuzz_text(data, size);
	for (size_t i = 0; i < ARRAY_LEN(configs); i++)
		check_file((const char *)data, size, &configs[i]);
	check_time(text);
	return 0;
}
