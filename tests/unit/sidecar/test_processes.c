/* Run-queue wait: on recorded files that are changed between two readings, and on real processes of this host. */
#include "tests/unit/check.h"

#include "clock.h"
#include "sidecar/processes.h"

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>

static char folder[64];
static struct processes p;

static int setup(void **state)
{
	(void)state;
	folder_make(folder);
	file_write(folder, "proc/self/cgroup", "0::/\n");
	p = PROCESSES_CLOSED;
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	processes_close(&p);
	folder_remove(folder);
	return 0;
}

static void open_at(const char *root, unsigned max)
{
	struct fault f = {0};
	CLEANUP_TREE struct tree t = TREE_CLOSED;
	assert_int_equal(tree_open(&t, root, &f), 0);
	assert_int_equal(processes_open(&p, &t, max, &f), 0);
}

static void set_thread(int pid, int tid, const char *schedstat)
{
	char path[64];
	snprintf(path, sizeof path, "proc/%d/task/%d/schedstat", pid, tid);
	file_write(folder, path, schedstat);
}

static struct runqueue read_now(void)
{
	struct runqueue r;
	processes_read(&p, &r);
	return r;
}

/* ---- recorded
 * ---------------------------------------------------------------------------------------------------------- */

static void test_differences(void **state)
{
	(void)state;
	static const int32_t pids[] = {7, 9};
	set_thread(7, 7, "1000 500 3\n");
	set_thread(7, 8, "0 0 0\n");
	set_thread(9, 9, "70 80 1\n");
	open_at(folder, 0);
	assert_int_equal(read_now().state, RUNQUEUE_NONE);
	processes_refresh(&p, pids, 2, 2);
	struct runqueue r = read_now();
	/* what was before the first sight does not count */
	assert_int_equal(r.state, RUNQUEUE_OK);
	assert_int_equal(r.run_ns, 0);
	assert_int_equal(r.wait_ns, 0);
	assert_int_equal(r.threads, 3);
	assert_int_equal(r.threads_read, 3);
	assert_int_equal(r.processes, 2);
	assert_false(r.partial);
	assert_true(r.mono_ns > 0);
	set_thread(7, 7, "1100 700 4\n");
	set_thread(7, 8, "5 7 1\n");
	set_thread(9, 9, "71 80 2\n");
	r = read_now();
	assert_int_equal(r.run_ns, 100 + 5 + 1);
	assert_int_equal(r.wait_ns, 200 + 7);
}

static void test_threads_start_and_end(void **state)
{
	(void)state;
	static const int32_t pids[] = {7, 9};
	set_thread(7, 7, "1000 500 3\n");
	open_at(folder, 0);
	processes_refresh(&p, pids, 1, 1);
	set_thread(7, 7, "1001 501 3\n");
	/* a new thread brings no past with it */
	set_thread(9, 9, "900000 900000 1\n");
	processes_refresh(&p, pids, 2, 2);
	struct runqueue r = read_now();
	assert_int_equal(r.run_ns, 1);
	assert_int_equal(r.wait_ns, 1);
	/* one that ends takes nothing away */
	processes_refresh(&p, pids + 1, 1, 1);
	set_thread(9, 9, "900010 900020 1\n");
	r = read_now();
	assert_int_equal(r.threads_read, 1);
	assert_int_equal(r.run_ns, 11);
	assert_int_equal(r.wait_ns, 21);
	/* nobody is left */
	processes_refresh(&p, NULL, 0, 0);
	r = read_now();
	assert_int_equal(r.state, RUNQUEUE_NONE);
	assert_int_equal(r.run_ns, 11);
	assert_int_equal(r.threads_read, 0);
}

static void test_broken_files(void **state)
{
	(void)state;
	static const char *const cases[] = {"", "x", "1 2", "-1 -2 -3\n", "99999999999999999999999 1 1\n"};
	static const int32_t pids[] = {7};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		set_thread(7, 7, cases[i]);
		open_at(folder, 0);
		processes_refresh(&p, pids, 1, 1);
		struct runqueue r = read_now();
		assert_case(r.threads_read == 0 && r.threads == 1, cases[i]);
		assert_case(r.run_ns == 0 && r.wait_ns == 0, cases[i]);
		processes_close(&p);
	}
}

static void test_steps_back_and_off(void **state)
{
	(void)state;
	static const int32_t pids[] = {7};
	set_thread(7, 7, "1000 500 3\n");
	open_at(folder, 0);
	processes_refresh(&p, pids, 1, 1);
	set_thread(7, 7, "10 5 3\n");
	struct runqueue r = read_now();
	assert_int_equal(r.run_ns, 0);
	assert_int_equal(r.wait_ns, 0);
	set_thread(7, 7, "12 6 3\n");
	assert_int_equal(read_now().run_ns, 2);
	processes_close(&p);
	/* a kernel that counts nothing shows zeros */
	set_thread(7, 7, "0 0 0\n");
	open_at(folder, 0);
	processes_refresh(&p, pids, 1, 1);
	assert_int_equal(read_now().state, RUNQUEUE_OFF);
}

static void test_bounds(void **state)
{
	(void)state;
	static const int32_t pids[] = {7};
	for (int tid = 7; tid < 17; tid++)
		set_thread(7, tid, "1 1 1\n");
	open_at(folder, 4);
	processes_refresh(&p, pids, 1, 1);
	struct runqueue r = read_now();
	assert_int_equal(r.threads_read, 4);
	assert_int_equal(r.threads, 10);
	assert_true(r.partial);
	/* the same four are read again, no descriptor more is used */
	processes_refresh(&p, pids, 1, 1);
	assert_int_equal(read_now().threads_read, 4);
	processes_close(&p);
	/* a list of processes that was cut */
	open_at(folder, 0);
	processes_refresh(&p, pids, 1, 300);
	r = read_now();
	assert_int_equal(r.processes, 300);
	assert_int_equal(r.threads_read, 10);
	assert_true(r.partial);
}

static void test_forget_keeps_totals(void **state)
{
	(void)state;
	static const int32_t pids[] = {7};
	set_thread(7, 7, "1 1 1\n");
	open_at(folder, 0);
	processes_refresh(&p, pids, 1, 1);
	set_thread(7, 7, "4 6 1\n");
	assert_int_equal(read_now().run_ns, 3);
	processes_forget(&p);
	struct runqueue r = read_now();
	assert_int_equal(r.state, RUNQUEUE_NONE);
	assert_int_equal(r.run_ns, 3);
	assert_int_equal(r.wait_ns, 5);
}

/* ---- cgroup.procs
 * ------------------------------------------------------------------------------------------------------ */

static void recorded_target(struct cgroup_target *target)
{
	struct fault f = {0};
	*target = CGROUP_TARGET_NONE;
	assert_int_equal(tree_open(&target->tree, folder, &f), 0);
	assert_int_equal(cgroup_place_make(&target->cpu, HIERARCHY_V2, "/", "/sys/fs/cgroup", "/app"), 0);
}

static void test_cgroup(void **state)
{
	(void)state;
	struct fault f = {0};
	CLEANUP_CGROUP_TARGET struct cgroup_target target = CGROUP_TARGET_NONE;
	char path[128];
	recorded_target(&target);
	snprintf(path, sizeof path, "%s/proc/self", folder);
	char file[160];
	snprintf(file, sizeof file, "%s/cgroup", path);
	unlink(file);
	rmdir(path);
	assert_int_equal(symlink("25", path), 0);
	for (int pid = 7; pid < 30; pid++)
		set_thread(pid, pid, "1 1 1\n");
	/* 0: of another PID namespace; 25: we ourselves; 99: has ended; the rest is no pid */
	file_write(folder, "sys/fs/cgroup/app/cgroup.procs", "7\n0\n0\n25\n99\n99999999999\n-8\nx\n9");
	file_write(folder, "sys/fs/cgroup/app/container/cgroup.procs", "10\n");
	file_write(folder, "sys/fs/cgroup/app/container/a/b/c/d/cgroup.procs", "11\n");
	file_write(folder, "sys/fs/cgroup/app/container/a/b/cgroup.procs", "12\n");
	file_write(folder, "sys/fs/cgroup/other/cgroup.procs", "13\n");
	open_at(folder, 0);
	assert_int_equal(processes_refresh_cgroup(&p, &target, &f), 0);
	/* 7, 8 (as 1-line text "-8"), 10, 12; the last line is whole only with its newline */
	struct runqueue r = read_now();
	assert_int_equal(r.state, RUNQUEUE_OK);
	assert_int_equal(r.processes, 4);
	assert_int_equal(r.threads_read, 4);
}

static void test_cgroup_that_is_gone(void **state)
{
	(void)state;
	static const int32_t pids[] = {7};
	struct fault f = {0};
	CLEANUP_CGROUP_TARGET struct cgroup_target target = CGROUP_TARGET_NONE;
	recorded_target(&target);
	set_thread(7, 7, "1 1 1\n");
	open_at(folder, 0);
	processes_refresh(&p, pids, 1, 1);
	assert_fault(processes_refresh_cgroup(&p, &target, &f), &f, ENOENT);
	assert_int_equal(read_now().threads_read, 0);
	file_write(folder, "sys/fs/cgroup/app/cgroup.type", "threaded\n");
	assert_fault(processes_refresh_cgroup(&p, &target, &f), &f, ENOENT);
}

/* 100,000 pids: every one is counted, no more than a bound is looked into. */
static void test_cgroup_that_is_full(void **state)
{
	(void)state;
	enum { PIDS = 100000 };
	struct fault f = {0};
	CLEANUP_CGROUP_TARGET struct cgroup_target target = CGROUP_TARGET_NONE;
	static char text[PIDS * 8];
	size_t len = 0;
	for (int i = 1; i <= PIDS; i++)
		len += (size_t)snprintf(text + len, sizeof text - len, "%d\n", 100000 + i);
	recorded_target(&target);
	file_write_bytes(folder, "sys/fs/cgroup/app/cgroup.procs", text, len);
	open_at(folder, 0);
	int64_t began = clock_thread_cpu_ns();
	assert_int_equal(processes_refresh_cgroup(&p, &target, &f), 0);
	assert_true(clock_thread_cpu_ns() - began < NSEC_PER_SEC);
	struct runqueue r = read_now();
	assert_in_range(r.processes, PIDS - 1000, PIDS);
	assert_true(r.partial);
}

/* ---- real processes
 * ------------------------------------------------------------------------------------------------------ */

static void *spin(void *stop)
{
	while (!*(volatile int *)stop)
		continue;
	return NULL;
}

/* A child with some threads that only burn CPU; it is ended by end_child(). */
static pid_t start_child(int threads)
{
	pid_t pid = fork();
	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	static int never;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (int i = 0; i < threads - 1; i++) {
		pthread_t t;
		if (pthread_create(&t, NULL, spin, &never))
			_exit(1);
	}
	spin(&never);
	_exit(0);
}

static void end_child(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static void sleep_ms(int ms)
{
	clock_sleep_until_ns(clock_mono_ns() + ms * NSEC_PER_MSEC, NULL);
}

/* CPU time of a process by the other clock that the kernel has for it. */
static int64_t cpu_ns_of(pid_t pid)
{
	clockid_t clock;
	struct timespec t;
	assert_int_equal(clock_getcpuclockid(pid, &clock), 0);
	assert_int_equal(clock_gettime(clock, &t), 0);
	return t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

static void test_live_wait(void **state)
{
	(void)state;
	cpu_set_t one;
	cpu_set_t before;
	assert_int_equal(sched_getaffinity(0, sizeof before, &before), 0);
	CPU_ZERO(&one);
	for (size_t cpu = 0; cpu < CPU_SETSIZE && CPU_COUNT(&one) == 0; cpu++)
		if (CPU_ISSET(cpu, &before))
			CPU_SET(cpu, &one);
	assert_int_equal(sched_setaffinity(0, sizeof one, &one), 0);
	int32_t pid = start_child(4);
	assert_int_equal(sched_setaffinity(0, sizeof before, &before), 0);
	sleep_ms(100);
	open_at("/", 0);
	processes_refresh(&p, &pid, 1, 1);
	struct runqueue first = read_now();
	int64_t cpu_first = cpu_ns_of(pid);
	sleep_ms(400);
	struct runqueue last = read_now();
	int64_t cpu_last = cpu_ns_of(pid);
	end_child(pid);
	if (first.state == RUNQUEUE_OFF)
		skip();
	assert_int_equal(first.threads_read, 4);
	int64_t run = (int64_t)(last.run_ns - first.run_ns);
	int64_t wait = (int64_t)(last.wait_ns - first.wait_ns);
	int64_t wall = last.mono_ns - first.mono_ns;
	/* four threads on one CPU: in sum they run at most for the wall time and wait for three times as long, or
	 * longer */
	assert_true(run > 0 && run <= wall + 20 * NSEC_PER_MSEC);
	assert_true(wait > 3 * wall / 2 && wait < 4 * wall + 4 * 50 * NSEC_PER_MSEC);
	/* run time has two witnesses; the one of schedstat is brought up to date at each tick and switch only */
	assert_in_range(run, cpu_last - cpu_first - 60 * NSEC_PER_MSEC, cpu_last - cpu_first + 60 * NSEC_PER_MSEC);
}

/* What the kept descriptors belong to ends: ESRCH, whoever has the number then. */
static void test_live_end(void **state)
{
	(void)state;
	int32_t pid = start_child(3);
	sleep_ms(50);
	open_at("/", 0);
	processes_refresh(&p, &pid, 1, 1);
	struct runqueue r = read_now();
	assert_int_equal(r.threads_read, 3);
	end_child(pid);
	struct runqueue after = read_now();
	assert_int_equal(after.threads_read, 0);
	assert_true(after.run_ns >= r.run_ns);
	processes_refresh(&p, &pid, 1, 1);
	assert_int_equal(read_now().state, RUNQUEUE_NONE);
	assert_int_equal(p.n, 0);
}

static void test_live_no_descriptors(void **state)
{
	(void)state;
	int32_t pid = start_child(8);
	sleep_ms(50);
	open_at("/", 0);
	int fd = dup(0);
	close(fd);
	struct rlimit before;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	/* room for the folder and three threads at most */
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)fd + 4, before.rlim_max}), 0);
	processes_refresh(&p, &pid, 1, 1);
	struct runqueue r = read_now();
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	end_child(pid);
	assert_in_range(r.threads_read, 1, 3);
	assert_int_equal(r.threads, 8);
	assert_true(r.partial);
}

/* The promise of the header: 1 to 2.5 us a thread, here with room for an emulated one; and no descriptor is lost. */
static void test_live_cost(void **state)
{
	(void)state;
	enum { THREADS = 64, ROUNDS = 200 };
	int32_t pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		pthread_t t;
		for (int i = 1; i < THREADS; i++)
			pthread_create(&t, NULL, (void *(*)(void *))(void (*)(void))pause, NULL);
		pause();
		_exit(0);
	}
	open_at("/", 0);
	struct runqueue r = {0};
	for (int tries = 0; tries < 200 && r.threads < THREADS; tries++) {
		sleep_ms(50);
		processes_refresh(&p, &pid, 1, 1);
		r = read_now();
	}
	int fd = dup(0);
	close(fd);
	int64_t began = clock_thread_cpu_ns();
	for (int i = 0; i < ROUNDS; i++)
		r = read_now();
	int64_t each = (clock_thread_cpu_ns() - began) / (ROUNDS * THREADS);
	processes_refresh(&p, &pid, 1, 1);
	int fd_after = dup(0);
	close(fd_after);
	end_child(pid);
	print_message("%d ns of CPU for each thread and reading\n", (int)each);
	assert_int_equal(r.threads_read, THREADS);
	assert_true(each < 50000);
	assert_int_equal(fd_after, fd);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_differences, setup, teardown),
		cmocka_unit_test_setup_teardown(test_threads_start_and_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_broken_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_steps_back_and_off, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bounds, setup, teardown),
		cmocka_unit_test_setup_teardown(test_forget_keeps_totals, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cgroup, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cgroup_that_is_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cgroup_that_is_full, setup, teardown),
		cmocka_unit_test_setup_teardown(test_live_wait, setup, teardown),
		cmocka_unit_test_setup_teardown(test_live_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_live_no_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_live_cost, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
