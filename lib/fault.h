/* fault.h - how errors travel.
 *
 * A function that can fail returns 0 or a negative errno, and takes a `struct fault *` (NULL is
 * allowed) into which it writes one sentence for a person: what was wrong, and what to do. Callers
 * on the way up put context in front of it. Library code never prints; the program decides.
 *
 *     if (fd < 0)
 *             return fault_set(f, errno, "cannot open %s", path);      // "cannot open x: No such file or directory"
 *     ...
 *     if (rc < 0)
 *             return fault_prefix(f, rc, "pod %s", uid);               // "pod 1f2e: cannot open x: ..."
 *
 * Text from outside (paths, file contents) may hold control characters; fault_text() gives the
 * sentence with each of them replaced by '?', so that a log line stays one line.
 */
#ifndef HEADROOM_FAULT_H
#define HEADROOM_FAULT_H

#include "base.h"

struct fault {
	int err;        /* positive errno, 0 = no fault */
	char text[640]; /* one sentence, no newline at its end; longer ones are cut */
};

/* For one on the stack of a hot path: as good as {0}, without writing all of it. */
static inline void fault_clear(struct fault *f)
{
	f->err = 0;
	f->text[0] = '\0';
}

/* Replaces what is in *f. err > 0 is an errno, whose meaning is added after ": "; a negative err is the
 * same without the meaning (when the sentence says it all). Returns -|err|, so `return fault_set(...)`. */
int fault_set(struct fault *f, int err, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* Puts "<context>: " in front of the sentence. rc is passed through unchanged. */
int fault_prefix(struct fault *f, int rc, const char *fmt, ...) PRINTF_LIKE(3, 4);

/* The sentence, or "no error" for an empty or NULL fault. Valid as long as *f. */
const char *fault_text(const struct fault *f);

#endif
