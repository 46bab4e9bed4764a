/* siblings.h - the other programs of the toolkit: beside this one, else on PATH.
 */
#ifndef HEADROOM_LAB_SIBLINGS_H
#define HEADROOM_LAB_SIBLINGS_H

#include "fault.h"

/* Absolute or PATH-relative path of "headroom-probe" and the like, to be freed. The folder of the running program comes
 * first, so that a build is never mixed with an installed version. -ENOENT with a sentence. */
int sibling_find(const char *name, char **out, struct fault *f) MUST_CHECK;

/* Becomes that program: argv[0] is replaced, the rest is passed on. Returns only on failure. */
int sibling_exec(const char *name, char **argv, struct fault *f);

#endif
