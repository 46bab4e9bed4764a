/* fuzz_since.c - the token of /report?since=, against a fleet of one target that cannot be read.
 * seeds:
 */
#include "../fuzz.h"
#include "sidecar/report.h"

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *since = fuzz_text(data, size);
	struct watch watch = {.why = {ENOENT, "no cgroup"}};
	struct watch *watches[] = {&watch};
	struct fleet fleet = {.watches = watches, .n = 1, .way = "cgroup", .run_id = 0x1f};
	bool unknown = false;
	size_t len = 0;
	snprintf(watch.who.container, sizeof watch.who.container, "%.100s", since);
	CLEANUP_JSON json_value *document = report_document(&fleet, since, &unknown);
	CLEANUP_FREE char *text = json_text(document, &len);
	/* nothing was marked: no token is known, and a wrong one gets none in return */
	FUZZ_HOLDS(unknown && text);
	CLEANUP_JSON json_value *again = json_parse(text, len, NULL);
	FUZZ_HOLDS(again && !json_get_text(again, "token") && fleet.tokens == 0);
	return 0;
}
