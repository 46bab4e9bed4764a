/* Names of pods and containers, and the walk through a tree of the host. */
#include "tests/unit/check.h"

#include "hostview.h"

#define ID_A "3c1f0a9be27d4458a60f9d1b7e52c8341fa0b6d9e7c2458390ab1c2d3e4f5061"
#define ID_B "7be90d42a1c34f6f8d25b0e3f94a6c17d8e2501b9c7f4e3aa6d1835f0c2b9e74"
#define UID  "1f2e3d4c-5b6a-4789-8c9d-0e1f2a3b4c5d"
#define UID_ "1f2e3d4c_5b6a_4789_8c9d_0e1f2a3b4c5d"

static void test_container_id(void **state)
{
	(void)state;
	static const char *const good[] = {
		ID_A,
		ID_A ".scope",
		"cri-containerd-" ID_A ".scope",
		"cri-containerd-" ID_A,
		"crio-" ID_A ".scope",
		"docker-" ID_A ".scope",
		"libpod-" ID_A ".scope",
		"kubepods-burstable-pod" UID_ ".slice:cri-containerd:" ID_A,
		"a:b:" ID_A,
	};
	static const char *const bad[] = {
		"",
		".scope",
		"x" ID_A,
		ID_A "0",
		"3c1f0a9be27d",
		"crio-conmon-" ID_A ".scope",
		"libpod-conmon-" ID_A ".scope",
		"docker-" ID_A ".service",
		"docker-" ID_A ".scope.d",
		"docker-docker-" ID_A ".scope",
		"3C1F0A9BE27D4458A60F9D1B7E52C8341FA0B6D9E7C2458390AB1C2D3E4F5061",
		"gc1f0a9be27d4458a60f9d1b7e52c8341fa0b6d9e7c2458390ab1c2d3e4f5061",
		ID_A ":",
		ID_A ":x",
		"kubepods.slice",
		"init.scope",
	};
	char id[CONTAINER_ID_LEN + 1];
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		memset(id, 'x', sizeof id);
		assert_case(hostview_container_id(good[i], id), good[i]);
		assert_case(strcmp(id, ID_A) == 0, good[i]);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_case(!hostview_container_id(bad[i], id), bad[i]);
}

static void test_is_pod(void **state)
{
	(void)state;
	static const struct {
		const char *name, *uid;
		bool is;
	} cases[] = {
		{"pod" UID, UID, true},
		{"pod" UID_ ".slice", UID, true},
		{"kubepods-pod" UID_ ".slice", UID, true},
		{"kubepods-burstable-pod" UID_ ".slice", UID, true},
		{"kubelet-kubepods-besteffort-pod" UID_ ".slice", UID, true},
		/* the mirror of a static pod: a hash */
		{"podd2f9a1c4b5e6f708192a3b4c5d6e7f80", "d2f9a1c4b5e6f708192a3b4c5d6e7f80", true},
		{"kubepods-burstable-podd2f9a1c4b5e6f708192a3b4c5d6e7f80.slice", "d2f9a1c4b5e6f708192a3b4c5d6e7f80",
		 true},
		{"pod" UID_, UID, false},
		{"pod" UID ".slice", UID, false},
		{"kubepods-burstable-pod" UID_ ".slice:cri-containerd:" ID_A, UID, false},
		{"xpod" UID_ ".slice", UID, false},
		{"pod" UID "0", UID, false},
		{"kubepods-pod" UID_ ".slice", "1f2e3d4c", false},
		{"pod", "", true}, /* an empty uid is refused before this is asked */
		{"", UID, false},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		assert_case(hostview_is_pod(cases[i].name, cases[i].uid) == cases[i].is, cases[i].name);
}

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

#define BURSTABLE "kubepods.slice/kubepods-burstable.slice/"
#define POD       BURSTABLE "kubepods-burstable-pod" UID_ ".slice/"

static void make_v2_tree(void)
{
	file_write(folder, "host/cgroup.controllers", "cpu\n");
	file_write(folder, "host/" POD "cpu.max", "200000 100000\n");
	file_write(folder, "host/" POD "cri-containerd-" ID_A ".scope/cpu.max", "max 100000\n");
	file_write(folder, "host/" POD "crio-conmon-" ID_B ".scope/cpu.max", "max 100000\n");
	file_write(folder,
		   "host/" BURSTABLE
		   "kubepods-burstable-pod00000000_0000_0000_0000_000000000000.slice/cri-containerd-" ID_B
		   ".scope/cpu.max",
		   "max 100000\n");
	file_write(folder, "host/system.slice/docker-" ID_B ".scope/cpu.max", "max 100000\n");
}

static void test_find_pod(void **state)
{
	(void)state;
	struct hostview v;
	struct host_pod p;
	struct fault f = {0};
	make_v2_tree();
	assert_int_equal(hostview_open(&v, &tree, "/host///", NULL), 0);
	assert_int_equal(v.version, CGROUP_V2);
	assert_string_equal(v.v2_point, "/host");
	assert_int_equal(hostview_find(&p, &v, &tree, UID, NULL, NULL), 0);
	assert_string_equal(p.below, "/" BURSTABLE "kubepods-burstable-pod" UID_ ".slice");
	assert_int_equal(p.n, 1);
	assert_string_equal(p.containers[0].id, ID_A);
	assert_non_null(host_pod_container(&p, "3c1f0a9be27d"));
	assert_null(host_pod_container(&p, "3c1f0a9be27e"));
	assert_null(host_pod_container(&p, NULL));
	/* a target below it */
	struct cgroup_target target;
	assert_int_equal(hostview_target(&target, &v, &tree, p.containers[0].below, NULL), 0);
	assert_int_equal(target.cpu_controller, HIERARCHY_V2);
	assert_string_equal(target.cpu.folder, "/host/" POD "cri-containerd-" ID_A ".scope");
	CLEANUP_CLOSE int fd = cgroup_place_open(&target.cpu, &target.tree, NULL);
	assert_true(fd >= 0);
	cgroup_target_release(&target);
	host_pod_release(&p);
	assert_int_equal(p.n, 0);

	assert_fault(hostview_find(&p, &v, &tree, "00000000-0000-0000-0000-00000000000f", NULL, &f), &f, ENOENT);
	hostview_close(&v);
}

/* Containers come in the order of their names, whatever the file system's is; other folders of a pod are none. */
static void test_order(void **state)
{
	(void)state;
	struct hostview v;
	struct host_pod p;
	static const char order[] = "0123456789abcdef";
	make_v2_tree();
	for (size_t i = 0; i < 16; i++) {
		char path[400];
		snprintf(path, sizeof path, "host/" POD "cri-containerd-%c%s.scope/cpu.max", order[(i * 7 + 3) % 16],
			 &ID_A[1]);
		file_write(folder, path, "max\n");
	}
	assert_int_equal(hostview_open(&v, &tree, "/host", NULL), 0);
	assert_int_equal(hostview_find(&p, &v, &tree, UID, NULL, NULL), 0);
	assert_int_equal(p.n, 16);
	for (size_t i = 0; i < p.n; i++)
		assert_int_equal(p.containers[i].id[0], order[i]);
	host_pod_release(&p);
	hostview_close(&v);
}

static void test_find_container(void **state)
{
	(void)state;
	struct hostview v;
	struct host_pod p;
	make_v2_tree();
	assert_int_equal(hostview_open(&v, &tree, "/host", NULL), 0);
	assert_int_equal(hostview_find(&p, &v, &tree, NULL, "3c1f0a9be27d", NULL), 0);
	assert_null(p.below);
	assert_int_equal(p.n, 1);
	assert_string_equal(p.containers[0].below, "/" POD "cri-containerd-" ID_A ".scope");
	host_pod_release(&p);
	hostview_close(&v);
}

static void test_bad_queries(void **state)
{
	(void)state;
	struct hostview v;
	struct host_pod p;
	struct fault f = {0};
	char longer[140];
	memset(longer, 'a', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	const struct {
		const char *uid, *id;
	} cases[] = {
		{"", NULL},
		{"../x", NULL},
		{"a/b", NULL},
		{"a b", NULL},
		{longer, NULL},
		{NULL, NULL},
		{NULL, ""},
		{NULL, "3c1f"},
		{NULL, "3C1F0A9BE27D"},
		{NULL, longer},
		{UID, "containerd://" ID_A},
		{UID, ID_A "00"},
		{"a.b", NULL},
	};
	make_v2_tree();
	assert_int_equal(hostview_open(&v, &tree, "/host", NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_case(hostview_find(&p, &v, &tree, cases[i].uid, cases[i].id, &f) == -EINVAL,
			    cases[i].uid ? cases[i].uid : "(an id)");
		host_pod_release(&p);
	}
	hostview_close(&v);
}

static void test_beginning_of_an_id_is_unique(void **state)
{
	(void)state;
	struct hostview v;
	struct host_pod p;
	struct fault f = {0};
	static const char tail[] = "0123456789012345678901234567890123456789012345678901";
	make_v2_tree();
	for (int i = 0; i < 2; i++) {
		char path[400];
		snprintf(path, sizeof path, "host/docker/%.11s%c%s/cpu.max", "abcdef012345", i ? 'e' : 'd', tail);
		file_write(folder, path, "max\n");
		snprintf(path, sizeof path, "host/docker/%.12s%c%.51s/cpu.max", "fedcba987654", i ? '1' : '2', tail);
		file_write(folder, path, "max\n");
	}
	assert_int_equal(hostview_open(&v, &tree, "/host", NULL), 0);
	assert_int_equal(hostview_find(&p, &v, &tree, NULL, "abcdef01234d", &f), 0);
	assert_int_equal(p.n, 1);
	host_pod_release(&p);
	assert_fault(hostview_find(&p, &v, &tree, NULL, "fedcba987654", &f), &f, EINVAL);
	host_pod_release(&p);
	assert_int_equal(hostview_find(&p, &v, &tree, NULL, "fedcba9876542", &f), 0);
	host_pod_release(&p);
	hostview_close(&v);
}

static void test_open_v1_by_files(void **state)
{
	(void)state;
	struct hostview v;
	file_write(folder, "host/cpu,cpuacct/cgroup.procs", "");
	file_write(folder, "host/cpuset/cgroup.procs", "");
	file_write(folder, "host/memory/cgroup.procs", "");
	file_write(folder, "host/systemd/cgroup.procs", "");
	char path[128];
	snprintf(path, sizeof path, "%s/host/cpu", folder);
	assert_int_equal(symlink("cpu,cpuacct", path), 0);
	assert_int_equal(hostview_open(&v, &tree, "/host", NULL), 0);
	assert_int_equal(v.version, CGROUP_V1);
	assert_string_equal(v.cpu_point, "/host/cpu,cpuacct");
	assert_string_equal(v.cpuacct_point, "/host/cpu,cpuacct");
	assert_string_equal(v.cpuset_point, "/host/cpuset");
	assert_null(v.v2_point);
	hostview_close(&v);
	file_write(folder, "host/unified/cgroup.controllers", "");
	assert_int_equal(hostview_open(&v, &tree, "/host", NULL), 0);
	assert_int_equal(v.version, CGROUP_HYBRID);
	assert_string_equal(v.v2_point, "/host/unified");
	hostview_close(&v);
}

static void test_open_by_mounts(void **state)
{
	(void)state;
	struct hostview v;
	make_v2_tree();
	file_write(
		folder, "proc/self/mountinfo",
		"41 36 0:22 /../../.. /host rw - cgroup2 cgroup2 rw\n39 38 0:22 / /sys/fs/cgroup ro - cgroup2 cgroup rw\n");
	assert_int_equal(hostview_open(&v, &tree, "/host", NULL), 0);
	assert_string_equal(v.v2_point, "/host");
	hostview_close(&v);
	/* without a cpu controller there is no target */
	file_write(folder, "proc/self/mountinfo", "41 36 0:22 / /host/cpuset rw - cgroup c rw,cpuset\n");
	assert_int_equal(hostview_open(&v, &tree, "/host", NULL), 0);
	assert_int_equal(v.version, CGROUP_V1);
	struct cgroup_target target;
	struct fault f = {0};
	assert_fault(hostview_target(&target, &v, &tree, "/x", &f), &f, ENOENT);
	hostview_close(&v);
}

static void test_open_failures(void **state)
{
	(void)state;
	struct hostview v;
	struct fault f = {0};
	file_write(folder, "plain/x", "");
	assert_fault(hostview_open(&v, &tree, "/plain", &f), &f, ENOENT);
	assert_fault(hostview_open(&v, &tree, "/none", &f), &f, ENOENT);
	assert_fault(hostview_open(&v, &tree, "relative", &f), &f, EINVAL);
	hostview_close(&v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_container_id),
		cmocka_unit_test(test_is_pod),
		cmocka_unit_test_setup_teardown(test_find_pod, setup, teardown),
		cmocka_unit_test_setup_teardown(test_order, setup, teardown),
		cmocka_unit_test_setup_teardown(test_find_container, setup, teardown),
		cmocka_unit_test_setup_teardown(test_bad_queries, setup, teardown),
		cmocka_unit_test_setup_teardown(test_beginning_of_an_id_is_unique, setup, teardown),
		cmocka_unit_test_setup_teardown(test_open_v1_by_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_open_by_mounts, setup, teardown),
		cmocka_unit_test_setup_teardown(test_open_failures, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
