/* fuzz_inputs.c - what the lab is told by others: the report of headroom-load, the stream of a docker engine,
 * DOCKER_HOST. seeds:
 */
#include "../fuzz.h"
#include "lab/figures.h"
#include "lab/limit_docker.h"

static void check_report(const char *text)
{
	struct figures figures;
	CLEANUP_JSON json_value *report = json_parse(text, strlen(text), NULL);
	if (!report)
		return;
	figures_init(&figures);
	figures_take_report(&figures, report);
	/* a report is believed only when nothing failed */
	FUZZ_HOLDS(figures.valid ? figures.ok == figures.planned && !figures.invalid_reason[0]
				 : figures.invalid_reason[0] != '\0');
}

struct written {
	char *text[2];
	size_t len[2];
};

static void take(void *context, int stream, const char *text, size_t len)
{
	struct written *w = context;
	size_t i = stream == 2;
	w->text[i] = realloc(w->text[i], w->len[i] + len + 1);
	FUZZ_HOLDS(w->text[i]);
	memcpy(w->text[i] + w->len[i], text, len);
	w->len[i] += len;
}

/* The stream says the same however it is cut into pieces. */
static void check_frames(const uint8_t *data, size_t size)
{
	struct docker_frames whole = {0};
	struct docker_frames cut = {0};
	struct written one = {0};
	struct written other = {0};
	CLEANUP_FREE char *bytes = fuzz_copy(data, size);
	docker_frames_take(&whole, bytes, size, take, &one);
	for (size_t at = 0, step = 1; at < size; at += step, step = step % 7 + 1) {
		step = size - at < step ? size - at : step;
		docker_frames_take(&cut, bytes + at, step, take, &other);
	}
	for (size_t i = 0; i < ARRAY_LEN(one.text); i++) {
		FUZZ_HOLDS(one.len[i] == other.len[i] && one.len[i] <= size);
		FUZZ_HOLDS(one.len[i] == 0 || memcmp(one.text[i], other.text[i], one.len[i]) == 0);
		free(one.text[i]);
		free(other.text[i]);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = fuzz_text(data, size);
	const char *path = engine_socket(text);
	FUZZ_HOLDS(!path || path[0] == '/');
	check_report(text);
	check_frames(data, size);
	return 0;
}
