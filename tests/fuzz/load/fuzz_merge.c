/* fuzz_merge.c - the JSON of senders, read for `merge`: every line a result; and what is made of them.
 * seeds:
 */
#include "../fuzz.h"
#include "load/hgrm.h"
#include "load/json_result.h"
#include "load/merge.h"
#include "load/report.h"

enum { ITEMS_MAX = 4 };

/* What is written of a result is a result again, and is then written the same. */
static void check_round_trip(const struct result *r)
{
	size_t len = 0;
	size_t len_again = 0;
	struct result again = {0};
	struct fault f = {0};
	CLEANUP_JSON json_value *o = json_from_result(r, UINT64_MAX);
	CLEANUP_FREE char *text = json_text(o, &len);
	FUZZ_HOLDS(text);
	CLEANUP_JSON json_value *parsed = json_parse(text, len, NULL);
	FUZZ_HOLDS(parsed);
	int rc = json_to_result(parsed, &again, &f);
	fuzz_check_fault(rc, &f);
	FUZZ_HOLDS(rc == 0);
	FUZZ_HOLDS(again.planned == r->planned && again.ok == r->ok && again.valid == r->valid);
	FUZZ_HOLDS(dist_count(&again.latency) == dist_count(&r->latency) && again.latency.exact == r->latency.exact);
	CLEANUP_JSON json_value *o_again = json_from_result(&again, UINT64_MAX);
	CLEANUP_FREE char *text_again = json_text(o_again, &len_again);
	FUZZ_HOLDS(text_again && strcmp(text, text_again) == 0);
	result_free(&again);
}

static void write_all(const struct result *r)
{
	static FILE *nowhere;
	if (!nowhere)
		nowhere = fopen("/dev/null", "we");
	FUZZ_HOLDS(nowhere);
	FUZZ_HOLDS(report_table(nowhere, r, 1) == 0 && report_csv(nowhere, r, 1) == 0);
	FUZZ_HOLDS(report_json(nowhere, r, 1, 10) == 0);
	hgrm_write(nowhere, &r->latency, NULL);
	report_failures(nowhere, "headroom-load", r);
}

static void check_joined(const struct merge_item *items, size_t n)
{
	struct fault f = {0};
	struct result whole = {0};
	uint64_t planned = 0;
	int rc = merge_check(items, n, &f);
	fuzz_check_fault(rc, &f);
	if (rc < 0)
		return;
	rc = merge_join(items, n, &whole, &f);
	fuzz_check_fault(rc, &f);
	if (rc == 0) {
		for (size_t i = 0; i < n; i++)
			planned += items[i].result.planned;
		FUZZ_HOLDS(whole.planned == planned && whole.merged_from == n);
		FUZZ_HOLDS(whole.valid || whole.invalid_reason[0]);
		write_all(&whole);
	}
	result_free(&whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct merge_item items[ITEMS_MAX] = {0};
	CLEANUP_FREE char *text = fuzz_text(data, size);
	size_t n = 0;
	char *rest = text;
	for (char *line; n < ITEMS_MAX && (line = strsep(&rest, "\n"));) {
		struct fault f = {0};
		CLEANUP_JSON json_value *o = json_parse(line, strlen(line), NULL);
		if (!o)
			continue;
		snprintf(items[n].source, sizeof items[n].source, "line %zu", n);
		int rc = json_to_result(o, &items[n].result, &f);
		fuzz_check_fault(rc, &f);
		if (rc < 0) {
			result_free(&items[n].result);
			items[n].result = (struct result){0};
			continue;
		}
		check_round_trip(&items[n].result);
		write_all(&items[n].result);
		n++;
	}
	check_joined(items, n);
	for (size_t i = 0; i < n; i++)
		result_free(&items[i].result);
	return 0;
}
