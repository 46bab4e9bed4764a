/* fuzz_json.c - JSON: what is read and written again says the same; text of any bytes can be written.
 * seeds: report.json
 */
#include "../fuzz.h"
#include "jsonl.h"

static void look_at(const json_value *v)
{
	int64_t i;
	uint64_t u;
	double real;
	bool flag;
	if (json_get_u64(v, "a", &u) && json_get_i64(v, "a", &i))
		FUZZ_HOLDS(i >= 0 && (uint64_t)i == u && json_get_real(v, "a", &real));
	FUZZ_HOLDS(!json_get_text(v, "a") || !json_get_real(v, "a", &real));
	FUZZ_HOLDS(!json_get_bool(v, "a", &flag) || !json_get_text(v, "a"));
	FUZZ_HOLDS(json_at(v, json_length(v)) == NULL);
	for (size_t k = 0; k < json_length(v) && k < 8; k++)
		FUZZ_HOLDS(json_at(v, k) != NULL);
}

static void check_reading(const char *data, size_t size)
{
	struct fault f = {0};
	size_t len = 0;
	CLEANUP_JSON json_value *v = json_parse(data, size, &f);
	if (!v) {
		fuzz_check_fault(-1, &f);
		return;
	}
	look_at(v);
	CLEANUP_FREE char *text = json_text(v, &len);
	FUZZ_HOLDS(text && strlen(text) == len && !strchr(text, '\n'));
	CLEANUP_JSON json_value *again = json_parse(text, len, NULL);
	FUZZ_HOLDS(again);
	CLEANUP_FREE char *text_again = json_text(again, NULL);
	FUZZ_HOLDS(text_again && strcmp(text, text_again) == 0);
}

/* A cgroup's name may hold any bytes. */
static void check_writing(const char *bytes)
{
	size_t len = 0;
	CLEANUP_JSON json_value *o = json_new_object();
	json_set_text(o, "name", bytes);
	json_set_u64(o, "size", strlen(bytes));
	CLEANUP_FREE char *text = json_text(o, &len);
	FUZZ_HOLDS(text);
	CLEANUP_JSON json_value *again = json_parse(text, len, NULL);
	const char *name = json_get_text(again, "name");
	FUZZ_HOLDS(name && strlen(name) <= 3 * strlen(bytes));
	/* bytes that were UTF-8 come back as they were: writing is the identity from the second time on */
	json_set_text(o, "name", name);
	CLEANUP_FREE char *text_again = json_text(o, NULL);
	FUZZ_HOLDS(text_again && strcmp(text, text_again) == 0);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *exact = fuzz_copy(data, size);
	CLEANUP_FREE char *text = fuzz_text(data, size);
	check_reading(exact, size);
	check_writing(text);
	return 0;
}
