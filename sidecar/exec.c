#include "exec.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

enum { STATUS_NOT_EXECUTABLE = 126, STATUS_NOT_FOUND = 127 };

/* What is not passed on; see exec.h. SIGKILL and SIGSTOP cannot be blocked anyway. */
static const int kept_signals[] = {
	SIGKILL, SIGSTOP, SIGPIPE, SIGTTIN, SIGTTOU, SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP, SIGSYS, SIGABRT,
};

void exec_signals(sigset_t *set)
{
	sigfillset(set);
	for (size_t i = 0; i < ARRAY_LEN(kept_signals); i++)
		sigdelset(set, kept_signals[i]);
}

static bool is_passed_on(int signal)
{
	for (size_t i = 0; i < ARRAY_LEN(kept_signals); i++)
		if (kept_signals[i] == signal)
			return false;
	return signal != SIGCHLD;
}

/* ---- the start ---- */

/* Dispositions that this process has changed, as they were before. */
struct dispositions {
	struct sigaction chld, ttin, ttou;
};

static void change_dispositions(struct dispositions *before)
{
	const struct sigaction default_action = {.sa_handler = SIG_DFL};
	const struct sigaction ignore = {.sa_handler = SIG_IGN};
	/* with SIGCHLD ignored, as some parents leave it, the kernel would reap and no status would be left */
	sigaction(SIGCHLD, &default_action, &before->chld);
	/* giving the terminal away is done from the background at the end: it must not stop us */
	sigaction(SIGTTIN, &ignore, &before->ttin);
	sigaction(SIGTTOU, &ignore, &before->ttou);
}

static void restore_for_child(const struct dispositions *before)
{
	const struct sigaction default_action = {.sa_handler = SIG_DFL};
	sigset_t none;
	sigaction(SIGCHLD, &before->chld, NULL);
	sigaction(SIGTTIN, &before->ttin, NULL);
	sigaction(SIGTTOU, &before->ttou, NULL);
	/* we ignore it by now */
	sigaction(SIGPIPE, &default_action, NULL);
	sigemptyset(&none);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

/* The controlling terminal, if we are its foreground group; -1 otherwise. */
static int open_terminal(void)
{
	int tty = open("/dev/tty", O_RDWR | O_CLOEXEC | O_NOCTTY);
	if (tty >= 0 && tcgetpgrp(tty) != getpgrp()) {
		close(tty);
		tty = -1;
	}
	return tty;
}

/* Both parent and child do this, so that it is done before either goes on. */
static void make_group(pid_t pid, int tty)
{
	setpgid(pid, pid);
	if (tty >= 0)
		(void)tcsetpgrp(tty, pid ? pid : getpid());
}

static _Noreturn void run_child(char *const argv[], int tty, const struct dispositions *before, int report_fd)
{
	make_group(0, tty);
	restore_for_child(before);
	execvp(argv[0], argv);
	int err = errno;
	/* a parent that reads nothing sees the status instead */
	if (write(report_fd, &err, sizeof err) < 0)
		_exit(STATUS_NOT_EXECUTABLE);
	_exit(err == ENOENT || err == ENOTDIR ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE);
}

/* 0 when the pipe was closed by exec, else the errno of the failed exec. */
static int read_report(int fd)
{
	int err = 0;
	ssize_t got;
	while ((got = read(fd, &err, sizeof err)) < 0 && errno == EINTR)
		continue;
	return got == (ssize_t)sizeof err ? err : 0;
}

static bool is_there(const char *command)
{
	return strchr(command, '/') && access(command, F_OK) == 0;
}

static int fail(struct exec *e, const char *command, int err, struct fault *f)
{
	bool not_found = err == ENOENT || err == ENOTDIR;
	e->ended = true;
	e->status = not_found ? STATUS_NOT_FOUND : STATUS_NOT_EXECUTABLE;
	exec_release(e);
	/* the trap of images from scratch */
	if (not_found && is_there(command))
		return fault_set(f, -err, "cannot run %s: the interpreter or dynamic loader that it needs is not here",
				 command);
	return fault_set(f, err, not_found ? "cannot find %s" : "cannot run %s", command);
}

int exec_start(struct exec *e, char *const argv[], struct fault *f)
{
	int report[2];
	struct dispositions before;
	*e = EXEC_NONE;
	if (!argv[0] || !argv[0][0]) {
		*e = (struct exec){.tty = -1, .ended = true, .status = STATUS_NOT_FOUND};
		return fault_set(f, -EINVAL, "no command was given: exec -- CMD [ARGUMENT...]");
	}
	if (pipe2(report, O_CLOEXEC) < 0)
		return fail(e, argv[0], errno, f);
	CLEANUP_CLOSE int read_end = report[0];
	if (getpid() != 1)
		prctl(PR_SET_CHILD_SUBREAPER, 1);
	change_dispositions(&before);
	e->tty = open_terminal();
	pid_t pid = fork();
	int err = errno;
	if (pid == 0)
		run_child(argv, e->tty, &before, report[1]);
	close(report[1]);
	if (pid < 0)
		return fail(e, argv[0], err, f);
	make_group(pid, e->tty);
	err = read_report(read_end);
	if (err) {
		waitpid(pid, NULL, 0);
		return fail(e, argv[0], err, f);
	}
	e->pid = pid;
	return 0;
}

/* ---- the loop ---- */

/* Only what the child has: in the background the terminal is the shell's. */
static void take_terminal_back(const struct exec *e)
{
	if (tcgetpgrp(e->tty) == e->pid)
		(void)tcsetpgrp(e->tty, getpgrp());
}

/* The shell waits for us, not for the child's group: it must see that the job has stopped. */
static void stop_with_child(struct exec *e)
{
	if (e->tty < 0 || getpid() == 1)
		return;
	take_terminal_back(e);
	kill(getpid(), SIGSTOP);
}

/* `fg` has made us the foreground group, `bg` has not. */
static void continue_child(struct exec *e)
{
	if (e->tty >= 0 && tcgetpgrp(e->tty) == getpgrp())
		(void)tcsetpgrp(e->tty, e->pid);
	if (e->tty >= 0)
		kill(-e->pid, SIGCONT);
	else
		kill(e->pid, SIGCONT);
}

static void pass_on(struct exec *e, const struct signalfd_siginfo *info)
{
	int signal = (int)info->ssi_signo;
	/* the terminal's own SIGHUP went to the foreground group as well */
	bool has_it = e->tty >= 0 && signal == SIGHUP && info->ssi_code == SI_KERNEL;
	if (e->pid == 0 || e->ended || has_it)
		return;
	if (signal == SIGCONT)
		continue_child(e);
	else if (info->ssi_code == SI_QUEUE)
		sigqueue(e->pid, signal, (union sigval){.sival_ptr = (void *)(uintptr_t)info->ssi_ptr});
	else
		kill(e->pid, signal);
}

static void child_changed(struct exec *e, int status)
{
	if (WIFSTOPPED(status)) {
		stop_with_child(e);
	} else if (WIFEXITED(status) || WIFSIGNALED(status)) {
		e->ended = true;
		e->status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
		exec_release(e);
	}
}

/* One SIGCHLD can stand for many. The pid is free as soon as it is reaped: nothing is sent to it from then on. */
static void reap(struct exec *e)
{
	int status;
	pid_t pid;
	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED)) > 0) {
		if (pid == e->pid && !e->ended)
			child_changed(e, status);
		else if (!WIFSTOPPED(status))
			e->orphans++;
	}
}

bool exec_on_signal(struct exec *e, const struct signalfd_siginfo *info)
{
	if (info->ssi_signo == SIGCHLD) {
		reap(e);
		return true;
	}
	if (!is_passed_on((int)info->ssi_signo))
		return false;
	pass_on(e, info);
	return true;
}

int exec_status(const struct exec *e)
{
	return e->status;
}

void exec_release(struct exec *e)
{
	if (e->tty < 0)
		return;
	take_terminal_back(e);
	close(e->tty);
	e->tty = -1;
}
