#include "child.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

/* What the child writes into the pipe when it fails before exec. */
struct start_error {
	int err;
	int stage; /* enum stage */
	int which; /* index into cgroup_procs */
};

enum stage { STAGE_FDS, STAGE_CGROUP, STAGE_EXEC };

static int use_fd(int fd, int as)
{
	CLEANUP_CLOSE int null = -1;
	if (fd == CHILD_INHERIT)
		return 0;
	if (fd == CHILD_NULL) {
		null = open("/dev/null", O_RDWR | O_CLOEXEC);
		fd = null;
	}
	if (fd == as) {
		null = -1;
		int flags = fcntl(fd, F_GETFD);
		return flags < 0 ? -1 : fcntl(fd, F_SETFD, flags & ~FD_CLOEXEC);
	}
	return fd < 0 ? -1 : dup2(fd, as) < 0 ? -1 : 0;
}

static int join_cgroup(const char *procs)
{
	CLEANUP_CLOSE int fd = open(procs, O_WRONLY | O_CLOEXEC);
	/* "0" means the writing process itself, in v1 and v2 */
	return fd >= 0 && write(fd, "0", 1) == 1 ? 0 : -1;
}

static void reset_signals(void)
{
	static const unsigned long by_default[8]; /* the kernel's struct sigaction, which is smaller: SIG_DFL */
	sigset_t none;
	sigemptyset(&none);
	/* by the system call: glibc keeps 32 and 33 to itself, and whatever posix_spawn() starts has them ignored (make
	 * does) */
	for (int s = 1; s < NSIG; s++)
		if (s != SIGKILL && s != SIGSTOP)
			syscall(SYS_rt_sigaction, s, by_default, NULL, _NSIG / 8);
	sigprocmask(SIG_SETMASK, &none, NULL);
}

static void add_environment(const char *const *extra)
{
	for (; extra && *extra; extra++)
		putenv((char *)(uintptr_t)*extra);
}

static _Noreturn void run_child(const struct child_spec *spec, pid_t parent, int report_fd)
{
	struct start_error e = {.stage = STAGE_FDS};
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(127);
	reset_signals();
	if (use_fd(spec->stdin_fd, STDIN_FILENO) < 0 || use_fd(spec->stdout_fd, STDOUT_FILENO) < 0 ||
	    use_fd(spec->stderr_fd, STDERR_FILENO) < 0)
		goto failed;
	e.stage = STAGE_CGROUP;
	for (; spec->cgroup_procs && spec->cgroup_procs[e.which]; e.which++)
		if (join_cgroup(spec->cgroup_procs[e.which]) < 0)
			goto failed;
	errno = 0;
	if (spec->nice_add && nice(spec->nice_add) < 0 && errno)
		errno = 0; /* a preference, not a condition */
	add_environment(spec->extra_env);
	e.stage = STAGE_EXEC;
	execvp(spec->argv[0], (char *const *)(uintptr_t)spec->argv);
failed:
	e.err = errno;
	/* the parent treats a short or missing report as "started", and then sees status 127 */
	if (write(report_fd, &e, sizeof e) < 0)
		_exit(126);
	_exit(127);
}

static int start_failed(struct child *c, const struct child_spec *spec, const struct start_error *e, struct fault *f)
{
	child_wait(c, -1);
	close(c->pidfd);
	*c = CHILD_NONE;
	switch (e->stage) {
	case STAGE_CGROUP:
		return fault_set(f, e->err, "cannot put %s into its cgroup through %s", spec->argv[0],
				 spec->cgroup_procs[e->which]);
	case STAGE_EXEC:
		return fault_set(f, e->err, "cannot run %s", spec->argv[0]);
	default:
		return fault_set(f, e->err, "cannot set up the descriptors of %s", spec->argv[0]);
	}
}

int child_start(struct child *c, const struct child_spec *spec, struct fault *f)
{
	int report[2];
	struct start_error e;
	*c = CHILD_NONE;
	if (pipe2(report, O_CLOEXEC) < 0)
		return fault_set(f, errno, "cannot start %s", spec->argv[0]);
	CLEANUP_CLOSE int read_end = report[0];
	/* a parent without descriptors 0 to 2 gets the pipe there, where the child's own go */
	CLEANUP_CLOSE int write_end = fcntl(report[1], F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
	close(report[1]);
	if (write_end < 0)
		return fault_set(f, errno, "cannot start %s", spec->argv[0]);
	pid_t parent = getpid();
	pid_t pid = fork();
	if (pid == 0)
		run_child(spec, parent, write_end);
	int fork_errno = errno;
	close(TAKE_FD(write_end));
	if (pid < 0)
		return fault_set(f, fork_errno, "cannot start %s", spec->argv[0]);
	c->pid = pid;
	/* our own child cannot be reaped by anybody else, so the pid is still its own */
	c->pidfd = pidfd_open(pid, 0);
	if (c->pidfd < 0) {
		int err = errno;
		kill(pid, SIGKILL);
		waitpid(pid, NULL, 0);
		*c = CHILD_NONE;
		return fault_set(f, err, "cannot track %s by pidfd (needs Linux 5.3)", spec->argv[0]);
	}
	ssize_t got;
	while ((got = read(read_end, &e, sizeof e)) < 0 && errno == EINTR)
		continue;
	return got == (ssize_t)sizeof e ? start_failed(c, spec, &e, f) : 0;
}

int child_signal(const struct child *c, int signal)
{
	if (c->pidfd < 0 || c->reaped)
		return 0;
	return pidfd_send_signal(c->pidfd, signal, NULL, 0) == 0 || errno == ESRCH ? 0 : -errno;
}

/* At most an hour at a time: int holds 24 days of milliseconds. */
static int poll_ms(int64_t deadline_ns)
{
	const int64_t longest_ms = 3600 * 1000;
	if (deadline_ns < 0)
		return -1;
	int64_t left_ms = (deadline_ns - clock_mono_ns() + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC;
	return (int)(left_ms < 0 ? 0 : left_ms > longest_ms ? longest_ms : left_ms);
}

int child_wait(struct child *c, int64_t timeout_ns)
{
	siginfo_t info = {0};
	if (c->pidfd < 0 || c->reaped)
		return 0;
	int64_t deadline_ns = timeout_ns < 0 ? -1 : clock_mono_ns() + timeout_ns;
	struct pollfd p = {.fd = c->pidfd, .events = POLLIN};
	int ready;
	do {
		ready = poll(&p, 1, poll_ms(deadline_ns));
		if (ready == 0 && clock_mono_ns() >= deadline_ns)
			return -ETIMEDOUT;
	} while (ready == 0 || (ready < 0 && errno == EINTR));
	while (waitid(P_PIDFD, (id_t)c->pidfd, &info, WEXITED) < 0)
		if (errno != EINTR)
			return -errno;
	c->status = info.si_code == CLD_EXITED ? info.si_status : 128 + info.si_status;
	c->reaped = true;
	return 0;
}

int child_end(struct child *c, int64_t grace_ns, struct fault *f)
{
	const int64_t kill_wait_ns = 5 * NSEC_PER_SEC;
	if (c->pidfd < 0)
		return 0;
	child_signal(c, SIGTERM);
	/* a stopped process takes SIGTERM only when it goes on */
	child_signal(c, SIGCONT);
	if (child_wait(c, grace_ns) < 0) {
		child_signal(c, SIGKILL);
		if (child_wait(c, kill_wait_ns) < 0)
			return fault_set(f, -EBUSY, "process %d did not end within 5 s of SIGKILL", (int)c->pid);
	}
	/* ESRCH is the proof; the pid could be in use again only after a full turn of the pid counter */
	bool gone = pidfd_send_signal(c->pidfd, 0, NULL, 0) < 0 && errno == ESRCH;
	close(c->pidfd);
	c->pidfd = -1;
	c->pid = 0;
	return gone ? 0 : fault_set(f, -EBUSY, "an ended process is still there");
}

int child_exit_code(const struct child *c)
{
	return c->status;
}
