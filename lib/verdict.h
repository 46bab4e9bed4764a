/* verdict.h - what the service is waiting for: ordered detectors over one window. Pure.
 *
 * The order is the one that separates the causes (study 2): the figures of cpu.stat first, because a throttled task
 * counts as waiting in cpu.pressure too; pressure that throttling does not explain is contention; then I/O; what
 * remains is the program's own work. The first detector that holds names the cause; all of them give their evidence.
 * Throttling does not hold where it explains less than a fifth of the pressure: others have the CPUs then, and the
 * quota runs out by the way. "Cannot tell" is an answer.
 */
#ifndef HEADROOM_VERDICT_H
#define HEADROOM_VERDICT_H

#include "window.h"

enum cause {
	CAUSE_UNREADABLE,      /* the figures could not be read: nothing may be concluded */
	CAUSE_THROTTLED,       /* by its own quota */
	CAUSE_THROTTLED_ABOVE, /* by the quota of a cgroup above: the pod, the slice */
	CAUSE_CONTENTION,      /* other work on the CPUs: its own threads, neighbours, or the hypervisor */
	CAUSE_IO,              /* block I/O */
	CAUSE_QUEUE,           /* requests wait in the server's own queue */
	CAUSE_OWN_CODE,        /* it computes, and nothing holds it up */
	CAUSE_CANNOT_TELL,     /* no CPU use, no pressure: it waits for something the kernel does not count, or idles */
	CAUSES
};

/* "throttled", "throttled_above", ...: stable ids */
const char *cause_id(enum cause c);

enum contention_by { CONTENTION_UNKNOWN, CONTENTION_OWN_THREADS, CONTENTION_NEIGHBOURS, CONTENTION_HYPERVISOR };
const char *contention_by_id(enum contention_by b); /* "unknown", "own_threads", "neighbours", "hypervisor" */

/* The thresholds, in one place. Shares are of 1. */
struct verdict_thresholds {
	double throttled_share;   /* of active periods; 0.05 */
	double throttled_periods; /* at least so many in the window; 2 */
	double contention_share;  /* of wall time: pressure not explained by throttling; 0.10 */
	double runqueue_share;    /* run-queue wait / (run + wait), not explained by throttling; 0.20 */
	double io_share;          /* of wall time; 0.05 */
	double steal_share;       /* of the node's CPU time; 0.05 */
	double queue_share;       /* of the requests' time; 0.50 */
	double own_cores;         /* CPUs in use; 0.10 */
};
extern const struct verdict_thresholds verdict_default_thresholds;

struct verdict_input {
	const struct window *window; /* NULL: nothing was read */
	const char *unreadable;      /* why; or NULL */
	struct limit limit;
	bool ancestors_hidden; /* a quota above may exist that cannot be seen */
	double nproc;          /* CPUs of its affinity mask; NaN = not known */

	/* second witnesses; `have_` says whether they are there */
	bool have_runqueue; /* schedstat of its processes */
	uint64_t run_ns, runqueue_wait_ns;
	bool have_ticks; /* /proc/stat of the node, differences */
	struct cpu_ticks ticks;
	bool have_queue; /* from the program itself: sum over its requests */
	uint64_t queue_ns, request_ns;
};

enum { EVIDENCE_MAX = 16 };

struct evidence {
	const char *name; /* with its unit: "throttled_share_of_active_periods" */
	double value;
	double threshold; /* NaN: shown, not judged */
	bool holds;
};

struct verdict_words {
	enum contention_by by; /* CAUSE_CONTENTION */
	char sentence[320];    /* what it is, with figures */
	char next[320];        /* what to do */
	char disproof[320];    /* what would prove the verdict wrong */
};

struct verdict {
	enum cause cause;
	struct verdict_words words;
	size_t n_evidence;
	struct evidence evidence[EVIDENCE_MAX];
	double throttled_share;  /* of wall time, at most 1: an upper bound where several CPUs stop at once; NaN */
	double contention_share; /* of wall time, not explained by throttling; NaN */
	double io_share;         /* of wall time; NaN */
};

void verdict_judge(const struct verdict_input *in, const struct verdict_thresholds *t, struct verdict *out);

#endif
