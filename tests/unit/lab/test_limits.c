/* Which way of limiting is chosen, on made-up trees; names, quotas, and the command for systemd. What the kernel makes
 * of it is tried in tests/live and tests/vm. */
#include "tests/unit/check.h"

#include "lab/folder.h"
#include "lab/limit_way.h"

#include <sys/wait.h>

static const char mounts_v1[] = "31 23 0:28 / /sys/fs/cgroup rw - tmpfs tmpfs rw\n"
				"32 31 0:29 / /sys/fs/cgroup/cpu rw - cgroup cgroup rw,cpu\n"
				"33 31 0:30 / /sys/fs/cgroup/cpuacct rw - cgroup cgroup rw,cpuacct\n"
				"41 31 0:38 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw\n";
static const char mounts_v2[] = "41 31 0:38 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";

static const char of_v1[] = "9:cpu:/a\n8:cpuacct:/\n0::/a/b\n";
static const char of_v2[] = "0::/a/b\n";

struct tree_case {
	char folder[64];
	char *old_path;
};

/* A tree without any program on PATH: the ways that need one must fail. */
static void begin(struct tree_case *t, const char *mounts, const char *memberships)
{
	folder_make(t->folder);
	file_write(t->folder, "proc/self/mountinfo", mounts);
	file_write(t->folder, "proc/self/cgroup", memberships);
	t->old_path = strdup(getenv("PATH"));
	setenv("PATH", t->folder, 1);
}

static void end(struct tree_case *t)
{
	setenv("PATH", t->old_path, 1);
	free(t->old_path);
	folder_remove(t->folder);
}

static void make_dirs(const struct tree_case *t, const char *path)
{
	char file[256];
	snprintf(file, sizeof file, "%s/.keep", path);
	file_write(t->folder, file, "");
}

static void test_names(void **state)
{
	(void)state;
	assert_int_equal(limit_name_pid("headroom-123-1.2-burst-0.25"), 123);
	static const char *const others[] = {"headroom-",
					     "headroom-x-1",
					     "headroom-12",
					     "headroom-12-",
					     "headroom--1-x",
					     "headroom-0-x",
					     "Headroom-12-x",
					     "headroom-99999999999999999999-x",
					     "xheadroom-12-x",
					     "headroom-4294967298-x",
					     ""};
	for (size_t i = 0; i < ARRAY_LEN(others); i++)
		assert_case(limit_name_pid(others[i]) == 0, others[i]);
}

static void test_quota(void **state)
{
	(void)state;
	assert_int_equal(limit_quota(0.25).quota_usec, 25000);
	assert_int_equal(limit_quota(0.25).period_usec, 100000);
	assert_int_equal(limit_quota(0.29).quota_usec, 29000);
	assert_int_equal(limit_quota(1.5).quota_usec, 150000);
	assert_true(limit_quota(LIMIT_NO_CPUS).quota_usec == QUOTA_NONE);
}

static void test_out_of_range(void **state)
{
	(void)state;
	struct limiter l = {.way = LIMIT_SYSTEMD};
	struct limit_group g = {.limiter = &l};
	struct fault f = {0};
	assert_fault(limit_set(&g, 0.001, &f), &f, ERANGE);
	assert_fault(limit_set(&g, -1, &f), &f, ERANGE);
}

static void test_nothing_works(void **state)
{
	(void)state;
	struct tree_case t;
	struct limiter l;
	struct fault f = {0};
	begin(&t, mounts_v2, of_v2);
	make_dirs(&t, "sys/fs/cgroup/a/b");
	file_write(t.folder, "sys/fs/cgroup/cgroup.controllers", "cpuset memory\n");
	assert_fault(limiter_choose(&l, t.folder, LIMIT_WAYS, &f), &f, EOPNOTSUPP);
	assert_non_null(strstr(f.text, "v2: "));
	assert_non_null(strstr(f.text, "systemd: "));
	assert_non_null(strstr(f.text, "v1: "));
	assert_non_null(strstr(f.text, "root"));
	end(&t);
}

/* "cpuset" is not "cpu". */
static void test_v2_without_the_controller(void **state)
{
	(void)state;
	struct tree_case t;
	struct limiter l;
	struct fault f = {0};
	begin(&t, mounts_v2, of_v2);
	make_dirs(&t, "sys/fs/cgroup/a/b");
	static const char *const levels[] = {"", "a/", "a/b/"};
	for (size_t i = 0; i < ARRAY_LEN(levels); i++) {
		char path[128];
		snprintf(path, sizeof path, "sys/fs/cgroup/%scgroup.controllers", levels[i]);
		file_write(t.folder, path, "cpuset memory\n");
	}
	assert_fault(limiter_choose(&l, t.folder, LIMIT_V2, &f), &f, EOPNOTSUPP);
	assert_non_null(strstr(f.text, "cpu controller is not available"));
	assert_non_null(strstr(f.text, "--limiter v2"));
	end(&t);
}

/* Ordinary folders: groups can be made in them, but nothing appears inside, so the trial must fail and leave nothing.
 */
static void test_a_trial_that_fails_leaves_nothing(void **state)
{
	(void)state;
	struct tree_case t;
	struct limiter l;
	struct fault f = {0};
	begin(&t, mounts_v1, of_v1);
	make_dirs(&t, "sys/fs/cgroup/cpu/a");
	make_dirs(&t, "sys/fs/cgroup/cpuacct");
	make_dirs(&t, "sys/fs/cgroup/unified/a/b");
	assert_fault(limiter_choose(&l, t.folder, LIMIT_V1, &f), &f, EOPNOTSUPP);
	assert_non_null(strstr(f.text, "cpu.cfs_period_us"));
	char path[128];
	snprintf(path, sizeof path, "%s/sys/fs/cgroup/cpu", t.folder);
	CLEANUP_CLOSEDIR DIR *dir = opendir(path);
	const struct dirent *entry;
	while ((entry = readdir(dir)))
		assert_int_equal(limit_name_pid(entry->d_name), 0);
	end(&t);
}

static void test_v2_says_when_the_controller_is_v1s(void **state)
{
	(void)state;
	struct tree_case t;
	struct limiter l;
	struct fault f = {0};
	begin(&t, mounts_v1, of_v1);
	make_dirs(&t, "sys/fs/cgroup/cpu/a");
	make_dirs(&t, "sys/fs/cgroup/unified/a/b");
	assert_fault(limiter_choose(&l, t.folder, LIMIT_V2, &f), &f, EOPNOTSUPP);
	assert_non_null(strstr(f.text, "belongs to cgroup v1"));
	end(&t);
}

static void test_no_cgroup_at_all(void **state)
{
	(void)state;
	struct tree_case t;
	struct limiter l;
	struct fault f = {0};
	begin(&t, "", "");
	assert_fault(limiter_choose(&l, t.folder, LIMIT_WAYS, &f), &f, EOPNOTSUPP);
	end(&t);
}

/* ---- levels, from the top down --------------------------------------------------------------------------------------
 */

struct visited {
	char paths[8][64];
	size_t n, succeed_at;
};

static int visit(const char *path, void *arg)
{
	struct visited *v = arg;
	snprintf(v->paths[v->n], sizeof v->paths[0], "%s", path);
	return v->n++ == v->succeed_at ? 0 : -EACCES;
}

static void test_levels(void **state)
{
	(void)state;
	struct visited v = {.succeed_at = 99};
	assert_int_equal(folder_each_level("/sys/fs/cgroup/a/b", strlen("/sys/fs/cgroup"), visit, &v), -EACCES);
	assert_int_equal(v.n, 3);
	assert_string_equal(v.paths[0], "/sys/fs/cgroup");
	assert_string_equal(v.paths[1], "/sys/fs/cgroup/a");
	assert_string_equal(v.paths[2], "/sys/fs/cgroup/a/b");
	v = (struct visited){.succeed_at = 1};
	assert_int_equal(folder_each_level("/sys/fs/cgroup/a/b", strlen("/sys/fs/cgroup"), visit, &v), 0);
	assert_int_equal(v.n, 2);
	v = (struct visited){.succeed_at = 99};
	folder_each_level("/cg", 3, visit, &v);
	assert_int_equal(v.n, 1);
}

static void test_join(void **state)
{
	(void)state;
	static const char *const cases[][3] = {{"/", "/sys/fs", "/sys/fs"},
					       {"/tmp/x", "/sys", "/tmp/x/sys"},
					       {"/a/", "b", "/a/b"},
					       {"/a", "", "/a"},
					       {"/", "", "/"}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP_FREE char *joined = folder_join(cases[i][0], cases[i][1]);
		assert_string_equal(joined, cases[i][2]);
	}
}

/* ---- what a killed headroom left behind -----------------------------------------------------------------------------
 */

static pid_t dead_pid(void)
{
	pid_t pid = fork();
	if (pid == 0)
		_exit(0);
	waitpid(pid, NULL, 0);
	return pid;
}

static void test_stale_groups(void **state)
{
	(void)state;
	char folder[64];
	char path[160];
	pid_t dead = dead_pid();
	folder_make(folder);
	const struct {
		int pid;
		const char *rest;
		bool stays;
	} groups[] = {{dead, "-1.1-even-0.25", false}, {dead, "-try", false}, {getpid(), "-1.1-even-0.25", true}};
	for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
		snprintf(path, sizeof path, "%s/headroom-%d%s", folder, groups[i].pid, groups[i].rest);
		assert_int_equal(mkdir(path, 0755), 0);
	}
	/* neither is ours: another name, and one that is not empty */
	snprintf(path, sizeof path, "headroom-%d-full/child", (int)dead);
	file_write(folder, path, "");
	file_write(folder, "headroom-probe-1/.keep", "");
	assert_int_equal(limit_remove_stale(folder), 2);
	for (size_t i = 0; i < ARRAY_LEN(groups); i++) {
		snprintf(path, sizeof path, "%s/headroom-%d%s", folder, groups[i].pid, groups[i].rest);
		assert_int_equal(access(path, F_OK) == 0, groups[i].stays);
	}
	snprintf(path, sizeof path, "%s/headroom-%d-full/child", folder, (int)dead);
	assert_int_equal(access(path, F_OK), 0);
	folder_remove(folder);
}

/* ---- systemd --------------------------------------------------------------------------------------------------------
 */

static void test_systemd_command(void **state)
{
	(void)state;
	struct limiter l = {.way = LIMIT_SYSTEMD};
	struct limit_group g;
	struct fault f = {0};
	const char *words[LIMIT_PREFIX_MAX];
	char line[512] = "";
	assert_int_equal(limit_open(&g, &l, "1.2-burst-0.25", &f), 0);
	assert_int_equal(limit_set(&g, 0.25, &f), 0);
	limit_prefer(&g);
	limit_command_prefix(&g, words);
	for (size_t i = 0; words[i]; i++)
		snprintf(line + strlen(line), sizeof line - strlen(line), "%s%s", i ? " " : "", words[i]);
	char wanted[512];
	snprintf(wanted, sizeof wanted,
		 "systemd-run --user --scope --quiet --collect --unit headroom-%d-1.2-burst-0.25 --property "
		 "CPUAccounting=yes --property CPUQuotaPeriodSec=100ms --property CPUQuota=25%% --property "
		 "CPUWeight=10000 --",
		 (int)getpid());
	assert_string_equal(line, wanted);
	assert_int_equal(limit_set(&g, LIMIT_NO_CPUS, &f), 0);
	assert_string_equal(g.quota_text, "CPUQuota=");
	assert_int_equal(limit_set(&g, 0.125, &f), 0);
	assert_string_equal(g.quota_text, "CPUQuota=12.5%");
	assert_null(g.procs[0]);
	assert_int_equal(limit_close(&g, &f), 0);
}

/* A systemd-run that only starts the command: it is found, and then caught at not limiting anything. */
static void test_a_systemd_run_that_does_not_limit(void **state)
{
	(void)state;
	struct tree_case t;
	struct limiter l;
	struct limit_group g;
	struct fault f = {0};
	char script[96];
	begin(&t, mounts_v2, of_v2);
	make_dirs(&t, "sys/fs/cgroup/a/b");
	file_write(t.folder, "systemd-run", "#!/bin/sh\nexit 0\n");
	snprintf(script, sizeof script, "%s/systemd-run", t.folder);
	assert_int_equal(chmod(script, 0755), 0);
	assert_int_equal(limiter_choose(&l, t.folder, LIMIT_WAYS, &f), 0);
	assert_int_equal(l.way, LIMIT_SYSTEMD);
	assert_int_equal(limit_open(&g, &l, "x", &f), 0);
	assert_int_equal(limit_set(&g, 0.5, &f), 0);
	char path[64];
	snprintf(path, sizeof path, "proc/%d/cgroup", (int)getpid());
	file_write(t.folder, path, of_v2);
	assert_fault(limit_adopt(&g, getpid(), &f), &f, EIO);
	assert_non_null(strstr(f.text, "scope of its own"));
	limit_close(&g, NULL);
	limiter_release(&l);
	end(&t);
}

static void test_a_systemd_run_that_fails(void **state)
{
	(void)state;
	struct tree_case t;
	struct limiter l;
	struct fault f = {0};
	char script[96];
	begin(&t, mounts_v2, of_v2);
	make_dirs(&t, "sys/fs/cgroup/a/b");
	file_write(t.folder, "systemd-run", "#!/bin/sh\nexit 3\n");
	snprintf(script, sizeof script, "%s/systemd-run", t.folder);
	assert_int_equal(chmod(script, 0755), 0);
	assert_fault(limiter_choose(&l, t.folder, LIMIT_SYSTEMD, &f), &f, EOPNOTSUPP);
	assert_non_null(strstr(f.text, "status 3"));
	end(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_quota),
		cmocka_unit_test(test_out_of_range),
		cmocka_unit_test(test_nothing_works),
		cmocka_unit_test(test_v2_without_the_controller),
		cmocka_unit_test(test_a_trial_that_fails_leaves_nothing),
		cmocka_unit_test(test_v2_says_when_the_controller_is_v1s),
		cmocka_unit_test(test_no_cgroup_at_all),
		cmocka_unit_test(test_levels),
		cmocka_unit_test(test_join),
		cmocka_unit_test(test_stale_groups),
		cmocka_unit_test(test_systemd_command),
		cmocka_unit_test(test_a_systemd_run_that_does_not_limit),
		cmocka_unit_test(test_a_systemd_run_that_fails),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
