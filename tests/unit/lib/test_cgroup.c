/* Which folder holds the figures of a process: each hierarchy on its own, nothing guessed. */
#include "tests/unit/check.h"

#include "cgroup.h"

static char folder[64];
static struct tree tree;

static int setup(void **state)
{
	(void)state;
	folder_make(folder);
	return tree_open(&tree, folder, NULL);
}

static int teardown(void **state)
{
	(void)state;
	tree_close(&tree);
	folder_remove(folder);
	return 0;
}

/* Resolves proc_name; the fault's sentence must hold `says` (NULL: it must succeed). */
static int resolve(struct cgroup_target *target, const char *proc_name, int err, const char *says)
{
	struct fault f = {0};
	int rc = cgroup_resolve_process(target, &tree, proc_name, &f);
	if (rc != -err || (says && !strstr(fault_text(&f), says)))
		print_error("%d: %s\n", rc, fault_text(&f));
	assert_int_equal(rc, -err);
	if (says)
		assert_non_null(strstr(fault_text(&f), says));
	return rc;
}

static void test_v2(void **state)
{
	(void)state;
	struct cgroup_target t;
	file_write(folder, "proc/self/mountinfo", "1 0 0:1 /x /cg rw - cgroup2 c rw\n");
	file_write(folder, "proc/self/cgroup", "0::/x/y\n");
	file_write(folder, "cg/y/cpu.max", "max\n");
	resolve(&t, "self", 0, NULL);
	assert_int_equal(t.version, CGROUP_V2);
	assert_int_equal(t.cpu_controller, HIERARCHY_V2);
	assert_string_equal(t.cpu.name, "/x/y");
	assert_string_equal(t.cpu.folder, "/cg/y");
	assert_int_equal(t.cpu.top_len, 3);
	assert_string_equal(t.v2.folder, "/cg/y");
	assert_string_equal(t.cpuset.folder, "/cg/y");
	assert_int_equal(t.cpuacct.hierarchy, HIERARCHY_NONE);
	cgroup_target_release(&t);
	assert_int_equal(t.tree.fd, -1);
}

static void test_hybrid(void **state)
{
	(void)state;
	struct cgroup_target t;
	file_write(folder, "proc/self/mountinfo",
		   "1 0 0:1 / /cg/cpu rw - cgroup c rw,cpu,cpuacct\n2 0 0:2 / /cg/set rw - cgroup c rw,cpuset\n"
		   "3 0 0:3 / /cg/unified rw - cgroup2 c rw\n");
	file_write(folder, "proc/self/cgroup", "2:cpuset:/s\n1:cpu,cpuacct:/a\n0::/u\n");
	file_write(folder, "cg/cpu/a/x", "");
	file_write(folder, "cg/unified/u/x", "");
	resolve(&t, "self", 0, NULL);
	assert_int_equal(t.version, CGROUP_HYBRID);
	assert_int_equal(t.cpu_controller, HIERARCHY_V1);
	assert_string_equal(t.cpu.folder, "/cg/cpu/a");
	assert_string_equal(t.cpuacct.folder, "/cg/cpu/a");
	assert_string_equal(t.cpuset.folder, "/cg/set/s");
	assert_string_equal(t.v2.folder, "/cg/unified/u");
	cgroup_target_release(&t);
}

/* cgroup2 beside a mere name=systemd: its cpu controller is v2's. */
static void test_named_hierarchy(void **state)
{
	(void)state;
	struct cgroup_target t;
	file_write(folder, "proc/self/mountinfo",
		   "1 0 0:1 / /cg rw - cgroup2 c rw\n2 0 0:2 / /cgs rw - cgroup c rw,name=systemd\n");
	file_write(folder, "proc/self/cgroup", "1:name=systemd:/cpu\n0::/\n");
	file_write(folder, "cg/x", "");
	resolve(&t, "self", 0, NULL);
	assert_int_equal(t.version, CGROUP_HYBRID);
	assert_int_equal(t.cpu_controller, HIERARCHY_V2);
	assert_string_equal(t.cpu.name, "/");
	assert_string_equal(t.cpu.folder, "/cg");
	cgroup_target_release(&t);
}

static void test_failures(void **state)
{
	(void)state;
	struct cgroup_target t;
	resolve(&t, "self", ENOENT, "no cgroup information");
	assert_int_equal(t.version, CGROUP_NO_VERSION);
	cgroup_target_release(&t);
	file_write(folder, "proc/self/cgroup", "0::/x\n");
	resolve(&t, "self", ENOENT, "mountinfo");
	file_write(folder, "proc/self/mountinfo", "1 0 0:1 / /proc rw - proc p rw\n");
	resolve(&t, "self", ENOENT, "no cgroup mount");
	/* v1 lines, but only v2 is mounted */
	file_write(folder, "proc/self/mountinfo", "1 0 0:1 / /cg rw - cgroup2 c rw\n");
	file_write(folder, "proc/self/cgroup", "1:cpu:/x\n0::/x\n");
	file_write(folder, "cg/x/cpu.max", "max\n");
	resolve(&t, "self", ENOENT, "v1 file system");
	assert_int_equal(t.cpu_controller, HIERARCHY_V1);
	/* outside of what is mounted */
	file_write(folder, "proc/self/mountinfo", "1 0 0:1 /other /cg rw - cgroup2 c rw\n");
	file_write(folder, "proc/self/cgroup", "0::/x\n");
	resolve(&t, "self", EXDEV, "--host-cgroup");
	/* removed */
	file_write(folder, "proc/self/mountinfo", "1 0 0:1 / /cg rw - cgroup2 c rw\n");
	file_write(folder, "proc/self/cgroup", "0::/gone (deleted)\n");
	resolve(&t, "self", ENOENT, "was removed");
	/* the folder is not there */
	file_write(folder, "proc/self/cgroup", "0::/none\n");
	resolve(&t, "self", ENOENT, "is not there");
	/* a file in its place */
	file_write(folder, "cg/file", "");
	file_write(folder, "proc/self/cgroup", "0::/file\n");
	resolve(&t, "self", ENOTDIR, "/file");
	file_write(folder, "proc/self/cgroup", "junk\n");
	resolve(&t, "self", EINVAL, "malformed");
	assert_int_equal(t.version, CGROUP_V2);
}

/* The kernel lists a hierarchy once. Two different answers to one question are none. */
static void test_two_answers(void **state)
{
	(void)state;
	struct cgroup_target t;
	file_write(folder, "proc/self/mountinfo",
		   "1 0 0:1 / /cg rw - cgroup2 c rw\n2 0 0:2 / /v1 rw - cgroup c rw,cpu\n");
	file_write(folder, "cg/a/cpu.max", "max\n");
	file_write(folder, "cg/b/cpu.max", "max\n");
	file_write(folder, "v1/a/cpu.shares", "1\n");
	file_write(folder, "proc/self/cgroup", "0::/a\n0::/b\n");
	resolve(&t, "self", EINVAL, "twice");
	file_write(folder, "proc/self/cgroup", "0::/a\n0::/a\n");
	resolve(&t, "self", EINVAL, "twice");
	file_write(folder, "proc/self/cgroup", "1:cpu:/a\n2:cpu,cpuacct:/a\n");
	resolve(&t, "self", EINVAL, "twice");
	/* name= hierarchies can be many */
	file_write(folder, "proc/self/cgroup", "1:name=a:/x\n2:name=b:/y\n0::/a\n");
	resolve(&t, "self", 0, NULL);
	assert_string_equal(t.cpu.folder, "/cg/a");
	cgroup_target_release(&t);
}

static void test_long_path(void **state)
{
	(void)state;
	struct cgroup_target t;
	char line[HEADROOM_PATH_MAX + 100];
	memset(line, 'x', sizeof line - 1);
	memcpy(line, "0::/", 4);
	line[sizeof line - 1] = '\0';
	file_write(folder, "proc/self/mountinfo", "1 0 0:1 / /cg rw - cgroup2 c rw\n");
	file_write(folder, "proc/self/cgroup", line);
	resolve(&t, "self", ENAMETOOLONG, "names a cgroup of");
}

/* Of several mounts of one hierarchy, the one with the shortest root shows the most ancestors. */
static void test_widest_mount(void **state)
{
	(void)state;
	struct cgroup_target t;
	file_write(folder, "proc/self/mountinfo",
		   "1 0 0:1 /a/b /one rw - cgroup2 c rw\n2 0 0:1 /a /two rw - cgroup2 c rw\n"
		   "3 0 0:1 /other /three rw - cgroup2 c rw\n");
	file_write(folder, "proc/self/cgroup", "0::/a/b/c\n");
	file_write(folder, "two/b/c/cpu.max", "max\n");
	resolve(&t, "self", 0, NULL);
	assert_string_equal(t.cpu.folder, "/two/b/c");
	assert_string_equal(t.cpu.name, "/a/b/c");
	cgroup_target_release(&t);
}

static void test_neighbour(void **state)
{
	(void)state;
	struct cgroup_target t;
	file_write(folder, "proc/self/mountinfo", "1 0 0:1 /own /cg rw - cgroup2 c rw\n");
	file_write(folder, "proc/self/cgroup", "0::/own\n");
	file_write(folder, "cg/cpu.max", "max\n");
	/* through its root: nothing of our own stands in for it */
	file_write(folder, "proc/42/cgroup", "0::/../app.scope\n");
	file_write(folder, "proc/42/mountinfo", "1 0 0:1 /../app.scope /cg rw - cgroup2 c rw\n");
	resolve(&t, "42", ENOENT, "root folder of process 42 is gone");
	assert_int_equal(t.version, CGROUP_V2);
	file_write(folder, "proc/42/root/cg/cpu.max", "max\n");
	resolve(&t, "42", 0, NULL);
	assert_string_equal(t.cpu.folder, "/cg");
	assert_string_equal(t.cpu.name, "/../app.scope");
	CLEANUP_CLOSE int fd = cgroup_place_open(&t.cpu, &t.tree, NULL);
	assert_true(fd >= 0);
	assert_int_equal(faccessat(fd, "cpu.max", F_OK, 0), 0);
	cgroup_target_release(&t);
	/* removed meanwhile: that is said, whatever its mounts are */
	file_write(folder, "proc/42/cgroup", "0::/own/x (deleted)\n");
	file_write(folder, "proc/42/mountinfo", "");
	resolve(&t, "42", ENOENT, "was removed");
	/* no such process (any more) */
	resolve(&t, "43", ENOENT, "no cgroup information");
	assert_int_equal(t.version, CGROUP_V2);
	/* its table of mounts is gone */
	file_write(folder, "proc/44/cgroup", "0::/../x\n");
	resolve(&t, "44", ENOENT, "mountinfo");
}

/* Through our own mounts, when our view is wide enough: then its ancestors are seen too. */
static void test_neighbour_through_own_mounts(void **state)
{
	(void)state;
	struct cgroup_target t;
	file_write(folder, "proc/self/mountinfo", "1 0 0:1 / /cg rw - cgroup2 c rw\n");
	file_write(folder, "proc/42/cgroup", "0::/pod/app\n");
	file_write(folder, "cg/pod/app/cpu.max", "max\n");
	resolve(&t, "42", 0, NULL);
	assert_string_equal(t.cpu.folder, "/cg/pod/app");
	cgroup_target_release(&t);
}

static void test_denied(void **state)
{
	(void)state;
	struct cgroup_target t;
	struct fault f = {0};
	char path[128];
	file_write(folder, "proc/self/mountinfo", "1 0 0:1 /own /cg rw - cgroup2 c rw\n");
	file_write(folder, "proc/42/cgroup", "0::/../app.scope\n");
	file_write(folder, "proc/42/mountinfo", "1 0 0:1 /../app.scope /cg rw - cgroup2 c rw\n");
	file_write(folder, "proc/42/status", "Uid:\t1000\t1000\t1000\t1000\nGid:\t1001\t1001\t1001\t1001\n");
	file_write(folder, "proc/42/root/cg/cpu.max", "max\n");
	snprintf(path, sizeof path, "%s/proc/42/root", folder);
	assert_int_equal(chmod(path, 0), 0);
	assert_int_equal(chmod(folder, 0755), 0);
	/* root may look into every folder: become somebody else for this */
	bool root = geteuid() == 0;
	if (root)
		assert_int_equal(seteuid(65534), 0);
	int rc = cgroup_resolve_process(&t, &tree, "42", &f);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(rc, -EACCES);
	assert_non_null(strstr(f.text, "it runs as 1000:1001"));
	assert_non_null(strstr(f.text, "runAsUser 1000 and runAsGroup 1001"));
	assert_int_equal(t.version, CGROUP_V2);
	cgroup_target_release(&t);
	/* nothing is known about it */
	file_write(folder, "proc/42/status", "Name:\tx\n");
	if (root)
		assert_int_equal(seteuid(65534), 0);
	rc = cgroup_resolve_process(&t, &tree, "42", &f);
	if (root)
		assert_int_equal(seteuid(0), 0);
	assert_int_equal(rc, -EACCES);
	assert_non_null(strstr(f.text, "may not look into process 42"));
	assert_int_equal(chmod(path, 0755), 0);
	cgroup_target_release(&t);
}

static void test_explicit_path(void **state)
{
	(void)state;
	struct cgroup_target t;
	struct fault f = {0};
	assert_fault(cgroup_resolve_path(&t, &tree, "/x", &f), &f, ENOENT);
	file_write(folder, "proc/self/mountinfo",
		   "1 0 0:1 / /cg/cpu rw - cgroup c rw,cpu\n2 0 0:2 / /cg/acct rw - cgroup c rw,cpuacct\n"
		   "3 0 0:3 / /cg/unified rw - cgroup2 c rw\n");
	file_write(folder, "cg/cpu/a/b/x", "");
	file_write(folder, "cg/acct/a/b/x", "");
	file_write(folder, "cg/unified/a/b/x", "");
	static const char *const same[] = {"/a/b", "/cg/cpu/a/b", "/cg/unified/a/b"};
	for (size_t i = 0; i < ARRAY_LEN(same); i++) {
		assert_int_equal(cgroup_resolve_path(&t, &tree, same[i], &f), 0);
		assert_int_equal(t.version, CGROUP_HYBRID);
		assert_int_equal(t.cpu_controller, HIERARCHY_V1);
		assert_string_equal(t.cpu.folder, "/cg/cpu/a/b");
		assert_string_equal(t.cpuacct.folder, "/cg/acct/a/b");
		assert_string_equal(t.v2.folder, "/cg/unified/a/b");
		assert_string_equal(t.cpuset.folder, "/cg/unified/a/b");
		cgroup_target_release(&t);
	}
	assert_int_equal(cgroup_resolve_path(&t, &tree, "/", &f), 0);
	assert_string_equal(t.cpu.folder, "/cg/cpu");
	cgroup_target_release(&t);
	static const char *const wrong[] = {"/none", "/a/../a/b", "/cg/cpu/../../etc", "/.."};
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		assert_case(cgroup_resolve_path(&t, &tree, wrong[i], &f) < 0, wrong[i]);
		cgroup_target_release(&t);
	}
	assert_fault(cgroup_resolve_path(&t, &tree, "a/b", &f), &f, EINVAL);
	assert_fault(cgroup_resolve_path(&t, &tree, "", &f), &f, EINVAL);
	cgroup_target_release(&t);
}

static void test_explicit_path_v2(void **state)
{
	(void)state;
	struct cgroup_target t;
	struct fault f = {0};
	file_write(folder, "proc/self/mountinfo", "3 0 0:3 / /cg rw - cgroup2 c rw\n");
	file_write(folder, "cg/a/cpu.max", "max\n");
	assert_int_equal(cgroup_resolve_path(&t, &tree, "/cg/a", &f), 0);
	assert_int_equal(t.cpu_controller, HIERARCHY_V2);
	assert_string_equal(t.cpu.folder, "/cg/a");
	assert_string_equal(t.cpu.name, "/a");
	assert_int_equal(t.cpu.top_len, 3);
	assert_int_equal(t.cpuset.top_len, 3);
	cgroup_target_release(&t);
}

/* In a live tree only the kernel's cgroup file system counts. */
static void test_live(void **state)
{
	(void)state;
	struct cgroup_place p;
	struct tree live;
	struct fault f = {0};
	assert_int_equal(tree_open(&live, "/", NULL), 0);
	assert_int_equal(cgroup_place_make(&p, HIERARCHY_V2, "/", folder, ""), 0);
	assert_fault(cgroup_place_open(&p, &live, &f), &f, EXDEV);
	cgroup_place_release(&p);
	struct cgroup_target t;
	int rc = cgroup_resolve_process(&t, &live, "self", &f);
	/* a sandbox may have no cgroups; then the reason is given */
	assert_true(rc == 0 || f.err == -rc);
	cgroup_target_release(&t);
	tree_close(&live);
}

static void test_place_names(void **state)
{
	(void)state;
	static const struct {
		const char *root, *point, *below, *name, *folder;
		size_t top_len;
	} cases[] = {
		{"/", "/cg", "", "/", "/cg", 3},   {"/", "/cg", "/a", "/a", "/cg/a", 3},
		{"/x", "/cg", "", "/x", "/cg", 3}, {"/x", "/cg", "/a", "/x/a", "/cg/a", 3},
		{"/", "/", "", "/", "/", 0},       {"/", "/", "/a", "/a", "/a", 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct cgroup_place p;
		assert_int_equal(cgroup_place_make(&p, HIERARCHY_V2, cases[i].root, cases[i].point, cases[i].below), 0);
		assert_string_equal(p.name, cases[i].name);
		assert_string_equal(p.folder, cases[i].folder);
		assert_int_equal(p.top_len, cases[i].top_len);
		cgroup_place_release(&p);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_v2, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hybrid, setup, teardown),
		cmocka_unit_test_setup_teardown(test_named_hierarchy, setup, teardown),
		cmocka_unit_test_setup_teardown(test_failures, setup, teardown),
		cmocka_unit_test_setup_teardown(test_two_answers, setup, teardown),
		cmocka_unit_test_setup_teardown(test_long_path, setup, teardown),
		cmocka_unit_test_setup_teardown(test_widest_mount, setup, teardown),
		cmocka_unit_test_setup_teardown(test_neighbour, setup, teardown),
		cmocka_unit_test_setup_teardown(test_neighbour_through_own_mounts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_denied, setup, teardown),
		cmocka_unit_test_setup_teardown(test_explicit_path, setup, teardown),
		cmocka_unit_test_setup_teardown(test_explicit_path_v2, setup, teardown),
		cmocka_unit_test_setup_teardown(test_live, setup, teardown),
		cmocka_unit_test(test_place_names),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
