/* exec.h - runs a command as a child, as an init does: `headroom-sidecar exec -- CMD...`.
 *
 * The caller owns the loop and the signalfd; this file only answers:
 *
 *     exec_signals(&set); sigprocmask(SIG_BLOCK, &set, NULL); fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
 *     if (exec_start(&e, argv, &f) < 0)
 *             return exec_status(&e);                  // 126 or 127, with a sentence in f
 *     ... for every struct signalfd_siginfo: exec_on_signal(&e, &info);
 *     if (e.ended)
 *             return exec_status(&e);
 *
 * Signals: every signal that can be sent to us is passed on to the child (not to its group), those with a value as
 * well, and none is acted upon: SIGTERM ends us when it has ended the child. Not passed on: SIGKILL and SIGSTOP (cannot
 * be seen), SIGCHLD (reaps), SIGPIPE (our own stdout), SIGTTIN and SIGTTOU (of our own terminal), and the faults of a
 * program (SEGV, BUS, FPE, ILL, TRAP, SYS, ABRT), which keep their default action.
 *
 * Terminal: the child is in a process group of its own, so that Ctrl-C reaches it once, directly, and it becomes the
 * foreground group if we were it. When it is stopped there (Ctrl-Z), we stop as well, so that the shell notices, and
 * SIGCONT continues both. Process 1 never stops.
 *
 * The child begins with no signal blocked and with the dispositions that we were started with (nohup stays nohup), but
 * for SIGPIPE, which has its default. It is not killed when we are: only what we are sent is passed on. Orphans are
 * reaped (we are a subreaper unless we are process 1); those that outlive the child are left alone.
 *
 * Status, as of a shell, whether we are process 1 or not: the child's exit status; 128 + signal when a signal ended
 * it; 127 not found; 126 found but not executable. (To die of the same signal is impossible for process 1, so nobody
 * could rely on it.)
 */
#ifndef HEADROOM_SIDECAR_EXEC_H
#define HEADROOM_SIDECAR_EXEC_H

#include "fault.h"

#include <signal.h>
#include <sys/signalfd.h>
#include <sys/types.h>

struct exec {
	pid_t pid; /* of the child; 0 = none */
	bool ended;
	int status;       /* see exec_status() */
	int tty;          /* descriptor of the terminal whose foreground group the child is, or -1 */
	unsigned orphans; /* other processes that were reaped */
};

#define EXEC_NONE ((struct exec){.tty = -1})

/* The signals to block and to read: SIGCHLD and everything that is passed on. Signals that only the loop itself wants
 * are among them; in exec mode they are the child's. */
void exec_signals(sigset_t *set);

/* Starts argv[0] (looked up on PATH). Sets SIGCHLD to its default, SIGTTIN and SIGTTOU to ignored in this process. 0,
 * or a negative errno with a sentence; then exec_status() is 127 or 126 and there is no child. */
int exec_start(struct exec *e, char *const argv[], struct fault *f) MUST_CHECK;

/* Passes a signal on, or reaps after SIGCHLD. True if it was handled here; false for one that is not passed on (the
 * caller may act on it). Never blocks. */
bool exec_on_signal(struct exec *e, const struct signalfd_siginfo *info);

/* The exit status: valid when ended, or when exec_start() failed. */
int exec_status(const struct exec *e);

/* Gives the terminal back and closes its descriptor. The child is not touched. */
void exec_release(struct exec *e);

#endif
