/* capture.h - what a child writes, kept in memory: no pipe that could fill up while nobody reads.
 */
#ifndef HEADROOM_LAB_CAPTURE_H
#define HEADROOM_LAB_CAPTURE_H

#include "fault.h"

struct capture {
	int fd; /* give it to child_spec as stdout_fd or stderr_fd; -1 = not open */
};

#define CAPTURE_CLOSED ((struct capture){.fd = -1})

int capture_open(struct capture *c, struct fault *f) MUST_CHECK;
void capture_close(struct capture *c);

/* All that was written so far, NUL-terminated, to be freed; at most 16 MB of it. NULL when out of memory. */
char *capture_text(const struct capture *c);

/* The first complete line without its newline, to be freed; NULL when there is none yet. Cheap while nothing came. */
char *capture_first_line(const struct capture *c);

/* The last line that is not empty, for messages of a program that failed; "" when there is none. To be freed. */
char *capture_last_line(const struct capture *c);

#endif
