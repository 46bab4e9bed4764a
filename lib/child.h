/* child.h - processes that we start, track by pidfd, end and prove gone.
 *
 * A child is known by its pidfd, never by its name. It is killed by the kernel when the thread that
 * started it ends (PR_SET_PDEATHSIG), so that even SIGKILL of the parent leaves nothing behind: start
 * children from the main thread. Signals that the parent has blocked are unblocked in the child.
 */
#ifndef HEADROOM_CHILD_H
#define HEADROOM_CHILD_H

#include "fault.h"

#include <sys/types.h>

enum {
	CHILD_INHERIT = -1, /* the parent's descriptor */
	CHILD_NULL = -2,    /* /dev/null */
};

struct child_spec {
	const char *const *argv;            /* argv[0] is looked up on PATH unless it has a '/' */
	int stdin_fd, stdout_fd, stderr_fd; /* a descriptor, CHILD_INHERIT or CHILD_NULL; not closed here */
	const char *const *cgroup_procs;    /* NULL-terminated paths of cgroup.procs files that the child joins
					       before it runs anything; may be NULL */
	const char *const *extra_env;       /* NULL-terminated "NAME=value" added to the environment; may be NULL */
	int nice_add;                       /* added to the nice value */
};

struct child {
	pid_t pid;  /* 0 = never started, or reaped */
	int pidfd;  /* -1 = none */
	int status; /* wait status once `reaped`: see child_exit_code() */
	bool reaped;
};

#define CHILD_NONE ((struct child){.pid = 0, .pidfd = -1})

/* Starts it. When the program cannot be executed or a cgroup cannot be joined, that is returned as a
 * fault here and no child is left. 0 or a negative errno. */
int child_start(struct child *c, const struct child_spec *spec, struct fault *f) MUST_CHECK;

/* Sends a signal; 0 when it has been sent or the child is reaped already. */
int child_signal(const struct child *c, int signal);

/* Waits up to timeout_ns (negative: for ever) for its end and reaps it. 0, or -ETIMEDOUT. */
int child_wait(struct child *c, int64_t timeout_ns);

/* Ends it for certain: SIGTERM, up to grace_ns, SIGKILL; reaps, closes the pidfd and checks that the
 * pid is gone. Safe on a child that was never started or is gone already. 0, or -EBUSY when the kernel
 * still has the process after 5 s (uninterruptible sleep). */
int child_end(struct child *c, int64_t grace_ns, struct fault *f);

/* Exit status of a reaped child as a shell shows it: 0..255, or 128 + signal. */
int child_exit_code(const struct child *c);

#endif
