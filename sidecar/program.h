/* program.h - what runs in the container: which runtimes its process uses, where that is certain (guess.h).
 *
 * /proc/PID/exe and maps are readable under the same rule as the container's cgroup (equal uid and gid, or more
 * rights); where they are not, nothing is known.
 */
#ifndef HEADROOM_SIDECAR_PROGRAM_H
#define HEADROOM_SIDECAR_PROGRAM_H

#include "cgroup.h"
#include "guess.h"
#include "jsonl.h"
#include "textfile.h"

/* Guesses for one process of the container; out->n is 0 when nothing is certain or nothing may be read. Cost: a few ms
 * once per container, never in the sampling path. */
void program_guess(struct guess *out, const struct tree *t, const char *proc_name);

/* The lowest pid in cgroup.procs of a cgroup that is visible in our PID namespace, as text; "" when there is none. */
void program_first_pid(const struct cgroup_target *target, char out[16]);

/* Adds `guessed_runtimes` (ids) and `guess`: what the first of them makes of this limit, a sentence. Nothing when n is
 * 0. */
void program_put(json_value *o, const struct guess *g, const struct snapshot *s, const struct cpu_counts *cpus,
		 enum hierarchy cpu_controller);

#endif
