/* program.h - a program of the toolkit as a child, with what it writes kept.
 */
#ifndef HEADROOM_LAB_PROGRAM_H
#define HEADROOM_LAB_PROGRAM_H

#include "capture.h"
#include "child.h"

struct program {
	const char *name; /* for messages */
	struct child child;
	struct capture out, err;
};

void program_init(struct program *p, const char *name);

/* Starts it with its output captured (what an earlier start wrote is forgotten); spec's descriptors are set here. */
int program_start(struct program *p, struct child_spec *spec, struct fault *f) MUST_CHECK;

/* True once it has ended by itself; then child.reaped is set. Does not wait. */
bool program_has_ended(struct program *p);

/* The sentence about a program that has ended but should not have, or not this way, with the last thing it said.
 * Returns -ECHILD. */
int program_failed(const struct program *p, const char *when, struct fault *f);

/* Forgets its output. The child must have been ended. */
void program_release(struct program *p);

#endif
