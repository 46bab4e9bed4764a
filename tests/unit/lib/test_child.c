/* Children: started, tracked, ended and proved gone. */
#include "tests/unit/check.h"

#include "child.h"
#include "clock.h"

#include <poll.h>
#include <signal.h>
#include <sys/wait.h>

#define ARGV(...) ((const char *const[]){__VA_ARGS__, NULL})

static struct child_spec spec_of(const char *const *argv)
{
	return (struct child_spec){
		.argv = argv, .stdin_fd = CHILD_NULL, .stdout_fd = CHILD_INHERIT, .stderr_fd = CHILD_INHERIT};
}

/* No child at all is left behind, reaped or not. */
static int no_child_left(void **state)
{
	(void)state;
	return waitpid(-1, NULL, WNOHANG) == -1 && errno == ECHILD ? 0 : -1;
}

static void test_exit_codes(void **state)
{
	(void)state;
	static const struct {
		const char *script;
		int code;
	} cases[] = {{"exit 0", 0}, {"exit 7", 7}, {"exit 255", 255}, {"kill -TERM $$", 143}, {"kill -KILL $$", 137}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct child c;
		struct child_spec spec = spec_of(ARGV("sh", "-c", cases[i].script));
		assert_int_equal(child_start(&c, &spec, NULL), 0);
		assert_true(c.pid > 0 && c.pidfd >= 0);
		assert_int_equal(child_wait(&c, 10 * NSEC_PER_SEC), 0);
		assert_true(c.reaped);
		assert_case(child_exit_code(&c) == cases[i].code, cases[i].script);
		/* all of these are harmless now */
		assert_int_equal(child_wait(&c, 0), 0);
		assert_int_equal(child_signal(&c, SIGKILL), 0);
		assert_int_equal(child_end(&c, 0, NULL), 0);
		assert_int_equal(c.pid, 0);
		assert_int_equal(c.pidfd, -1);
		assert_int_equal(child_end(&c, 0, NULL), 0);
	}
}

static void test_never_started(void **state)
{
	(void)state;
	struct child c = CHILD_NONE;
	assert_int_equal(child_end(&c, NSEC_PER_SEC, NULL), 0);
	assert_int_equal(child_wait(&c, NSEC_PER_SEC), 0);
	assert_int_equal(child_signal(&c, SIGTERM), 0);
}

static void test_exec_failures(void **state)
{
	(void)state;
	char folder[64];
	char path[128];
	folder_make(folder);
	file_write(folder, "no-program", "junk\n");
	snprintf(path, sizeof path, "%s/no-program", folder);
	const struct {
		const char *program;
		int err;
	} cases[] = {
		{"/nonexistent/program", ENOENT}, {"no-such-program-anywhere", ENOENT}, {path, EACCES}, {"/", EACCES}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct child c;
		struct fault f = {0};
		struct child_spec spec = spec_of(ARGV(cases[i].program));
		assert_case(child_start(&c, &spec, &f) == -cases[i].err, cases[i].program);
		assert_int_equal(f.err, cases[i].err);
		assert_non_null(strstr(f.text, "cannot run"));
		assert_int_equal(c.pidfd, -1);
		assert_int_equal(no_child_left(NULL), 0);
	}
	folder_remove(folder);
}

static void test_descriptor_failure(void **state)
{
	(void)state;
	struct child c;
	struct fault f = {0};
	struct child_spec spec = spec_of(ARGV("true"));
	spec.stdout_fd = 9999;
	assert_fault(child_start(&c, &spec, &f), &f, EBADF);
	assert_int_equal(no_child_left(NULL), 0);
}

static void test_timeout(void **state)
{
	(void)state;
	struct child c;
	struct child_spec spec = spec_of(ARGV("sleep", "1000"));
	assert_int_equal(child_start(&c, &spec, NULL), 0);
	pid_t pid = c.pid;
	int64_t start = clock_mono_ns();
	assert_int_equal(child_wait(&c, 0), -ETIMEDOUT);
	assert_int_equal(child_wait(&c, 50 * NSEC_PER_MSEC), -ETIMEDOUT);
	assert_true(clock_mono_ns() - start >= 50 * NSEC_PER_MSEC);
	assert_false(c.reaped);
	assert_int_equal(child_end(&c, 10 * NSEC_PER_SEC, NULL), 0);
	assert_int_equal(child_exit_code(&c), 128 + SIGTERM);
	assert_int_equal(kill(pid, 0), -1);
	assert_int_equal(errno, ESRCH);
}

/* A timeout of weeks must not become a negative number of milliseconds, nor a short one. */
static void test_long_timeout(void **state)
{
	(void)state;
	struct child c;
	struct child_spec spec = spec_of(ARGV("sh", "-c", "sleep 0.1; exit 3"));
	assert_int_equal(child_start(&c, &spec, NULL), 0);
	assert_int_equal(child_wait(&c, INT64_C(10000) * 3600 * NSEC_PER_SEC), 0);
	assert_int_equal(child_exit_code(&c), 3);
	assert_int_equal(child_end(&c, 0, NULL), 0);
}

static void wait_for_line(int fd)
{
	char c;
	struct pollfd p = {.fd = fd, .events = POLLIN};
	assert_int_equal(poll(&p, 1, 10000), 1);
	assert_int_equal(read(fd, &c, 1), 1);
}

/* Starts a shell script that says when it is ready, by writing a line. */
static void start_script(struct child *c, const char *script)
{
	int ends[2];
	struct child_spec spec = spec_of(ARGV("sh", "-c", script));
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	spec.stdout_fd = ends[1];
	assert_int_equal(child_start(c, &spec, NULL), 0);
	close(ends[1]);
	wait_for_line(ends[0]);
	close(ends[0]);
}

static void test_term_is_ignored(void **state)
{
	(void)state;
	struct child c;
	start_script(&c, "trap '' TERM; echo; exec sleep 1000");
	assert_int_equal(child_end(&c, 50 * NSEC_PER_MSEC, NULL), 0);
	assert_int_equal(child_exit_code(&c), 128 + SIGKILL);
}

static void test_term_is_handled(void **state)
{
	(void)state;
	struct child c;
	start_script(&c, "trap 'exit 5' TERM; echo; while :; do sleep 0.01; done");
	assert_int_equal(child_end(&c, 10 * NSEC_PER_SEC, NULL), 0);
	assert_int_equal(child_exit_code(&c), 5);
}

static void test_stopped_child(void **state)
{
	(void)state;
	struct child c;
	start_script(&c, "echo; exec sleep 1000");
	assert_int_equal(child_signal(&c, SIGSTOP), 0);
	assert_int_equal(child_wait(&c, 50 * NSEC_PER_MSEC), -ETIMEDOUT);
	int64_t start = clock_mono_ns();
	assert_int_equal(child_end(&c, 30 * NSEC_PER_SEC, NULL), 0);
	/* without SIGCONT it would take the whole grace */
	assert_true(clock_mono_ns() - start < 20 * NSEC_PER_SEC);
	assert_int_equal(child_exit_code(&c), 128 + SIGTERM);
}

/* What a child prints, up to 255 bytes, trimmed of its last newline. */
static void output_of(struct child_spec *spec, char out[256])
{
	int ends[2];
	struct child c;
	size_t used = 0;
	ssize_t got;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	spec->stdout_fd = ends[1];
	assert_int_equal(child_start(&c, spec, NULL), 0);
	close(ends[1]);
	while (used < 255 && (got = read(ends[0], out + used, 255 - used)) > 0)
		used += (size_t)got;
	close(ends[0]);
	out[used] = '\0';
	out[strcspn(out, "\n")] = '\0';
	assert_int_equal(child_wait(&c, 10 * NSEC_PER_SEC), 0);
	assert_int_equal(child_end(&c, 0, NULL), 0);
}

static void test_environment_and_nice(void **state)
{
	(void)state;
	char out[256];
	struct child_spec spec = spec_of(ARGV("sh", "-c", "echo \"$HEADROOM_X $HOME $(nice)\""));
	spec.extra_env = ARGV("HEADROOM_X=new", "HOME=changed");
	spec.nice_add = 5;
	output_of(&spec, out);
	assert_memory_equal(out, "new changed ", 12);
	/* not in the parent */
	assert_null(getenv("HEADROOM_X"));
	if (out[12]) /* a system without the nice program prints nothing there */
		assert_true(strtol(out + 12, NULL, 10) >= 5);
}

static void test_null_stdin(void **state)
{
	(void)state;
	char out[256];
	struct child_spec spec = spec_of(ARGV("sh", "-c", "if read x; then echo line; else echo end; fi"));
	output_of(&spec, out);
	assert_string_equal(out, "end");
}

/* A parent that was itself started without descriptors 0 to 2. */
static void test_closed_descriptors(void **state)
{
	(void)state;
	int status = 0;
	pid_t pid = fork();
	if (pid == 0) {
		struct child c;
		struct child_spec spec = spec_of(ARGV("sh", "-c", "read x <&0; [ $? = 1 ] && exit 6; exit 1"));
		struct child_spec bad = spec_of(ARGV("/nonexistent/program"));
		close(0);
		close(1);
		spec.stdout_fd = bad.stdout_fd = CHILD_NULL;
		if (child_start(&c, &spec, NULL) < 0 || child_wait(&c, 10 * NSEC_PER_SEC) < 0)
			_exit(20);
		int code = child_exit_code(&c);
		child_end(&c, 0, NULL);
		/* and the reason of a failure still comes through */
		if (child_start(&c, &bad, NULL) != -ENOENT)
			_exit(21);
		_exit(code);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 6);
}

static void test_signals_are_fresh(void **state)
{
	(void)state;
	char out[256];
	char copy[64];
	sigset_t all;
	sigset_t old;
	sigfillset(&all);
	sigprocmask(SIG_BLOCK, &all, &old);
	signal(SIGPIPE, SIG_IGN);
	struct child_spec spec = spec_of(ARGV("sh", "-c", "grep -E 'Sig(Blk|Ign)' /proc/self/status | tr -d '\\n\\t'"));
	output_of(&spec, out);
	signal(SIGPIPE, SIG_DFL);
	sigprocmask(SIG_SETMASK, &old, NULL);
	snprintf(copy, sizeof copy, "%s", "SigBlk:0000000000000000SigIgn:0000000000000000");
	assert_string_equal(out, copy);
}

/* The child joins each of the files by writing "0" before it runs; one that cannot be joined is a fault. */
static void test_cgroup_procs(void **state)
{
	(void)state;
	char folder[64];
	char first[128];
	char second[128];
	char text[8] = "";
	struct child c;
	struct fault f = {0};
	folder_make(folder);
	file_write(folder, "cgroup.procs", "");
	snprintf(first, sizeof first, "%s/cgroup.procs", folder);
	snprintf(second, sizeof second, "%s/none/cgroup.procs", folder);
	struct child_spec spec = spec_of(ARGV("true"));
	spec.cgroup_procs = ARGV(first);
	assert_int_equal(child_start(&c, &spec, NULL), 0);
	assert_int_equal(child_wait(&c, 10 * NSEC_PER_SEC), 0);
	assert_int_equal(child_end(&c, 0, NULL), 0);
	CLEANUP_CLOSE int fd = open(first, O_RDONLY);
	assert_int_equal(read(fd, text, sizeof text), 1);
	assert_string_equal(text, "0");
	spec.cgroup_procs = ARGV(first, second);
	assert_fault(child_start(&c, &spec, &f), &f, ENOENT);
	assert_non_null(strstr(f.text, second));
	assert_int_equal(c.pidfd, -1);
	folder_remove(folder);
}

/* SIGKILL of the parent leaves nothing behind. */
static void test_parent_dies(void **state)
{
	(void)state;
	int ends[2];
	pid_t grandchild = 0;
	assert_int_equal(pipe2(ends, O_CLOEXEC), 0);
	pid_t pid = fork();
	if (pid == 0) {
		struct child c;
		struct child_spec spec = spec_of(ARGV("sleep", "1000"));
		if (child_start(&c, &spec, NULL) < 0 || write(ends[1], &c.pid, sizeof c.pid) != sizeof c.pid)
			_exit(1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ends[0], &grandchild, sizeof grandchild), sizeof grandchild);
	assert_true(grandchild > 0);
	assert_int_equal(kill(grandchild, 0), 0);
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
	/* it is not ours to reap: gone, or a zombie of whoever adopts it */
	int64_t deadline = clock_mono_ns() + 10 * NSEC_PER_SEC;
	char path[64];
	char state_line[8] = "";
	snprintf(path, sizeof path, "/proc/%d/stat", (int)grandchild);
	for (;;) {
		CLEANUP_FCLOSE FILE *stat = fopen(path, "re");
		if (!stat || (fscanf(stat, "%*d (%*[^)]) %1s", state_line) == 1 && state_line[0] == 'Z'))
			break;
		assert_true(clock_mono_ns() < deadline);
		clock_sleep_until_ns(clock_mono_ns() + 5 * NSEC_PER_MSEC, NULL);
	}
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_teardown(test_exit_codes, no_child_left),
		cmocka_unit_test_teardown(test_never_started, no_child_left),
		cmocka_unit_test_teardown(test_exec_failures, no_child_left),
		cmocka_unit_test_teardown(test_descriptor_failure, no_child_left),
		cmocka_unit_test_teardown(test_timeout, no_child_left),
		cmocka_unit_test_teardown(test_long_timeout, no_child_left),
		cmocka_unit_test_teardown(test_term_is_ignored, no_child_left),
		cmocka_unit_test_teardown(test_term_is_handled, no_child_left),
		cmocka_unit_test_teardown(test_stopped_child, no_child_left),
		cmocka_unit_test_teardown(test_environment_and_nice, no_child_left),
		cmocka_unit_test_teardown(test_null_stdin, no_child_left),
		cmocka_unit_test_teardown(test_closed_descriptors, no_child_left),
		cmocka_unit_test_teardown(test_signals_are_fresh, no_child_left),
		cmocka_unit_test_teardown(test_cgroup_procs, no_child_left),
		cmocka_unit_test_teardown(test_parent_dies, no_child_left),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
