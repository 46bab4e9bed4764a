/* fuzz_answer.c - the headers of a server that may say anything, each line as it came from the socket.
 * seeds:
 */
#include "../fuzz.h"
#include "load/answer.h"

static void check_header(const char *line, size_t len)
{
	struct answer a = {.status = 200};
	CLEANUP_FREE char *exact = fuzz_copy(line, len);
	answer_take_header(&a, exact, len);
	FUZZ_HOLDS(a.server_have < 1U << ANSWER_FIELDS);
	for (int i = 0; i < ANSWER_FIELDS; i++) {
		FUZZ_HOLDS(a.server_have & 1U << i || a.server_ns[i] == 0);
		FUZZ_HOLDS(a.server_ns[i] >= 0);
	}
	FUZZ_HOLDS(a.status == 200);
	if (!a.server_have)
		return;
	/* written as our own server does it, the same figure comes back */
	const char *colon = memchr(line, ':', len);
	char written[128];
	int i = __builtin_ctz(a.server_have);
	struct answer again = {0};
	FUZZ_HOLDS(colon && colon - line < 40);
	int n = snprintf(written, sizeof written, "%.*s: %lld\r\n", (int)(colon - line), line,
			 (long long)a.server_ns[i]);
	answer_take_header(&again, written, (size_t)n);
	FUZZ_HOLDS(again.server_have == a.server_have && again.server_ns[i] == a.server_ns[i]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data;
	CLEANUP_FREE char *name = fuzz_text(data, size);
	for (size_t at = 0; at < size;) {
		const char *nl = memchr(text + at, '\n', size - at);
		size_t len = nl ? (size_t)(nl + 1 - (text + at)) : size - at;
		check_header(text + at, len);
		at += len;
	}
	enum answer_error error = answer_error_by_name(name);
	FUZZ_HOLDS(error > ANSWER_WHOLE && error <= ANSWER_ERRORS);
	FUZZ_HOLDS(error == ANSWER_ERRORS || strcmp(answer_error_name(error), name) == 0);
	return 0;
}
