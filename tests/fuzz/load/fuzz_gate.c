/* fuzz_gate.c - the conditions of --fail-on: "p99>50ms,failed>1%".
 * seeds:
 */
#include "../fuzz.h"
#include "load/gate.h"

/* The harness's own reading of one condition that was accepted: what follows the operator, as long as it is. */
static void check_text(const char *conditions, const char *said)
{
	FUZZ_HOLDS(strnlen(said, GATE_TEXT_SIZE) < GATE_TEXT_SIZE && said[0] && strpbrk(said, "<>"));
	FUZZ_HOLDS(strpbrk(conditions, "<>"));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static struct result empty;
	static struct result full;
	char said[GATE_TEXT_SIZE] = "";
	struct fault f = {0};
	CLEANUP_FREE char *text = fuzz_text(data, size);
	if (!full.planned) {
		FUZZ_HOLDS(result_init(&full, 0, NULL) == 0 && result_init(&empty, 0, NULL) == 0);
		full.planned = full.sent = 100;
		full.ok = 97;
		full.failed = 3;
		full.duration_ns = 5 * NSEC_PER_SEC;
		for (int i = 1; i <= 97; i++)
			dist_add(&full.latency, i * NSEC_PER_MSEC);
		dist_seal(&full.latency);
	}
	int rc = gate_check(text, &f);
	fuzz_check_fault(rc, &f);
	if (rc < 0)
		return 0;
	if (gate_trips(text, &full, said))
		check_text(text, said);
	/* without any sample, a condition about a time always trips */
	bool trips = gate_trips(text, &empty, said);
	if (trips)
		check_text(text, said);
	FUZZ_HOLDS(trips || !strstr(text, "p99"));
	return 0;
}
