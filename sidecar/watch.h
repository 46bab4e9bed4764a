/* watch.h - one watched cgroup: its reader, the marks from which differences are taken, and what was learnt on the way.
 */
#ifndef HEADROOM_SIDECAR_WATCH_H
#define HEADROOM_SIDECAR_WATCH_H

#include "cpus.h"
#include "demand.h"
#include "describe.h"
#include "edge.h"
#include "hostview.h"
#include "processes.h"
#include "program.h"
#include "verdict.h"

/* A figure carries its scope. */
enum scope { SCOPE_CONTAINER, SCOPE_POD, SCOPE_NODE };
const char *scope_name(enum scope s);

/* Who it is; filled by the ways of target.h. Unknown parts are empty. */
struct identity {
	char namespace_name[64]; /* node mode only: elsewhere the scrape knows these two */
	char pod[254];
	char container[128]; /* name in the pod, else the short id, else the cgroup's last part */
	char id[CONTAINER_ID_LEN + 1];
	char pod_uid[128];
	enum scope scope;
};

/* The other witnesses at the instant of a mark. */
struct witnesses {
	bool have_ticks, have_runqueue;
	struct cpu_ticks ticks;
	uint64_t run_ns, runqueue_wait_ns;
};

/* An instant that differences can begin at. */
struct mark {
	struct snapshot snap;
	struct witnesses witnesses;
};

enum mark_kind { MARK_START, MARK_LOG, MARK_EVENT, MARK_SECOND, MARKS };

/* Marks that clients of /report asked for, in a ring. */
enum { CLIENT_MARKS = 8 };

enum edge_kind { EDGE_THROTTLED, EDGE_THROTTLED_ABOVE, EDGE_CONTENTION, EDGE_IO_WAIT, EDGES };

/* What an edge adds up from its opening on. */
struct edge_base {
	uint64_t nr_throttled, throttled_usec, psi_usec;
};

struct watch {
	struct identity who;
	bool open;                   /* the reader is open and `now` is filled */
	bool denied;                 /* its cgroup cannot be read: only run-queue wait is watched */
	bool complained;             /* that was said */
	bool lost;                   /* it was open, and its cgroup went away */
	bool seen;                   /* for the finder: still there at the last look */
	struct fault why;            /* of the last failure to open or read */
	struct cgroup_target target; /* owned; for its processes */
	struct reader reader;
	struct processes *processes; /* owned; NULL = not watched */
	struct runqueue runqueue;    /* last reading */
	struct cpu_counts cpus;
	struct guess program;    /* what runs in it; n = 0: not known */
	struct limit limit;      /* of the last sample */
	struct limit told_limit; /* the last one that was logged */
	struct mark now;         /* the last sample; counters of SNAPSHOT_FULL are as old as the last second */
	struct mark marks[MARKS];
	uint64_t token;                       /* of the next client mark */
	struct mark *client_marks;            /* CLIENT_MARKS of them, made at the first use; NULL = none */
	uint64_t client_tokens[CLIENT_MARKS]; /* 0 = empty */
	struct demand demand;
	struct worst worst; /* since the last summary */
	struct edge edges[EDGES];
	struct edge_base edge_bases[EDGES];
	uint64_t restarts;
};

/* A new, closed one; NULL when out of memory. */
struct watch *watch_new(void);

/* Opens the reader of a resolved target, which it takes over, and sets every mark to now. 0 or a negative errno (the
 * target is released then). */
int watch_open(struct watch *w, struct cgroup_target *target, const struct cpu_counts *cpus,
	       struct fault *f) MUST_CHECK;

/* Closes the reader; identity, processes and restarts stay for the next one of the same name. */
void watch_close(struct watch *w);
void watch_delete(struct watch *w);

/* After a full sample: reads the run-queue wait, and notes the node's ticks (NULL: not there). */
void watch_take_witnesses(struct watch *w, const struct cpu_ticks *ticks);

/* One sample. 0, or -ENODEV when the cgroup is gone. No allocation. */
int watch_sample(struct watch *w, enum snapshot_what what, struct fault *f);

/* Sets a mark, or all of them, to the last sample. */
void watch_mark(struct watch *w, enum mark_kind kind);
void watch_mark_all(struct watch *w);

/* Keeps the last sample under a token (not 0) that a client was given. False when out of memory. */
bool watch_client_mark(struct watch *w, uint64_t token);
/* The mark of a token, or NULL when it was never given or has been overwritten. */
const struct mark *watch_find_client_mark(const struct watch *w, uint64_t token);

/* The window from a mark to the last sample, and the verdict over it. */
void watch_judge(const struct watch *w, const struct mark *from, struct window *window, struct verdict *out);

/* Its limit as seen from here. */
struct limit_view watch_limit_view(const struct watch *w);

#endif
