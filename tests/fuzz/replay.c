/* replay.c - the main() of a harness without libFuzzer: runs it on every file that is named, and on what a cut or a
 * changed byte makes of the small ones, and says so as TAP. Of a pack (inputs.py says what that is) it runs what is in
 * it. Ends by a signal at the first input that is a finding, which is then named on stderr.
 */
#include "fuzz.h"

#include <signal.h>

/* Files above this size are run as they are. */
enum { VARIED_BYTES_MAX = 512 };

static const char *current = "?";
static char variant[64];

static void tell(void)
{
	char text[4096];
	int len = snprintf(text, sizeof text, "finding: %s%s\n", current, variant);
	if (write(STDERR_FILENO, text, (size_t)len) < 0)
		return;
}

static void on_signal(int number)
{
	tell();
	signal(number, SIG_DFL);
	raise(number);
}

/* There with a sanitizer only, which does not always end by a signal. */
__attribute__((weak)) void __sanitizer_set_death_callback(void (*callback)(void));

static void run(const uint8_t *data, size_t size)
{
	uint8_t *copy = fuzz_copy(data, size);
	LLVMFuzzerTestOneInput(copy, size);
	free(copy);
}

static size_t run_file(const uint8_t *data, size_t size)
{
	size_t n = 1;
	variant[0] = '\0';
	run(data, size);
	if (size > VARIED_BYTES_MAX)
		return n;
	uint8_t *changed = fuzz_copy(data, size);
	for (size_t i = 0; i < size; i++) {
		static const uint8_t bytes[] = {0, '\n', ' ', '9', 0xff};
		snprintf(variant, sizeof variant, " cut to %zu bytes", i);
		run(data, i);
		changed[i] = bytes[i % ARRAY_LEN(bytes)];
		snprintf(variant, sizeof variant, " with byte %zu = %#x", i, changed[i]);
		run(changed, size);
		changed[i] = data[i];
		n += 2;
	}
	free(changed);
	return n;
}

/* A pack: length in decimal, newline, that many bytes; again and again. */
static size_t run_pack(const uint8_t *data, size_t size)
{
	size_t n = 0;
	for (size_t at = 0; at < size; n++) {
		size_t len = 0;
		for (; at < size && data[at] >= '0' && data[at] <= '9'; at++)
			len = len * 10 + (size_t)(data[at] - '0');
		FUZZ_HOLDS(at < size && data[at] == '\n' && len <= size - at - 1);
		snprintf(variant, sizeof variant, ", input %zu at byte %zu", n, at + 1);
		run(data + at + 1, len);
		at += 1 + len;
	}
	return n;
}

/* The whole file, to be freed; NULL when it cannot be read. */
static uint8_t *load(const char *path, size_t *size)
{
	CLEANUP_FCLOSE FILE *in = fopen(path, "re");
	uint8_t *data = NULL;
	size_t room = 0;
	*size = 0;
	if (!in)
		return NULL;
	do {
		room = room ? room * 2 : 4096;
		data = realloc(data, room);
		FUZZ_HOLDS(data);
		*size += fread(data + *size, 1, room - *size, in);
	} while (*size == room);
	return data;
}

static size_t replay(const char *path)
{
	static const char ending[] = ".pack";
	size_t size;
	size_t len = strlen(path);
	CLEANUP_FREE uint8_t *data = load(path, &size);
	if (!data)
		return 0;
	current = path;
	bool is_pack = len > sizeof ending && strcmp(path + len - (sizeof ending - 1), ending) == 0;
	return is_pack ? run_pack(data, size) : run_file(data, size);
}

int main(int argc, char **argv)
{
	size_t files = 0;
	size_t inputs = 0;
	static const int deadly[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTERM};
	for (size_t i = 0; i < ARRAY_LEN(deadly) && !__sanitizer_set_death_callback; i++)
		signal(deadly[i], on_signal);
	if (__sanitizer_set_death_callback) {
		__sanitizer_set_death_callback(tell);
		signal(SIGABRT, on_signal);
		signal(SIGTERM, on_signal);
	}
	for (int i = 1; i < argc; i++) {
		size_t n = replay(argv[i]);
		inputs += n;
		files += n > 0;
	}
	bool all = argc > 1 && files == (size_t)argc - 1;
	printf("1..1\n%sok 1 - %zu inputs made of %zu files\n", all ? "" : "not ", inputs, files);
	if (!all)
		printf("# of %d files that were named, %zu could be read\n", argc - 1, files);
	return all ? 0 : 1;
}
