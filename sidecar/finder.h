/* finder.h - which cgroups are watched, and finding them again: after a container restart (new id), after the cgroup
 * was removed and made anew, when a pod gets another container. */
#ifndef HEADROOM_SIDECAR_FINDER_H
#define HEADROOM_SIDECAR_FINDER_H

#include "discover.h"
#include "fleet.h"
#include "target.h"

struct finder {
	const struct target_query *query;
	const struct tree *tree;
	struct discovery discovery; /* shared PID namespace */
	enum target_way way;
	int64_t next_look_ns;
};

/* Decides the way: explicit path or pid, host view and pod uid, shared PID namespace, own cgroup; the first look is
 * finder_look(). 0, or a negative errno with a sentence. */
int finder_open(struct finder *x, const struct tree *t, const struct target_query *q, struct fleet *fleet,
		struct fault *f) MUST_CHECK;

/* Looks when it is time to (`force`: now): opens what is new, closes what is gone, tries again what could not be read,
 * and logs each of these. */
void finder_look(struct finder *x, struct fleet *fleet, int64_t now_ns, bool force);

/* A watch whose cgroup vanished during a sample: closes it, logs it, and looks again soon. */
void finder_lost(struct finder *x, struct fleet *fleet, struct watch *w, const struct fault *why);

void finder_close(struct finder *x);

#endif
