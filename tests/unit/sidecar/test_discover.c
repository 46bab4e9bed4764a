/* Finding the neighbours: texts of /proc as tables, recorded trees, and a /proc that changes between two scans. */
#include "tests/unit/check.h"

#include "sidecar/discover.h"

#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/wait.h>

#define PAUSE "6210c0bf05396716df932f0729df69de0533933e5ad9871fd07b61811c4c28df"
#define WEB   "4b5e57f6eb2f42b9039b3d1e13929295f231749c510cbe341cd68036d9af97e2"
#define PROXY "1241936d4dd3aad68fe7bfbdfe854b935926bc678fc72377e15166078916227a"
#define APP   "a172cedcae47474b615c54d510a5d84a8dea3032e958587430b413538be3f333"
#define POD   "5f6e0a1c-3c7e-4a0b-9d54-2b8e7a61c9f0"

/* ---- texts ----------------------------------------------------------------------------------------------------------
 */

static void test_container_of(void **state)
{
	(void)state;
	static const struct {
		const char *own, *text, *id; /* id "" = none */
		bool relative;
	} cases[] = {
		/* private cgroup namespaces, v2 */
		{"0::/\n", "0::/../cri-containerd-" WEB ".scope\n", WEB, true},
		{"0::/\n", "0::/../../crio-" WEB ".scope/container\n", WEB, true},
		{"0::/\n", "0::/../" WEB "\n", WEB, true},
		{"0::/\n", "0::/../docker-" WEB ".scope\n", WEB, true},
		{"0::/\n", "0::/../../libpod-" WEB ".scope/container\n", WEB, true},
		{"0::/\n", "0::/../kubepods-pod1.slice:cri-containerd:" WEB "\n", WEB, true},
		/* systemd in a container, and Docker in it: the outer one is the container */
		{"0::/\n", "0::/../docker-" WEB ".scope/system.slice/nginx.service\n", WEB, true},
		{"0::/\n", "0::/../cri-containerd-" WEB ".scope/docker/" APP "\n", WEB, true},
		/* ours, and what is below it */
		{"0::/\n", "0::/\n", "", false},
		{"0::/\n", "0::/docker/" APP "\n", "", false},
		{"0::/sub\n", "0::/other\n", "", false},
		/* others that are no containers */
		{"0::/\n", "0::/../../../init.scope\n", "", true},
		{"0::/\n", "0::/..\n", "", true},
		{"0::/\n", "0::/../crio-conmon-" WEB ".scope\n", "", true},
		{"0::/\n", "0::/../cri-containerd-" WEB "0.scope\n", "", true},
		{"0::/\n", "0::/../cri-containerd-4B5E57F6.scope\n", "", true},
		{"0::/\n", "0::/..x/" WEB "\n", "", false},
		{"0::/\n", "0::/../cri-containerd-" WEB ".scope (deleted)\n", "", false},
		{"0::/\n", "", "", false},
		{"0::/\n", "garbage\n", "", false},
		{"", "0::/../cri-containerd-" WEB ".scope\n", "", false},
		/* the host's cgroup namespace: whole paths */
		{"0::/a/docker-" APP ".scope\n", "0::/a/docker-" WEB ".scope\n", WEB, false},
		{"0::/a/docker-" APP ".scope\n", "0::/a/docker-" APP ".scope\n", "", false},
		{"0::/a/docker-" APP ".scope\n", "0::/a/docker-" APP ".scope/" WEB "\n", WEB, false},
		{"0::/a/docker-" APP ".scope/x\n", "0::/a/docker-" APP ".scope/y\n", "", false},
		{"0::/a/docker-" APP ".scope\n", "0::/a\n", "", false},
		{"0::/a/docker-" APP ".scope\n", "0::/init.scope\n", "", false},
		/* a kind node is a container itself */
		{"0::/docker/" APP "/kubelet/" PROXY "\n", "0::/docker/" APP "/kubelet/" WEB "\n", WEB, false},
		/* a bare host: others' containers are no neighbours */
		{"0::/user.slice/session-3.scope\n", "0::/system.slice/docker-" WEB ".scope\n", "", false},
		{"0::/\n", "0::/system.slice/docker-" WEB ".scope\n", "", false},
		/* v1, and a v2 line that says nothing */
		{"3:cpu:/docker/" APP "\n0::/x\n", "3:cpu:/docker/" WEB "\n0::/x\n", WEB, false},
		{"3:cpu:/docker/" APP "\n", "3:cpu:/docker/" WEB "/sub\n", WEB, false},
		{"3:cpu:/\n0::/\n", "3:cpu:/../" WEB "\n0::/\n", WEB, true},
		/* another hierarchy is no comparison */
		{"3:cpu:/docker/" APP "\n", "4:pids:/docker/" WEB "\n", "", false},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char id[CONTAINER_ID_LEN + 1] = "";
		bool relative = false;
		bool found = discovery_container_of(cases[i].own, cases[i].text, id, &relative);
		assert_case(found == (cases[i].id[0] != '\0'), cases[i].text);
		assert_case(!found || strcmp(id, cases[i].id) == 0, cases[i].text);
		assert_case(relative == cases[i].relative, cases[i].text);
	}
}

#define MOUNT(root) "1211 1205 254:1 " root " /dev/termination-log rw - ext4 /dev/vda1 rw"

static void test_mounts(void **state)
{
	(void)state;
	static const struct {
		const char *line, *uid, *name;
	} cases[] = {
		{MOUNT("/var/lib/kubelet/pods/" POD "/containers/web/1a2b3c4d"), POD, "web"},
		{MOUNT("/pods/" POD "/containers/web-2/1a2b3c4d"), POD, "web-2"},
		/* a static pod's uid is a hash; some clusters move the kubelet's folder */
		{MOUNT("/data/pods/x/pods/0123456789abcdef0123456789abcdef/containers/a/1a2b3c4d"),
		 "0123456789abcdef0123456789abcdef", "a"},
		{MOUNT("/var/lib/kubelet/pods/" POD "/etc-hosts"), POD, ""},
		/* nothing of the kubelet's own */
		{MOUNT("/var/lib/kubelet/pods/" POD "/etc-hosts2"), "", ""},
		{MOUNT("/var/lib/kubelet/pods/" POD "/volumes/kubernetes.io~empty-dir/v"), "", ""},
		{MOUNT("/var/lib/kubelet/pods/" POD "/containers/web/1a2b3c4"), "", ""},
		{MOUNT("/var/lib/kubelet/pods/" POD "/containers/web/1a2b3c4d5"), "", ""},
		{MOUNT("/var/lib/kubelet/pods/" POD "/containers/web/1a2b3c4d/x"), "", ""},
		{MOUNT("/var/lib/kubelet/pods/" POD "/containers//1a2b3c4d"), "", ""},
		{MOUNT("/var/lib/kubelet/pods//containers/web/1a2b3c4d"), "", ""},
		{MOUNT("/pods/" POD), "", ""},
		{MOUNT("/"), "", ""},
		/* what could start a log line of its own, or is no label */
		{MOUNT("/pods/" POD "/containers/we\\012b/1a2b3c4d"), "", ""},
		{MOUNT("/pods/" POD "/containers/we\x1b[2Jb/1a2b3c4d"), "", ""},
		{MOUNT("/pods/\xff\xfe/containers/web/1a2b3c4d"), "", ""},
		{MOUNT("/pods/" POD "/containers/"
		       "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa/1a2b3c4d"),
		 "", ""},
		/* the mount point and the source may say anything */
		{"1 2 3:4 / /pods/" POD "/containers/web/1a2b3c4d rw - ext4 x rw", "", ""},
		{"1 2 3:4 / / rw - ext4 /pods/" POD "/containers/web/1a2b3c4d rw", "", ""},
		{"", "", ""},
		{"1 2 3:4", "", ""},
		{"1 2 3:4 /pods/" POD "/containers/web/1a2b3c4d", "", ""},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char uid[POD_UID_SIZE] = "";
		char name[NEIGHBOUR_NAME_SIZE] = "";
		bool named = discovery_read_mount(cases[i].line, strlen(cases[i].line), uid, name);
		assert_case(strcmp(uid, cases[i].uid) == 0, cases[i].line);
		assert_case(strcmp(name, cases[i].name) == 0, cases[i].line);
		assert_case(named == (cases[i].name[0] != '\0'), cases[i].line);
	}
}

static void test_mounts_keep_what_is_known(void **state)
{
	(void)state;
	static const char line[] = MOUNT("/pods/" POD "/containers/web/1a2b3c4d");
	char uid[POD_UID_SIZE] = "first";
	char name[NEIGHBOUR_NAME_SIZE] = "first";
	discovery_read_mount(line, sizeof line - 1, uid, name);
	assert_string_equal(uid, "first");
	assert_string_equal(name, "first");
}

/* ---- recorded trees
 * -------------------------------------------------------------------------------------------------- */

static struct discovery d;

static int open_tree(const char *path, const char *container)
{
	struct fault f = {0};
	CLEANUP_TREE struct tree t = TREE_CLOSED;
	assert_int_equal(tree_open(&t, path, &f), 0);
	int rc = discovery_open(&d, &t, container, &f);
	return rc < 0 ? rc : discovery_scan(&d, &f);
}

#define FIXTURE "tests/fixtures/discover/"

static void test_kubernetes(void **state)
{
	(void)state;
	int32_t pids[8];
	assert_int_equal(open_tree(FIXTURE "kubernetes-v2", NULL), 1);
	assert_int_equal(d.way, DISCOVERY_SHARED);
	assert_string_equal(d.own_pod_uid, POD);
	assert_string_equal(d.own_name, "headroom");
	assert_int_equal(d.n, 2);
	const struct neighbour *web = discovery_find(&d, WEB);
	const struct neighbour *proxy = discovery_find(&d, PROXY);
	assert_non_null(web);
	assert_non_null(proxy);
	assert_string_equal(web->name, "web");
	assert_string_equal(web->pod_uid, POD);
	assert_int_equal(web->n_processes, 2);
	assert_int_equal(web->n_pids, 2);
	assert_int_equal(web->pids[0], 7);
	assert_int_equal(web->pids[1], 31);
	assert_true(web->is_new);
	assert_string_equal(proxy->name, "proxy");
	assert_int_equal(proxy->pids[0], 19);
	assert_int_equal(discovery_pids(&d, WEB, pids, ARRAY_LEN(pids)), 2);
	assert_int_equal(discovery_pids(&d, WEB, pids, 1), 1);
	assert_int_equal(discovery_pids(&d, APP, pids, ARRAY_LEN(pids)), 0);
	assert_int_equal(discovery_pids(&d, "", pids, ARRAY_LEN(pids)), 0);
	/* nothing has changed */
	assert_int_equal(discovery_scan(&d, NULL), 0);
	assert_int_equal(d.n, 2);
	assert_false(discovery_find(&d, WEB)->is_new);
	discovery_close(&d);
}

static void test_ways(void **state)
{
	(void)state;
	static const struct {
		const char *tree;
		enum discovery_way way;
		size_t n;
		const char *id, *name, *label;
		int32_t pid;
	} cases[] = {
		{FIXTURE "kubernetes-waiting", DISCOVERY_SHARED, 0, NULL, NULL, NULL, 0},
		{FIXTURE "crio-crun", DISCOVERY_SHARED, 1, WEB, "web", "web", 8},
		{FIXTURE "docker-v2", DISCOVERY_SHARED, 1, APP, "", "a172cedcae47", 1},
		{FIXTURE "docker-v1", DISCOVERY_SHARED, 1, APP, "", "a172cedcae47", 1},
		{FIXTURE "bare-host", DISCOVERY_NOT_CONTAINED, 0, NULL, NULL, NULL, 0},
		{FIXTURE "host-pid", DISCOVERY_SHARED, 1, WEB, "web", "web", 510},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char label[NEIGHBOUR_NAME_SIZE];
		assert_case(open_tree(cases[i].tree, NULL) == (cases[i].n > 0), cases[i].tree);
		assert_case(d.way == cases[i].way, cases[i].tree);
		assert_case(d.n == cases[i].n, cases[i].tree);
		if (d.n) {
			assert_case(strcmp(d.list[0].id, cases[i].id) == 0, cases[i].tree);
			assert_case(strcmp(d.list[0].name, cases[i].name) == 0, cases[i].tree);
			assert_case(strcmp(neighbour_label(&d.list[0], label), cases[i].label) == 0, cases[i].tree);
			assert_case(d.list[0].pids[0] == cases[i].pid, cases[i].tree);
		}
		discovery_close(&d);
	}
}

static void test_selection(void **state)
{
	(void)state;
	static const struct {
		const char *container;
		const char *id; /* NULL: nobody */
	} cases[] = {
		{"web", WEB},    {"proxy", PROXY},   {"4b5e", WEB},          {WEB, WEB}, {"4b5", NULL}, {"we", NULL},
		{"pause", NULL}, {"headroom", NULL}, {"6210c0bf0539", NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_case(open_tree(FIXTURE "kubernetes-v2", cases[i].container) == (cases[i].id != NULL),
			    cases[i].container);
		assert_case(d.way == DISCOVERY_SHARED, cases[i].container);
		assert_case(d.n == (cases[i].id ? 1 : 0), cases[i].container);
		assert_case(!cases[i].id || strcmp(d.list[0].id, cases[i].id) == 0, cases[i].container);
		discovery_close(&d);
	}
}

static void test_selection_that_cannot_be(void **state)
{
	(void)state;
	static const char *const cases[] = {"", "a b", "we\nb", "a/b", WEB "0"};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fault f = {0};
		CLEANUP_TREE struct tree t = TREE_CLOSED;
		assert_int_equal(tree_open(&t, FIXTURE "kubernetes-v2", &f), 0);
		assert_fault(discovery_open(&d, &t, cases[i], &f), &f, EINVAL);
	}
}

enum { MEMBERS_TRIED = 64 };

/* ---- a /proc that changes
 * -------------------------------------------------------------------------------------------- */

static char folder[64];

static int setup(void **state)
{
	(void)state;
	folder_make(folder);
	file_write(folder, "proc/self/cgroup", "0::/\n");
	file_write(folder, "proc/self/mountinfo", MOUNT("/pods/" POD "/containers/headroom/1a2b3c4d") "\n");
	file_write(folder, "proc/1/cgroup", "0::/../cri-containerd-" PAUSE ".scope\n");
	file_write(folder, "proc/1/comm", "pause\n");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	discovery_close(&d);
	folder_remove(folder);
	return 0;
}

static void add_process(int pid, const char *id, const char *comm)
{
	char path[64];
	char text[256];
	snprintf(path, sizeof path, "proc/%d/comm", pid);
	file_write(folder, path, comm);
	snprintf(path, sizeof path, "proc/%d/cgroup", pid);
	snprintf(text, sizeof text, "0::/../cri-containerd-%s.scope\n", id);
	file_write(folder, path, text);
}

static void end_process(int pid)
{
	static const char *const files[] = {"comm", "cgroup", "mountinfo", NULL};
	char path[192];
	for (int i = 0; files[i]; i++) {
		snprintf(path, sizeof path, "%s/proc/%d/%s", folder, pid, files[i]);
		unlink(path);
	}
	snprintf(path, sizeof path, "%s/proc/%d", folder, pid);
	assert_int_equal(rmdir(path), 0);
}

static void test_start_restart_end(void **state)
{
	(void)state;
	assert_int_equal(open_tree(folder, NULL), 0);
	assert_int_equal(d.way, DISCOVERY_SHARED);
	assert_int_equal(d.n, 0);
	add_process(10, WEB, "app\n");
	assert_int_equal(discovery_scan(&d, NULL), 1);
	assert_int_equal(d.n, 1);
	assert_string_equal(d.list[0].name, "");
	/* its mounts were set up a moment later */
	file_write(folder, "proc/10/mountinfo", MOUNT("/pods/" POD "/containers/web/1a2b3c4d") "\n");
	assert_int_equal(discovery_scan(&d, NULL), 0);
	assert_string_equal(d.list[0].name, "web");
	end_process(10);
	add_process(15, APP, "app\n");
	assert_int_equal(discovery_scan(&d, NULL), 1);
	assert_int_equal(d.n, 1);
	assert_string_equal(d.list[0].id, APP);
	assert_true(d.list[0].is_new);
	assert_null(discovery_find(&d, WEB));
	end_process(15);
	end_process(1);
	assert_int_equal(discovery_scan(&d, NULL), 1);
	assert_int_equal(d.n, 0);
	/* once shared, it stays shared */
	assert_int_equal(d.way, DISCOVERY_SHARED);
}

/* After the numbers have wrapped, a short-lived child has the lowest one. */
static void test_first_pid_stays(void **state)
{
	(void)state;
	add_process(300, WEB, "app\n");
	assert_int_equal(open_tree(folder, NULL), 1);
	add_process(20, WEB, "sh\n");
	assert_int_equal(discovery_scan(&d, NULL), 0);
	assert_int_equal(d.list[0].pids[0], 300);
	assert_int_equal(d.list[0].pids[1], 20);
	end_process(300);
	assert_int_equal(discovery_scan(&d, NULL), 0);
	assert_int_equal(d.list[0].pids[0], 20);
	assert_int_equal(d.list[0].n_pids, 1);
}

static void test_only_the_lowest_are_kept(void **state)
{
	(void)state;
	for (int pid = 29; pid >= 20; pid--)
		add_process(pid, WEB, "app\n");
	assert_int_equal(open_tree(folder, NULL), 1);
	assert_int_equal(d.list[0].n_processes, 10);
	assert_int_equal(d.list[0].n_pids, NEIGHBOUR_PIDS_MAX);
	for (int i = 0; i < NEIGHBOUR_PIDS_MAX; i++)
		assert_int_equal(d.list[0].pids[i], 20 + i);
}

/* An application may call itself pause among others; a container that holds nothing else is a pod's pause. */
static void test_pause(void **state)
{
	(void)state;
	add_process(10, WEB, "pause\n");
	add_process(11, WEB, "app\n");
	add_process(12, APP, "pause\n");
	add_process(13, PROXY, "pauses\n");
	assert_int_equal(open_tree(folder, NULL), 1);
	assert_int_equal(d.n, 2);
	assert_non_null(discovery_find(&d, WEB));
	assert_non_null(discovery_find(&d, PROXY));
}

static void test_alone(void **state)
{
	(void)state;
	file_write(folder, "proc/1/cgroup", "0::/\n");
	file_write(folder, "proc/self/cgroup", "0::/a/docker-" APP ".scope\n");
	assert_int_equal(open_tree(folder, NULL), 0);
	assert_int_equal(d.way, DISCOVERY_ALONE);
}

static void test_more_than_fit(void **state)
{
	(void)state;
	for (int i = 0; i < NEIGHBOURS_MAX + 6; i++) {
		char id[CONTAINER_ID_LEN + 1];
		snprintf(id, sizeof id, "%064x", i + 1);
		add_process(100 + i, id, "app\n");
	}
	assert_int_equal(open_tree(folder, NULL), 1);
	assert_true(d.truncated);
	/* pause takes a place, too, if it is seen early */
	assert_in_range(d.n, NEIGHBOURS_MAX - 1, NEIGHBOURS_MAX);
	for (int i = 0; i < NEIGHBOURS_MAX + 6; i += 2)
		end_process(100 + i);
	assert_int_equal(discovery_scan(&d, NULL), 1);
	assert_false(d.truncated);
	assert_int_equal(d.n, (NEIGHBOURS_MAX + 6) / 2);
}

/* Files that a process of the tree cannot have: none may block, follow, or be handed on. */
static void test_hostile_files(void **state)
{
	(void)state;
	char path[128];
	add_process(10, WEB, "app\n");
	file_write(folder, "proc/11/comm", "x");
	snprintf(path, sizeof path, "%s/proc/11/cgroup", folder);
	assert_int_equal(mkfifo(path, 0666), 0);
	file_write(folder, "proc/12/comm", "x");
	snprintf(path, sizeof path, "%s/proc/12/cgroup", folder);
	assert_int_equal(symlink("../10/cgroup", path), 0);
	snprintf(path, sizeof path, "%s/proc/13", folder);
	assert_int_equal(symlink("10", path), 0);
	file_write_bytes(folder, "proc/14/cgroup", "0::/../\0" WEB "\n", 74);
	snprintf(path, sizeof path, "%s/proc/10/mountinfo", folder);
	assert_int_equal(mkfifo(path, 0666), 0);
	assert_int_equal(open_tree(folder, NULL), 1);
	assert_int_equal(d.n, 1);
	assert_int_equal(d.list[0].n_processes, 1);
	assert_string_equal(d.list[0].name, "");
}

/* 3 MB of mounts, one line longer than any buffer with a forged name at its end, and then the real one. */
static void test_huge_mountinfo(void **state)
{
	(void)state;
	enum { FILLER = 200, LONG = 40000, LINES = 3000 };
	add_process(10, WEB, "app\n");
	static char text[LONG + LINES * FILLER + 1000];
	static const char forged[] = " 1 0:1 /pods/" POD "/containers/forged/1a2b3c4d / rw - x x rw\n";
	size_t len = LONG;
	memset(text, 'x', LONG);
	memcpy(text + len, forged, sizeof forged - 1);
	len += sizeof forged - 1;
	for (int i = 0; i < LINES; i++) {
		int n = snprintf(text + len, FILLER + 1, "%d 1 0:1 / /%0*d rw - tmpfs tmpfs rw\n", i, FILLER - 60, i);
		len += (size_t)n;
	}
	len += (size_t)snprintf(text + len, sizeof text - len, "%s\n", MOUNT("/pods/" POD "/containers/web/1a2b3c4d"));
	file_write_bytes(folder, "proc/10/mountinfo", text, len);
	assert_int_equal(open_tree(folder, NULL), 1);
	assert_string_equal(d.list[0].name, "web");
}

static void test_errors(void **state)
{
	(void)state;
	struct fault f = {0};
	CLEANUP_TREE struct tree t = TREE_CLOSED;
	char path[128];
	assert_int_equal(open_tree(folder, NULL), 0);
	snprintf(path, sizeof path, "%s/proc/self/cgroup", folder);
	unlink(path);
	assert_fault(discovery_scan(&d, &f), &f, ENOENT);
	discovery_close(&d);
	snprintf(path, sizeof path, "%s/proc/self", folder);
	assert_int_equal(tree_open(&t, path, &f), 0);
	assert_fault(discovery_open(&d, &t, NULL, &f), &f, ENOENT);
	assert_int_equal(discovery_pids(&d, WEB, NULL, 0), 0);
	assert_null(discovery_find(&d, WEB));
}

/* Short of descriptors, nothing is gone. */
static void test_no_descriptors(void **state)
{
	(void)state;
	struct fault f = {0};
	int taken[64];
	int n = 0;
	add_process(10, WEB, "app\n");
	assert_int_equal(open_tree(folder, NULL), 1);
	int fd = dup(0);
	close(fd);
	struct rlimit before;
	assert_int_equal(getrlimit(RLIMIT_NOFILE, &before), 0);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &(struct rlimit){(rlim_t)fd + 1, before.rlim_max}), 0);
	while (n < (int)ARRAY_LEN(taken) && (taken[n] = dup(0)) >= 0)
		n++;
	int rc = discovery_scan(&d, &f);
	while (n > 0)
		close(taken[--n]);
	assert_int_equal(setrlimit(RLIMIT_NOFILE, &before), 0);
	assert_fault(rc, &f, EMFILE);
	assert_int_equal(d.n, 1);
	assert_int_equal(discovery_scan(&d, &f), 0);
}

/* In pieces the result is the same; a scan in between begins anew. */
static void test_steps(void **state)
{
	(void)state;
	for (int pid = 100; pid < 200; pid++)
		add_process(pid, pid % 2 ? WEB : APP, "app\n");
	int32_t pids[MEMBERS_TRIED];
	assert_int_equal(open_tree(folder, NULL), 1);
	add_process(300, PROXY, "app\n");
	int steps = 0;
	int rc;
	while ((rc = discovery_step(&d, 1, NULL)) == DISCOVERY_MORE) {
		assert_int_equal(d.n, 2);
		assert_true(++steps < 100);
	}
	assert_int_equal(rc, 1);
	assert_true(steps >= 100 / 16);
	assert_int_equal(d.n, 3);
	assert_int_equal(discovery_find(&d, WEB)->n_processes, 50);
	assert_int_equal(discovery_pids(&d, WEB, pids, MEMBERS_TRIED), 50);
	assert_int_equal(discovery_step(&d, 1, NULL), DISCOVERY_MORE);
	assert_int_equal(discovery_scan(&d, NULL), 0);
	assert_int_equal(discovery_find(&d, WEB)->n_processes, 50);
	assert_int_equal(discovery_step(&d, 0, NULL), 0);
}

/* The real /proc while processes come and go as fast as they can: no scan fails. */
static void test_live_churn(void **state)
{
	(void)state;
	struct fault f = {0};
	pid_t forker = fork();
	assert_true(forker >= 0);
	if (forker == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		signal(SIGCHLD, SIG_IGN);
		for (;;) {
			if (fork() == 0)
				_exit(0);
			usleep(500);
		}
	}
	int failed = open_tree("/", NULL) < 0;
	enum discovery_way way = d.way;
	for (int i = 0; i < 50 && !failed; i++)
		failed = discovery_scan(&d, &f) < 0;
	kill(forker, SIGKILL);
	assert_int_equal(waitpid(forker, NULL, 0), forker);
	assert_false(failed);
	assert_int_equal(d.way, way);
	discovery_close(&d);
}

static void test_pause_between_scans(void **state)
{
	(void)state;
	struct discovery x = DISCOVERY_CLOSED;
	assert_true(discovery_pause_ns(&x) == 3 * NSEC_PER_SEC);
	x.scan_cpu_ns = 20 * NSEC_PER_MSEC;
	assert_true(discovery_pause_ns(&x) == 10 * NSEC_PER_SEC);
	x.scan_cpu_ns = NSEC_PER_SEC;
	assert_true(discovery_pause_ns(&x) == 60 * NSEC_PER_SEC);
}

static void test_owner_of_a_target(void **state)
{
	(void)state;
	char name[] = "/../cri-containerd-" WEB ".scope";
	struct neighbour web = {.id = WEB};
	struct neighbour app = {.id = APP};
	struct cgroup_target t = {.cpu = {.hierarchy = HIERARCHY_V2, .name = name}};
	assert_true(neighbour_owns(&web, &t));
	assert_false(neighbour_owns(&app, &t));
	assert_false(neighbour_owns(&web, &CGROUP_TARGET_NONE));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_container_of),
		cmocka_unit_test(test_mounts),
		cmocka_unit_test(test_mounts_keep_what_is_known),
		cmocka_unit_test(test_kubernetes),
		cmocka_unit_test(test_ways),
		cmocka_unit_test(test_selection),
		cmocka_unit_test(test_selection_that_cannot_be),
		cmocka_unit_test_setup_teardown(test_start_restart_end, setup, teardown),
		cmocka_unit_test_setup_teardown(test_first_pid_stays, setup, teardown),
		cmocka_unit_test_setup_teardown(test_only_the_lowest_are_kept, setup, teardown),
		cmocka_unit_test_setup_teardown(test_pause, setup, teardown),
		cmocka_unit_test_setup_teardown(test_alone, setup, teardown),
		cmocka_unit_test_setup_teardown(test_more_than_fit, setup, teardown),
		cmocka_unit_test_setup_teardown(test_hostile_files, setup, teardown),
		cmocka_unit_test_setup_teardown(test_huge_mountinfo, setup, teardown),
		cmocka_unit_test_setup_teardown(test_errors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_descriptors, setup, teardown),
		cmocka_unit_test_setup_teardown(test_steps, setup, teardown),
		cmocka_unit_test(test_live_churn),
		cmocka_unit_test(test_pause_between_scans),
		cmocka_unit_test(test_owner_of_a_target),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
