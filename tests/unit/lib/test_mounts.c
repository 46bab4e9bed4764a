/* /proc/PID/cgroup, /proc/PID/mountinfo and how their paths fit together. */
#include "tests/unit/check.h"

#include "clock.h"
#include "mounts.h"

static void test_controllers(void **state)
{
	(void)state;
	static const struct {
		const char *list;
		unsigned set;
	} cases[] = {
		{"", 0},
		{"cpu", CONTROLLER_CPU},
		{"cpuset", CONTROLLER_CPUSET},
		{"cpuacct", CONTROLLER_CPUACCT},
		{"cpu,cpuacct", CONTROLLER_CPU | CONTROLLER_CPUACCT},
		{"cpuacct,cpu", CONTROLLER_CPU | CONTROLLER_CPUACCT},
		{"rw,cpuset", CONTROLLER_CPUSET},
		{"rw,xattr,name=systemd", 0},
		{"name=cpu", 0},
		{"memory,pids", CONTROLLER_OTHER},
		{"cpus", 0},
		{",,cpu,,", CONTROLLER_CPU},
		{"CPU", 0},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_case(mounts_controllers(cases[i].list, strlen(cases[i].list)) == cases[i].set, cases[i].list);
	/* only len bytes count */
	assert_int_equal(mounts_controllers("cpuset", 3), CONTROLLER_CPU);
}

static void check_line(const char *text, bool is_v2, unsigned controllers, const char *path, bool deleted)
{
	struct cgroup_line line;
	assert_case(mounts_next_cgroup_line(&text, &line), text);
	assert_case(line.is_v2 == is_v2 && line.controllers == controllers && line.deleted == deleted, text);
	assert_case(line.path_len == strlen(path) && memcmp(line.path, path, line.path_len) == 0, text);
}

static void test_cgroup_lines(void **state)
{
	(void)state;
	check_line("0::/\n", true, 0, "/", false);
	check_line("0::/a/b", true, 0, "/a/b", false);
	check_line("0::/../x.scope\n", true, 0, "/../x.scope", false);
	check_line("4:cpu,cpuacct:/docker/1\n", false, CONTROLLER_CPU | CONTROLLER_CPUACCT, "/docker/1", false);
	check_line("1:name=systemd:/x\n", false, 0, "/x", false);
	check_line("12:cpuset:/\n", false, CONTROLLER_CPUSET, "/", false);
	/* colons belong to the path */
	check_line("0::/a/kubepods-x.slice:cri-containerd:1f\n", true, 0, "/a/kubepods-x.slice:cri-containerd:1f",
		   false);
	check_line("0::/a (deleted)\n", true, 0, "/a", true);
	check_line("0::/a (deleted) (deleted)\n", true, 0, "/a (deleted)", true);
	check_line("0::/a b\n", true, 0, "/a b", false);
	/* "0:name=x:" is a v1 line all the same */
	check_line("0:name=x:/y\n", false, 0, "/y", false);
}

static void test_cgroup_lines_broken(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"",       "\n",      "garbage\n", "0:/\n",   "::/\n",     "0::\n",       "0::a\n",
		"x::/\n", "-1::/\n", "0 ::/\n",   " 0::/\n", ":cpu:/a\n", "0:cpu\n/a\n", "1:cpu:relative\n",
	};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		const char *at = texts[i];
		struct cgroup_line line;
		assert_case(!mounts_next_cgroup_line(&at, &line), texts[i]);
		assert_case(*at == '\0', texts[i]);
	}
	/* broken ones are passed over */
	const char *at = "junk\n3:cpu:/a\n\n0::x\n0::/b";
	struct cgroup_line line;
	assert_true(mounts_next_cgroup_line(&at, &line));
	assert_int_equal(line.controllers, CONTROLLER_CPU);
	assert_true(mounts_next_cgroup_line(&at, &line));
	assert_true(line.is_v2);
	assert_false(mounts_next_cgroup_line(&at, &line));
}

static void check_mounts(const char *text, size_t n, const char *const points[])
{
	struct cgroup_mounts m;
	assert_int_equal(mounts_parse(text, &m, NULL), 0);
	assert_case(m.n == n, text);
	for (size_t i = 0; i < n; i++) {
		if (strcmp(m.list[i].point, points[i]) != 0)
			print_error("mount %zu is at %s\n", i, m.list[i].point);
		assert_case(strcmp(m.list[i].point, points[i]) == 0, text);
	}
	mounts_release(&m);
	assert_int_equal(m.n, 0);
	assert_null(m.list);
}

static void test_mountinfo(void **state)
{
	(void)state;
	struct cgroup_mounts m;
	assert_int_equal(
		mounts_parse(
			"22 1 0:20 / /proc rw - proc proc rw\n"
			"30 22 0:26 /docker/1 /sys/fs/cgroup/cpu,cpuacct ro,nosuid shared:5 master:1 - cgroup cgroup rw,cpu,cpuacct\n"
			"31 22 0:27 / /sys/fs/cgroup/unified rw - cgroup2 cgroup2 rw,nsdelegate\n"
			"32 22 0:28 / /sys/fs/cgroup/systemd rw - cgroup cgroup rw,xattr,name=systemd",
			&m, NULL),
		0);
	assert_int_equal(m.n, 3);
	assert_false(m.list[0].is_v2);
	assert_int_equal(m.list[0].controllers, CONTROLLER_CPU | CONTROLLER_CPUACCT);
	assert_string_equal(m.list[0].root, "/docker/1");
	assert_string_equal(m.list[0].point, "/sys/fs/cgroup/cpu,cpuacct");
	assert_true(m.list[1].is_v2);
	assert_int_equal(m.list[1].controllers, 0);
	assert_int_equal(m.list[2].controllers, 0);
	mounts_release(&m);
}

static void test_mountinfo_fields(void **state)
{
	(void)state;
	/* a lone "-" in front of the type, and nothing else, is the separator */
	check_mounts("1 0 0:1 /a-b /cg rw shared:1 master:2 propagate_from:3 unbindable - cgroup2 - rw\n", 1,
		     (const char *[]){"/cg"});
	check_mounts("1 0 0:1 / /cg rw - tmpfs cgroup2 rw\n", 0, NULL);
	check_mounts("1 0 0:1 / /cg rw - cgroup2x cgroup2 rw\n", 0, NULL);
	check_mounts("1 0 0:1 / /cg rw cgroup2 cgroup2 rw\n", 0, NULL);
	check_mounts("1 0 0:1 / /cg rw -\n", 0, NULL);
	check_mounts("1 0 0:1 / /cg rw - cgroup2\n", 1, (const char *[]){"/cg"});
	check_mounts("1 0 0:1 relative /cg rw - cgroup2 x rw\n", 0, NULL);
	check_mounts("1 0 0:1 / relative rw - cgroup2 x rw\n", 0, NULL);
	check_mounts("", 0, NULL);
	check_mounts("\n\n \n-\n- - - - - - -\n", 0, NULL);
	/* double blanks make empty fields: not well-formed */
	check_mounts("1 0 0:1  /cg rw - cgroup2 x rw\n", 0, NULL);
}

static void test_mountinfo_octal(void **state)
{
	(void)state;
	struct cgroup_mounts m;
	assert_int_equal(
		mounts_parse("1 0 0:1 /x\\134x2d.scope /a\\040b\\011c\\012d\\134e\\ rw - cgroup2 none rw\n", &m, NULL),
		0);
	assert_int_equal(m.n, 1);
	assert_string_equal(m.list[0].root, "/x\\x2d.scope");
	assert_string_equal(m.list[0].point, "/a b\tc\nd\\e\\");
	mounts_release(&m);
	/* what is no octal escape stays */
	assert_int_equal(mounts_parse("1 0 0:1 / /a\\08b\\0 rw - cgroup2 none rw\n", &m, NULL), 0);
	assert_string_equal(m.list[0].point, "/a\\08b\\0");
	mounts_release(&m);
}

static void test_mountinfo_hidden(void **state)
{
	(void)state;
	/* a tmpfs over /sys/fs/cgroup hides what was mounted there before */
	check_mounts("1 0 0:1 / / rw - ext4 d rw\n"
		     "2 1 0:2 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		     "3 2 0:3 / /sys/fs/cgroup rw - tmpfs cgroup2 rw\n",
		     0, NULL);
	/* over a folder above it */
	check_mounts("1 0 0:1 / / rw - ext4 d rw\n"
		     "2 1 0:2 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		     "3 1 0:3 / /sys rw - sysfs s rw\n",
		     0, NULL);
	/* a mount beside it whose name begins alike hides nothing */
	check_mounts("1 0 0:1 / / rw - ext4 d rw\n"
		     "2 1 0:2 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		     "3 1 0:3 / /sys/fs/cg rw - tmpfs s rw\n",
		     1, (const char *[]){"/sys/fs/cgroup"});
	/* below it, neither */
	check_mounts("1 0 0:1 / / rw - ext4 d rw\n"
		     "2 1 0:2 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"
		     "3 2 0:3 / /sys/fs/cgroup/x rw - tmpfs s rw\n",
		     1, (const char *[]){"/sys/fs/cgroup"});
	/* a parent that stands behind its child in the table hides nothing */
	check_mounts("39 38 0:22 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n"
		     "38 36 0:21 / /sys rw - sysfs sysfs rw\n"
		     "36 36 0:2 / / rw - rootfs rootfs rw\n",
		     1, (const char *[]){"/sys/fs/cgroup"});
	/* mounted twice at one place: the later one is seen */
	check_mounts("1 0 0:1 / / rw - ext4 d rw\n"
		     "2 1 0:2 /a /cg rw - cgroup2 cgroup2 rw\n"
		     "3 2 0:2 /b /cg rw - cgroup2 cgroup2 rw\n",
		     1, (const char *[]){"/cg"});
	/* parents in a circle end */
	check_mounts("1 2 0:1 / /cg rw - cgroup2 c rw\n"
		     "2 1 0:2 / / rw - ext4 d rw\n"
		     "3 1 0:3 / / rw - ext4 d rw\n",
		     0, NULL);
}

/* CPU time for `size` bytes of cgroup2 mounts at one place, or each at a place of its own. */
static int64_t time_to_parse(size_t size, bool own_places)
{
	char *text = malloc(size);
	assert_non_null(text);
	size_t used = 0;
	for (unsigned id = 2; used < size - 128; id++)
		used += (size_t)sprintf(text + used,
					own_places ? "%u 1 0:2 / /cg%u rw - cgroup2 cgroup2 rw\n"
						   : "%u 1 0:2 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n",
					id, id);
	struct cgroup_mounts m = {0};
	int64_t start_ns = clock_process_cpu_ns();
	int rc = mounts_parse(text, &m, NULL);
	int64_t took_ns = clock_process_cpu_ns() - start_ns;
	assert_true(rc == 0 || rc == -E2BIG);
	if (rc == 0)
		mounts_release(&m);
	free(text);
	return took_ns;
}

/* 16 times as much text must not take 256 times as long: no bound in seconds, which emulated CPUs would miss. */
static void assert_no_square(bool own_places)
{
	enum { SMALL = 1 << 20, LARGE = 16 << 20 };
	int64_t small_ns = time_to_parse(SMALL, own_places);
	assert_true(time_to_parse(LARGE, own_places) < 100 * (small_ns + NSEC_PER_MSEC));
}

static void test_mountinfo_huge(void **state)
{
	(void)state;
	assert_no_square(false);
}

static void test_mountinfo_huge_visible(void **state)
{
	(void)state;
	assert_no_square(true);
}

static void test_below(void **state)
{
	(void)state;
	static const struct {
		const char *root, *path, *below;
	} cases[] = {
		{"/", "/", ""},
		{"/", "/a", "/a"},
		{"/", "/a/b", "/a/b"},
		{"/a", "/a", ""},
		{"/a", "/a/", ""},
		{"/a", "/a/b", "/b"},
		{"/a", "/ab", NULL},
		{"/a", "/", NULL},
		{"/a/b", "/a", NULL},
		{"/", "/../x", NULL},
		{"/", "/a/..", NULL},
		{"/a", "/a/../b", NULL},
		{"/", "/..", NULL},
		{"/..", "/../x", "/x"},
		{"/../..", "/../../group", "/group"},
		{"/../..", "/../group", NULL},
		{"/..", "/../../x", NULL},
		{"/..", "/", NULL},
		{"/", "/..x", "/..x"},
		{"/", "/x..", "/x.."},
		{"/", "/...", "/..."},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		const char *below = mounts_below(cases[i].root, cases[i].path);
		assert_case(cases[i].below ? below && strcmp(below, cases[i].below) == 0 : !below, cases[i].path);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_controllers),
		cmocka_unit_test(test_cgroup_lines),
		cmocka_unit_test(test_cgroup_lines_broken),
		cmocka_unit_test(test_mountinfo),
		cmocka_unit_test(test_mountinfo_fields),
		cmocka_unit_test(test_mountinfo_octal),
		cmocka_unit_test(test_mountinfo_hidden),
		cmocka_unit_test(test_mountinfo_huge),
		cmocka_unit_test(test_mountinfo_huge_visible),
		cmocka_unit_test(test_below),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
