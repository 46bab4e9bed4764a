/* ns: runs a command the way a container runs: in its own cgroup and mount namespace, with a fresh cgroup2 on
 * /sys/fs/cgroup, optionally as another user without capabilities. For the guest of tests/vm; needs root.
 *
 *   ns [OPTIONS] [--] COMMAND [ARGUMENT...]
 *
 *   --cgroup DIR      join this cgroup first: it becomes the root of the new cgroup namespace
 *   --keep-cgroupns   stay in the caller's cgroup namespace (as docker --cgroupns=host does)
 *   --rw              mount cgroup2 writable (default: read-only, as in containers)
 *   --pid             new PID namespace with its own /proc; without it the PID namespace is shared with the caller
 *   --uid N --gid N   become this user and group, no supplementary groups
 *   --drop-caps       empty all capability sets, the bounding set too
 *   --no-new-privs    set no_new_privs
 *   --timeout S       SIGALRM ends the command after S seconds (an alarm survives exec: no watcher process is needed)
 *   --plain           no namespaces at all, only the other options
 *
 * The status is that of the command (128 + signal), 125 for a fault of ns itself, 127 when the command cannot be run.
 * Without --pid, ns becomes the command: the pid that the caller knows is the command's.
 */
#include <errno.h>
#include <fcntl.h>
#include <getopt.h>
#include <grp.h>
#include <linux/capability.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#define MOUNT_POINT "/sys/fs/cgroup"

struct options {
	const char *cgroup;
	bool keep_cgroupns, rw, pid, drop_caps, no_new_privs, plain;
	long uid, gid;    /* -1: unchanged */
	unsigned timeout; /* seconds, 0: none */
};

__attribute__((noreturn, format(printf, 1, 2))) static void die(const char *format, ...)
{
	int err = errno;
	va_list args;

	fputs("ns: ", stderr);
	va_start(args, format);
	vfprintf(stderr, format, args);
	va_end(args);
	fprintf(stderr, ": %s\n", strerror(err));
	exit(125);
}

static long number(const char *text)
{
	char *end;
	long value;

	errno = 0;
	value = strtol(text, &end, 10);
	if (errno || end == text || *end || value < 0 || value > 0x7fffffff) {
		errno = EINVAL;
		die("%s", text);
	}
	return value;
}

static void join_cgroup(const char *dir)
{
	char path[4096];
	int fd;

	snprintf(path, sizeof path, "%s/cgroup.procs", dir);
	fd = open(path, O_WRONLY | O_CLOEXEC);
	if (fd < 0 || write(fd, "0", 1) != 1)
		die("%s", path);
	close(fd);
}

/* The old mount is taken away, not covered: a container does not see it either. */
static void mount_cgroup2(bool rw)
{
	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL))
		die("making mounts private");
	if (umount2(MOUNT_POINT, MNT_DETACH) && errno != EINVAL)
		die("umount " MOUNT_POINT);
	if (mount("cgroup", MOUNT_POINT, "cgroup2",
		  MS_NOSUID | MS_NODEV | MS_NOEXEC | MS_RELATIME | (rw ? 0 : MS_RDONLY), NULL))
		die("mounting cgroup2");
}

static void drop_capabilities(void)
{
	struct __user_cap_header_struct header = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct none[2] = {{0}, {0}};

	if (syscall(SYS_capset, &header, none))
		die("capset");
}

/* The bounding set goes first: dropping from it needs a capability. */
static void become(const struct options *o)
{
	if (o->drop_caps)
		for (int cap = 0; prctl(PR_CAPBSET_READ, cap, 0, 0, 0) >= 0; cap++)
			if (prctl(PR_CAPBSET_DROP, cap, 0, 0, 0))
				die("dropping capability %d", cap);
	if ((o->uid >= 0 || o->gid >= 0) && setgroups(0, NULL))
		die("setgroups");
	if (o->gid >= 0 && setresgid((gid_t)o->gid, (gid_t)o->gid, (gid_t)o->gid))
		die("setgid %ld", o->gid);
	if (o->uid >= 0 && setresuid((uid_t)o->uid, (uid_t)o->uid, (uid_t)o->uid))
		die("setuid %ld", o->uid);
	if (o->drop_caps)
		drop_capabilities();
	if (o->no_new_privs && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		die("no_new_privs");
}

/* Waits for the first process of the new PID namespace; TERM and INT are passed on as KILL, since PID 1 of a namespace
 * has no default actions. */
static pid_t child;

static void on_signal(int sig)
{
	(void)sig;
	kill(child, SIGKILL);
}

static int wait_for_child(void)
{
	struct sigaction action = {.sa_handler = on_signal};
	int status;

	sigaction(SIGTERM, &action, NULL);
	sigaction(SIGINT, &action, NULL);
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			die("waitpid");
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

/* In a new PID namespace the caller stays behind as the parent that waits. */
static void enter_namespaces(const struct options *o)
{
	if (unshare(CLONE_NEWNS | (o->keep_cgroupns ? 0 : CLONE_NEWCGROUP) | (o->pid ? CLONE_NEWPID : 0)))
		die("unshare");
	mount_cgroup2(o->rw);
	if (o->pid) {
		child = fork();
		if (child < 0)
			die("fork");
		if (child > 0)
			exit(wait_for_child());
		prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
		if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL))
			die("mounting /proc");
	}
}

int main(int argc, char **argv)
{
	struct options o = {.uid = -1, .gid = -1};
	static const struct option longs[] = {
		{"cgroup", required_argument, NULL, 'c'},
		{"keep-cgroupns", no_argument, NULL, 'k'},
		{"rw", no_argument, NULL, 'w'},
		{"pid", no_argument, NULL, 'p'},
		{"uid", required_argument, NULL, 'u'},
		{"gid", required_argument, NULL, 'g'},
		{"drop-caps", no_argument, NULL, 'd'},
		{"no-new-privs", no_argument, NULL, 'n'},
		{"timeout", required_argument, NULL, 't'},
		{"plain", no_argument, NULL, 'x'},
		{0},
	};
	int opt;

	while ((opt = getopt_long(argc, argv, "+", longs, NULL)) != -1)
		switch (opt) {
		case 'c':
			o.cgroup = optarg;
			break;
		case 'k':
			o.keep_cgroupns = true;
			break;
		case 'w':
			o.rw = true;
			break;
		case 'p':
			o.pid = true;
			break;
		case 'u':
			o.uid = number(optarg);
			break;
		case 'g':
			o.gid = number(optarg);
			break;
		case 'd':
			o.drop_caps = true;
			break;
		case 'n':
			o.no_new_privs = true;
			break;
		case 't':
			o.timeout = (unsigned)number(optarg);
			break;
		case 'x':
			o.plain = true;
			break;
		default:
			return 125;
		}
	if (optind == argc) {
		fputs("ns: no command\n", stderr);
		return 125;
	}

	if (o.cgroup)
		join_cgroup(o.cgroup);
	if (!o.plain)
		enter_namespaces(&o);
	become(&o);
	alarm(o.timeout);
	execvp(argv[optind], argv + optind);
	fprintf(stderr, "ns: %s: %s\n", argv[optind], strerror(errno));
	return 127;
}
