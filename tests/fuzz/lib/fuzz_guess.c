/* fuzz_guess.c - what the executable and the mappings of a hostile process are taken for. The input is an ELF file, and
 * in another reading a path and the text of /proc/PID/maps.
 * seeds:
 */
#include "../fuzz.h"
#include "guess.h"

enum { READS_MAX = 600, BYTES_MAX = 300 * 1024 };

struct memory {
	const uint8_t *data;
	size_t size;
	unsigned reads;
	size_t bytes;
};

static ssize_t read_memory(void *context, void *buf, size_t size, uint64_t offset)
{
	struct memory *m = context;
	m->reads++;
	if (offset >= m->size)
		return 0;
	size_t n = m->size - offset < size ? (size_t)(m->size - offset) : size;
	memcpy(buf, m->data + offset, n);
	m->bytes += n;
	return (ssize_t)n;
}

static void check_guess(const struct guess_evidence *e)
{
	struct guess out;
	guess_runtimes(e, &out);
	FUZZ_HOLDS(out.n <= GUESS_MAX && (out.n > 0 || !out.one_of_several));
	for (size_t i = 0; i < out.n; i++)
		FUZZ_HOLDS(out.runtimes[i] && (i == 0 || out.runtimes[i] > out.runtimes[i - 1]));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct memory memory = {.data = data, .size = size};
	const struct guess_file file = {read_memory, &memory};
	struct go_build go = {0};
	bool is_go = guess_go_build(&file, &go);
	/* bounded, whatever the file says */
	FUZZ_HOLDS(memory.reads <= READS_MAX && memory.bytes <= BYTES_MAX);
	FUZZ_HOLDS(!is_go || (go.minor >= GO_MINOR_UNKNOWN && go.minor <= 999));
	CLEANUP_FREE char *exe = fuzz_next_part(&in);
	CLEANUP_FREE char *maps = fuzz_copy(in.at, in.left);
	const struct guess_evidence split = {exe, strlen(exe), maps, in.left, is_go ? &go : NULL};
	check_guess(&split);
	CLEANUP_FREE char *all = fuzz_copy(data, size);
	const struct guess_evidence whole = {NULL, 0, all, size, NULL};
	check_guess(&whole);
	return 0;
}
