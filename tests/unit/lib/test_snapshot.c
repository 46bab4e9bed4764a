/* Counters and quotas of a cgroup and its ancestors, and which limit binds. */
#include "tests/unit/check.h"

#include "cpus.h"
#include "snapshot.h"

#include <math.h>

static struct snapshot snapshot_of(size_t n, const struct level_figures levels[])
{
	struct snapshot s = {.n_levels = n};
	memcpy(s.levels, levels, n * sizeof *levels);
	return s;
}

#define READ(q, p)                                                                                                     \
	{                                                                                                              \
		.state = QUOTA_READ, .quota = { q, p }                                                                 \
	}
#define NO_FILE                                                                                                        \
	{                                                                                                              \
		.state = QUOTA_NO_FILE                                                                                 \
	}
#define BROKEN                                                                                                         \
	{                                                                                                              \
		.state = QUOTA_BROKEN                                                                                  \
	}

static void test_limit(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		size_t n;
		struct level_figures levels[4];
		enum limit_status status;
		size_t level;
	} cases[] = {
		{"own", 1, {READ(50000, 100000)}, LIMIT_SET, 0},
		{"none", 2, {READ(QUOTA_NONE, 100000), NO_FILE}, LIMIT_NONE, 0},
		{"no file anywhere", 2, {NO_FILE, NO_FILE}, LIMIT_NONE, 0},
		{"parent", 3, {READ(QUOTA_NONE, 100000), READ(30000, 100000), NO_FILE}, LIMIT_SET, 1},
		{"parent below own", 2, {READ(50000, 100000), READ(30000, 100000)}, LIMIT_SET, 1},
		{"own below parent", 2, {READ(20000, 100000), READ(30000, 100000)}, LIMIT_SET, 0},
		{"by ratio, not by quota", 2, {READ(40000, 50000), READ(50000, 100000)}, LIMIT_SET, 1},
		{"equal: the nearest", 3, {READ(QUOTA_NONE, 1), READ(1000, 2000), READ(50000, 100000)}, LIMIT_SET, 1},
		{"controller ends in between", 3, {NO_FILE, NO_FILE, READ(150000, 100000)}, LIMIT_SET, 2},
		{"broken own", 2, {BROKEN, READ(50000, 100000)}, LIMIT_UNKNOWN, 0},
		{"broken parent", 2, {READ(50000, 100000), BROKEN}, LIMIT_UNKNOWN, 0},
		{"no level", 0, {NO_FILE}, LIMIT_NONE, 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct snapshot s = snapshot_of(cases[i].n, cases[i].levels);
		struct limit limit = limit_of(&s);
		assert_case(limit.status == cases[i].status, cases[i].what);
		if (limit.status == LIMIT_SET) {
			assert_case(limit.level == cases[i].level, cases[i].what);
			assert_case(limit.quota.quota_usec == s.levels[limit.level].quota.quota_usec, cases[i].what);
		}
	}
}

static void test_effective(void **state)
{
	(void)state;
	const struct limit none = {.status = LIMIT_NONE};
	const struct limit unknown = {.status = LIMIT_UNKNOWN};
	const struct limit two = {.status = LIMIT_SET, .quota = {200000, 100000}};
	const struct cpu_counts four = {.have_nproc = true, .nproc = 4};
	const struct cpu_counts cpuset_one = {.have_nproc = true, .nproc = 4, .have_cpuset = true, .cpuset = 1};
	const struct cpu_counts nothing = {.have_online = true, .online = 8};
	assert_true(fabs(cpus_effective(&four, &none) - 4) < 1e-12);
	assert_true(fabs(cpus_effective(&four, &two) - 2) < 1e-12);
	assert_true(fabs(cpus_effective(&cpuset_one, &two) - 1) < 1e-12);
	assert_true(fabs(cpus_effective(&nothing, &two) - 2) < 1e-12);
	assert_true(isnan(cpus_effective(&nothing, &none)));
	assert_true(isnan(cpus_effective(&four, &unknown)));
}

static void test_names(void **state)
{
	(void)state;
	assert_string_equal(counter_key(COUNTER_USAGE), "usage_usec");
	assert_string_equal(counter_key(COUNTER_BURST), "burst_usec");
	assert_string_equal(psi_status_name(PSI_ABSENT), "absent");
	assert_string_equal(psi_status_name(PSI_OK), "ok");
	assert_string_equal(psi_status_name(PSI_DISABLED), "disabled");
	assert_string_equal(psi_status_name(PSI_DENIED), "denied");
	assert_string_equal(psi_status_name(PSI_BROKEN), "broken");
	assert_string_equal(cgroup_version_name(CGROUP_HYBRID), "hybrid");
	assert_string_equal(cgroup_version_name(CGROUP_NO_VERSION), "none");
	assert_string_equal(hierarchy_name(HIERARCHY_V1), "v1");
}

/* ---- on files -----------------------------------------------------------------------------------------------------
 */

static char folder[64];
static struct tree tree;
static struct cgroup_target target;
static struct reader reader;

static int setup(void **state)
{
	(void)state;
	folder_make(folder);
	file_write(folder, "proc/self/mountinfo", "39 38 0:22 / /cg rw - cgroup2 cgroup rw\n");
	file_write(folder, "proc/self/cgroup", "0::/a/b\n");
	file_write(folder, "cg/cgroup.controllers", "cpu\n");
	file_write(folder, "cg/a/cpu.max", "30000 100000\n");
	file_write(folder, "cg/a/cpu.stat", "usage_usec 900\nnr_periods 10\nnr_throttled 4\nthrottled_usec 5\n");
	file_write(folder, "cg/a/b/cpu.max", "max 100000\n");
	file_write(folder, "cg/a/b/cpu.stat",
		   "usage_usec 100\nuser_usec 60\nsystem_usec 40\nnr_periods 0\nnr_throttled 0\n");
	file_write(folder, "cg/a/b/cpu.pressure", "some avg10=1.00 avg60=0.00 avg300=0.00 total=7\n");
	file_write(folder, "cg/a/b/cpu.stat.local", "throttled_usec 12\n");
	assert_int_equal(tree_open(&tree, folder, NULL), 0);
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tree_close(&tree);
	folder_remove(folder);
	return 0;
}

static void open_reader(void)
{
	struct fault f = {0};
	if (cgroup_resolve_process(&target, &tree, "self", &f) < 0 || reader_open(&reader, &target, &f) < 0) {
		print_error("%s\n", fault_text(&f));
		fail();
	}
	cgroup_target_release(&target);
}

static void test_reader_v2(void **state)
{
	(void)state;
	struct snapshot s = {0};
	struct fault f = {0};
	open_reader();
	assert_int_equal(reader.n_levels, 3);
	assert_string_equal(reader.levels[0].name, "/a/b");
	assert_string_equal(reader.levels[1].name, "/a");
	assert_string_equal(reader.levels[2].name, "/");
	assert_true(reader.ancestors_hidden_known);
	assert_false(reader.ancestors_hidden);
	assert_int_equal(reader_take(&reader, SNAPSHOT_FULL, &s, &f), 0);
	assert_int_equal(f.err, 0);
	assert_int_equal(s.levels[0].counters.value[COUNTER_USAGE], 100);
	assert_true(counters_have(&s.levels[0].counters, COUNTER_NR_PERIODS));
	assert_false(counters_have(&s.levels[0].counters, COUNTER_THROTTLED));
	assert_false(counters_have(&s.levels[0].counters, COUNTER_BURST));
	assert_int_equal(s.levels[1].counters.value[COUNTER_NR_THROTTLED], 4);
	assert_int_equal(s.levels[2].state, QUOTA_NO_FILE);
	assert_true(s.have_local_throttled);
	assert_int_equal(s.local_throttled_usec, 12);
	assert_int_equal(s.psi_status[PSI_CPU], PSI_OK);
	assert_false(s.psi[PSI_CPU].has_full);
	assert_int_equal(s.psi_status[PSI_IO], PSI_ABSENT);
	assert_int_equal(limit_of(&s).level, 1);

	/* the files are re-read in place; a fast snapshot leaves the quotas and the pressure as they were */
	struct cpu_quota own_before = s.levels[0].quota;
	file_write(folder, "cg/a/b/cpu.stat", "usage_usec 200\n");
	file_write(folder, "cg/a/b/cpu.max", "10000 100000\n");
	file_write(folder, "cg/a/cpu.stat", "nr_periods 11\nnr_throttled 5\nthrottled_usec 5\n");
	file_write(folder, "cg/a/cpu.max", "5000 100000\n");
	file_write(folder, "cg/a/b/cpu.pressure", "some avg10=1.00 avg60=0.00 avg300=0.00 total=9\n");
	assert_int_equal(reader_take(&reader, SNAPSHOT_FAST, &s, &f), 0);
	assert_int_equal(s.levels[0].counters.value[COUNTER_USAGE], 200);
	assert_false(counters_have(&s.levels[0].counters, COUNTER_NR_PERIODS));
	assert_true(s.levels[0].quota.quota_usec == own_before.quota_usec);
	assert_int_equal(s.levels[1].quota.quota_usec, 30000);
	assert_int_equal(s.levels[1].counters.value[COUNTER_NR_THROTTLED], 5);
	assert_int_equal(s.psi[PSI_CPU].some.total_usec, 7);
	assert_int_equal(limit_of(&s).level, 1);
	/* the quotas of all levels, nothing else */
	assert_int_equal(reader_take(&reader, SNAPSHOT_LIMITS, &s, &f), 0);
	assert_int_equal(s.levels[0].quota.quota_usec, 10000);
	assert_int_equal(s.levels[1].quota.quota_usec, 5000);
	assert_int_equal(s.psi[PSI_CPU].some.total_usec, 7);
	assert_int_equal(limit_of(&s).level, 1);
	assert_int_equal(reader_take(&reader, SNAPSHOT_FULL, &s, &f), 0);
	assert_int_equal(s.psi[PSI_CPU].some.total_usec, 9);
	reader_close(&reader);
}

static void test_reader_broken_files(void **state)
{
	(void)state;
	struct snapshot s = {0};
	struct fault f = {0};
	file_write(folder, "cg/a/b/cpu.pressure", "some avg10=junk\n");
	file_write(folder, "cg/a/b/io.pressure", "");
	file_write(folder, "cg/a/b/memory.pressure/x", "");
	file_write(folder, "cg/a/b/cpu.stat", "usage_usec x\n");
	open_reader();
	/* a counter file that makes no sense is no reason to doubt the limit, but it is said */
	assert_int_equal(reader_take(&reader, SNAPSHOT_FULL, &s, &f), 0);
	assert_int_equal(limit_of(&s).status, LIMIT_SET);
	assert_int_equal(s.levels[0].counters.have, 0);
	assert_int_equal(f.err, EINVAL);
	assert_non_null(strstr(f.text, "cpu.stat of cgroup /a/b"));
	assert_int_equal(s.psi_status[PSI_CPU], PSI_BROKEN);
	assert_int_equal(s.psi_status[PSI_IO], PSI_DISABLED);
	assert_int_equal(s.psi_status[PSI_MEMORY], PSI_BROKEN);
	/* a quota that makes no sense is */
	file_write(folder, "cg/a/cpu.max", "");
	file_write(folder, "cg/a/b/cpu.stat", "usage_usec 1\n");
	assert_int_equal(reader_take(&reader, SNAPSHOT_FULL, &s, &f), 0);
	assert_int_equal(limit_of(&s).status, LIMIT_UNKNOWN);
	assert_non_null(strstr(f.text, "cpu.max of cgroup /a"));
	file_write_bytes(folder, "cg/a/cpu.max", "max\0\n", 5);
	assert_int_equal(reader_take(&reader, SNAPSHOT_FULL, &s, &f), 0);
	assert_int_equal(s.levels[1].state, QUOTA_BROKEN);
	/* and it can come back */
	file_write(folder, "cg/a/cpu.max", "max 100000\n");
	assert_int_equal(reader_take(&reader, SNAPSHOT_FULL, &s, &f), 0);
	assert_int_equal(limit_of(&s).status, LIMIT_NONE);
	reader_close(&reader);
}

/* Pressure that was switched off and on again is read again; what can be read stays open. */
static void test_pressure_comes_back(void **state)
{
	(void)state;
	struct snapshot s = {0};
	struct fault f = {0};
	char path[128];
	snprintf(path, sizeof path, "%s/cg/a/b/cpu.pressure", folder);
	assert_int_equal(unlink(path), 0);
	assert_int_equal(cgroup_resolve_process(&target, &tree, "self", &f), 0);
	assert_int_equal(reader_open(&reader, &target, &f), 0);
	assert_int_equal(reader_take(&reader, SNAPSHOT_FULL, &s, &f), 0);
	assert_int_equal(s.psi_status[PSI_CPU], PSI_ABSENT);
	file_write(folder, "cg/a/b/cpu.pressure", "some avg10=0.00 avg60=0.00 avg300=0.00 total=3\n");
	reader_reopen_pressure(&reader, &target, &s);
	assert_int_equal(reader_take(&reader, SNAPSHOT_FULL, &s, &f), 0);
	assert_int_equal(s.psi_status[PSI_CPU], PSI_OK);
	assert_int_equal(s.psi[PSI_CPU].some.total_usec, 3);
	assert_int_equal(s.psi_status[PSI_IO], PSI_ABSENT);
	int kept = reader.psi[PSI_CPU].fd;
	reader_reopen_pressure(&reader, &target, &s);
	assert_int_equal(reader.psi[PSI_CPU].fd, kept);
	reader_close(&reader);
	cgroup_target_release(&target);
}

static void test_reader_hostile_quota(void **state)
{
	(void)state;
	struct fault f = {0};
	char path[128];
	snprintf(path, sizeof path, "%s/cg/a/cpu.max", folder);
	unlink(path);
	assert_int_equal(mkfifo(path, 0666), 0);
	assert_int_equal(cgroup_resolve_process(&target, &tree, "self", &f), 0);
	assert_fault(reader_open(&reader, &target, &f), &f, EINVAL);
	assert_non_null(strstr(f.text, "/a"));
	cgroup_target_release(&target);
	reader_close(&reader);
}

/* A reader that was never opened, all zero as in a fresh struct: closing it must not close descriptor 0. */
static void test_reader_never_opened(void **state)
{
	(void)state;
	struct reader fresh = {0};
	bool had_stdin = fcntl(0, F_GETFD) >= 0;
	if (!had_stdin)
		assert_int_equal(open("/dev/null", O_RDONLY), 0);
	reader_close(&fresh);
	assert_int_not_equal(fcntl(0, F_GETFD), -1);
	if (!had_stdin)
		close(0);
}

static void test_reader_too_deep(void **state)
{
	(void)state;
	char path[1024] = "cg";
	char line[1100];
	struct fault f = {0};
	for (int i = 0; i < SNAPSHOT_LEVELS_MAX + 3; i++)
		strcat(path, "/d");
	snprintf(line, sizeof line, "0::%s\n", path + 2);
	file_write(folder, "proc/self/cgroup", line);
	strcat(path, "/cpu.max");
	file_write(folder, path, "max 100000\n");
	assert_int_equal(cgroup_resolve_process(&target, &tree, "self", &f), 0);
	assert_fault(reader_open(&reader, &target, &f), &f, ELOOP);
	cgroup_target_release(&target);
}

static void test_reader_v1(void **state)
{
	(void)state;
	struct snapshot s = {0};
	struct fault f = {0};
	file_write(folder, "proc/self/mountinfo",
		   "1 0 0:1 / /v1/cpu rw - cgroup c rw,cpu\n2 0 0:2 / /v1/acct rw - cgroup c rw,cpuacct\n");
	file_write(folder, "proc/self/cgroup", "2:cpuacct:/p\n1:cpu:/q/r\n");
	file_write(folder, "v1/cpu/release_agent", "\n");
	file_write(folder, "v1/cpu/cpu.cfs_quota_us", "-1\n");
	file_write(folder, "v1/cpu/cpu.cfs_period_us", "100000\n");
	file_write(folder, "v1/cpu/q/cpu.cfs_quota_us", "50000\n");
	file_write(folder, "v1/cpu/q/cpu.cfs_period_us", "100000\n");
	file_write(folder, "v1/cpu/q/cpu.stat", "nr_periods 3\nnr_throttled 2\nthrottled_time 1999\n");
	file_write(folder, "v1/cpu/q/r/cpu.cfs_quota_us", "-1\n");
	file_write(folder, "v1/cpu/q/r/cpu.cfs_period_us", "100000\n");
	file_write(folder, "v1/cpu/q/r/cpu.stat",
		   "nr_periods 0\nnr_throttled 0\nthrottled_time 0\nnr_bursts 1\nburst_time 5000\n");
	file_write(folder, "v1/acct/p/cpuacct.usage", "1999\n");
	file_write(folder, "v1/acct/p/cpuacct.stat", "user 3\nsystem 4\nnr_migrations 9\n");
	open_reader();
	assert_int_equal(reader_take(&reader, SNAPSHOT_FULL, &s, &f), 0);
	assert_int_equal(s.levels[0].counters.value[COUNTER_USAGE], 1);
	assert_int_equal(s.levels[0].counters.value[COUNTER_USER], 30000);
	assert_int_equal(s.levels[0].counters.value[COUNTER_SYSTEM], 40000);
	assert_int_equal(s.levels[0].counters.value[COUNTER_BURST], 5);
	assert_int_equal(s.levels[1].counters.value[COUNTER_THROTTLED], 1);
	assert_int_equal(limit_of(&s).level, 1);
	assert_true(reader.ancestors_hidden_known);
	assert_false(reader.ancestors_hidden);
	assert_int_equal(s.psi_status[PSI_CPU], PSI_ABSENT);

	/* broken accounting is said; the quota stands */
	file_write(folder, "v1/acct/p/cpuacct.usage", "-1\n");
	file_write(folder, "v1/acct/p/cpuacct.stat", "user x\n");
	assert_int_equal(reader_take(&reader, SNAPSHOT_FULL, &s, &f), 0);
	assert_false(counters_have(&s.levels[0].counters, COUNTER_USAGE));
	assert_false(counters_have(&s.levels[0].counters, COUNTER_USER));
	assert_int_equal(f.err, EINVAL);
	assert_int_equal(limit_of(&s).status, LIMIT_SET);
	reader_close(&reader);

	/* a quota without its period */
	char path[128];
	snprintf(path, sizeof path, "%s/v1/cpu/q/cpu.cfs_period_us", folder);
	unlink(path);
	open_reader();
	assert_int_equal(reader_take(&reader, SNAPSHOT_FULL, &s, &f), 0);
	assert_int_equal(limit_of(&s).status, LIMIT_UNKNOWN);
	assert_non_null(strstr(f.text, "cpu.cfs_period_us"));
	reader_close(&reader);
}

/* What a container may see of a tree of another kind: nothing of it is trusted, all of it ends. */
static void test_reader_gone(void **state)
{
	(void)state;
	struct fault f = {0};
	assert_int_equal(cgroup_resolve_process(&target, &tree, "self", &f), 0);
	char path[128];
	snprintf(path, sizeof path, "%s/cg/a/b", folder);
	folder_remove(path);
	assert_fault(reader_open(&reader, &target, &f), &f, ENOENT);
	cgroup_target_release(&target);
}

/* ---- the numbers of CPUs --------------------------------------------------------------------------------------------
 */

static void test_cpus(void **state)
{
	(void)state;
	struct cpu_counts c;
	struct fault f = {0};
	file_write(folder, "sys/devices/system/cpu/online", "0-3,6\n");
	file_write(folder, "proc/self/status", "Name:\tx\nCpus_allowed_list:\t2-7\n");
	file_write(folder, "cg/cpuset.cpus.effective", "0-7\n");
	file_write(folder, "cg/a/cpuset.cpus.effective", "1-2\n");
	assert_int_equal(cgroup_resolve_process(&target, &tree, "self", &f), 0);
	cpus_read(&c, &tree, "self", &target);
	assert_true(c.have_online && c.online == 5);
	assert_true(c.have_nproc && c.nproc == 3);
	/* the nearest level that has one */
	assert_true(c.have_cpuset && c.cpuset == 2);
	/* without a process: the cpuset, as far as it is online */
	cpus_read(&c, &tree, NULL, &target);
	assert_true(c.have_nproc && c.nproc == 2);
	/* an empty one does not count; without any there is none */
	file_write(folder, "cg/a/cpuset.cpus.effective", "\n");
	cpus_read(&c, &tree, "self", &target);
	assert_true(c.have_cpuset && c.cpuset == 8);
	file_write(folder, "cg/cpuset.cpus.effective", "");
	cpus_read(&c, &tree, "self", &target);
	assert_false(c.have_cpuset);
	cpus_read(&c, &tree, NULL, &target);
	assert_false(c.have_nproc);
	cgroup_target_release(&target);
}

/* A cpuset that cannot be understood is unknown: the level above allows more. */
static void test_cpus_broken(void **state)
{
	(void)state;
	struct cpu_counts c;
	struct fault f = {0};
	file_write(folder, "sys/devices/system/cpu/online", "junk\n");
	file_write(folder, "proc/self/status", "Name:\tx\n");
	file_write(folder, "cg/cpuset.cpus.effective", "0-7\n");
	file_write(folder, "cg/a/cpuset.cpus.effective", "0-x\n");
	assert_int_equal(cgroup_resolve_process(&target, &tree, "self", &f), 0);
	cpus_read(&c, &tree, "self", &target);
	assert_false(c.have_online);
	assert_false(c.have_nproc);
	assert_false(c.have_cpuset);
	cgroup_target_release(&target);
}

/* A process in thousands of groups has a long status file. */
static void test_cpus_long_status(void **state)
{
	(void)state;
	enum { SIZE = 100000 };
	struct cpu_counts c;
	struct fault f = {0};
	char *status = malloc(SIZE);
	size_t used = (size_t)sprintf(status, "Name:\tx\nGroups:\t");
	for (unsigned gid = 100000; used < SIZE - 200; gid++)
		used += (size_t)sprintf(status + used, "%u ", gid);
	sprintf(status + used, "\nCpus_allowed_list:\t0-1\n");
	file_write(folder, "proc/self/status", status);
	free(status);
	assert_int_equal(cgroup_resolve_process(&target, &tree, "self", &f), 0);
	cpus_read(&c, &tree, "self", &target);
	assert_true(c.have_nproc && c.nproc == 2);
	cgroup_target_release(&target);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_limit),
		cmocka_unit_test(test_effective),
		cmocka_unit_test(test_names),
		cmocka_unit_test_setup_teardown(test_reader_v2, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reader_broken_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pressure_comes_back, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reader_hostile_quota, setup, teardown),
		cmocka_unit_test(test_reader_never_opened),
		cmocka_unit_test_setup_teardown(test_reader_too_deep, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reader_v1, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reader_gone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cpus, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cpus_broken, setup, teardown),
		cmocka_unit_test_setup_teardown(test_cpus_long_status, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
