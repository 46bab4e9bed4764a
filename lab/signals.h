/* signals.h - INT, TERM and HUP, blocked and taken at one place, so that a study that is interrupted still ends its
 * processes, removes its cgroups and writes what was measured. Children get them unblocked (child.h).
 */
#ifndef HEADROOM_LAB_SIGNALS_H
#define HEADROOM_LAB_SIGNALS_H

#include "fault.h"

struct signals {
	int fd;   /* readable when one is pending; for poll() */
	int last; /* the first that was taken, 0 = none yet */
};

#define SIGNALS_NONE ((struct signals){.fd = -1})

/* Blocks them and ignores SIGPIPE: a closed pipe must not end us before everything is cleaned up. */
int signals_open(struct signals *s, struct fault *f) MUST_CHECK;

/* The first signal that arrived, or 0. Does not wait. */
int signals_take(struct signals *s);

void signals_close(struct signals *s);

#endif
