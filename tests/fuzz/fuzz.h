/* fuzz.h - what every harness includes.
 *
 * A harness is one function that gives bytes to the functions that the programs give them to, and checks what their
 * headers promise. With clang and `make fuzz` libFuzzer makes up the bytes; everywhere else replay.c runs the harness
 * on the inputs that are kept. The first comment of a harness holds a line "seeds: NAME...": files of these names below
 * tests/fixtures are inputs to begin with, beside those in tests/fuzz/seeds/<harness>/.
 *
 * A harness keeps nothing from one input to the next, reads no clock and no file that it has not made itself.
 */
#ifndef HEADROOM_TESTS_FUZZ_H
#define HEADROOM_TESTS_FUZZ_H

#include "base.h"
#include "fault.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

/* A promise of a header; when it is broken the input is a finding. */
#define FUZZ_HOLDS(condition)                                                                                          \
	do {                                                                                                           \
		if (!(condition)) {                                                                                    \
			fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition);                 \
			abort();                                                                                       \
		}                                                                                                      \
	} while (0)

/* A failure is a negative errno and comes with a sentence of one line. */
static inline void fuzz_check_fault(int rc, const struct fault *f)
{
	if (rc >= 0)
		return;
	FUZZ_HOLDS(f->err > 0 && f->text[0]);
	for (const char *c = f->text; *c; c++)
		FUZZ_HOLDS((unsigned char)*c >= 0x20 && *c != 0x7f);
}

/* Memory of exactly that size, so that one byte too far is seen; to be freed. */
static inline void *fuzz_copy(const void *data, size_t size)
{
	void *copy = malloc(size ? size : 1);
	FUZZ_HOLDS(copy);
	if (size)
		memcpy(copy, data, size);
	return copy;
}

/* The same as text, up to its first zero byte. */
static inline char *fuzz_text(const void *data, size_t size)
{
	size_t len = size ? strnlen(data, size) : 0;
	char *text = malloc(len + 1);
	FUZZ_HOLDS(text);
	if (len)
		memcpy(text, data, len);
	text[len] = '\0';
	return text;
}

/* What is left of an input. */
struct fuzz_input {
	const uint8_t *at;
	size_t left;
};

/* The text up to the next line that is "%%" (or the rest), to be freed; "" when nothing is left. For harnesses of
 * several texts; a file without such a line is the first of them. */
static inline char *fuzz_next_part(struct fuzz_input *in)
{
	static const char mark[] = "%%\n";
	const uint8_t *end = in->at;
	size_t rest = in->left;
	for (;;) {
		const uint8_t *found = rest ? memmem(end, rest, mark, sizeof mark - 1) : NULL;
		if (!found) {
			char *last = fuzz_text(in->at, in->left);
			in->left = 0;
			return last;
		}
		if (found == in->at || found[-1] == '\n') {
			char *text = fuzz_text(in->at, (size_t)(found - in->at));
			in->left -= (size_t)(found - in->at) + sizeof mark - 1;
			in->at = found + sizeof mark - 1;
			return text;
		}
		rest -= (size_t)(found + 1 - end);
		end = found + 1;
	}
}

/* `size` bytes into *out; false at the end of the input. For harnesses that are given numbers. */
static inline bool fuzz_take(struct fuzz_input *in, void *out, size_t size)
{
	if (in->left < size)
		return false;
	memcpy(out, in->at, size);
	in->at += size;
	in->left -= size;
	return true;
}

#endif
