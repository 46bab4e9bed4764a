/* Names of pods and containers on a node, and the walk through made trees of three layouts. */
#include "tests/unit/check.h"

#include "sidecar/node.h"

#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

#define ID1   "4b5e57f6eb2f42b9039b3d1e13929295f231749c510cbe341cd68036d9af97e2"
#define ID2   "1241936d4dd3aad68fe7bfbdfe854b935926bc678fc72377e15166078916227a"
#define PAUSE "6210c0bf05396716df932f0729df69de0533933e5ad9871fd07b61811c4c28df"
#define UID1  "5f6e0a1c-3c7e-4a0b-9d54-2b8e7a61c9f0"
#define UID1_ "5f6e0a1c_3c7e_4a0b_9d54_2b8e7a61c9f0"
#define UID2  "0a9b8c7d6e5f40312233445566778899"

static void test_pod_uid(void **state)
{
	(void)state;
	static const struct {
		const char *folder, *uid; /* NULL = none */
	} cases[] = {
		{"pod" UID1, UID1},
		{"kubepods-burstable-pod" UID1_ ".slice", UID1},
		{"kubelet-kubepods-besteffort-pod" UID1_ ".slice", UID1},
		{"kubepods-pod" UID1_ ".slice", UID1},
		{"kubepods-pod" UID2 ".slice", UID2},
		{"pod" UID2, UID2},
		{"kubepods-pod" UID1_ ".slice:cri-containerd:" ID1, UID1},
		{"kubepods.slice", NULL},
		{"kubepods-burstable.slice", NULL},
		{"kubepods", NULL},
		{"podman-123.slice", NULL},
		{"pod", NULL},
		{"pod.slice", NULL},
		{"", NULL},
		{".slice", NULL},
		{"pod" UID1 "x", NULL},
		{"pod" UID1_, NULL},
		{"kubepods-pod" UID1 ".slice", NULL},
		{"kubepods-xpod" UID1_ ".slice", NULL},
		{"pod../../../../../etc/passwd/aaaaaaaaaaa", NULL},
		{"pod" UID1 ":cri-containerd:" ID1, NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char uid[NODE_UID_SIZE] = "untouched";
		bool found = node_pod_uid(cases[i].folder, uid);
		if (found != (cases[i].uid != NULL) || (found && strcmp(uid, cases[i].uid) != 0))
			fail_msg("%s: %s", cases[i].folder, found ? uid : "none");
	}
}

static void test_container_log(void **state)
{
	(void)state;
	struct node_entry e;
	assert_true(node_parse_container_log("web-7d4b9c-x2x_shop_cart-api-" ID1 ".log", &e));
	assert_string_equal(e.pod, "web-7d4b9c-x2x");
	assert_string_equal(e.namespace_name, "shop");
	assert_string_equal(e.container, "cart-api");
	assert_string_equal(e.id, ID1);
	assert_true(node_parse_container_log("a.b_n_c-" ID1 ".log", &e));
	static const char *const bad[] = {
		"",
		".log",
		"_",
		"__",
		"web_shop_cart-" ID1,
		"web_shop_" ID1 ".log",
		"web_shop_-" ID1 ".log",
		"web_shop-" ID1 ".log",
		"_shop_cart-" ID1 ".log",
		"web__cart-" ID1 ".log",
		"web_shop_cart-4b5e57f6.log",
		"we\"b_shop_cart-" ID1 ".log",
		"web_shop_ca\nrt-" ID1 ".log",
		"web_shop_cart_" ID1 ".log",
		"web_0123456789012345678901234567890123456789012345678901234567890123_cart-" ID1 ".log",
	};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (node_parse_container_log(bad[i], &e))
			fail_msg("taken for a log: %s", bad[i]);
}

static void test_pod_log(void **state)
{
	(void)state;
	struct node_entry e;
	assert_true(node_parse_pod_log("shop_web-7d4b9c-x2x_" UID1, &e));
	assert_string_equal(e.namespace_name, "shop");
	assert_string_equal(e.pod, "web-7d4b9c-x2x");
	assert_string_equal(e.uid, UID1);
	assert_true(node_parse_pod_log("kube-system_etcd-node1_" UID2, &e));
	static const char *const bad[] = {"",
					  "_",
					  "__",
					  "shop_web",
					  "shop_web_",
					  "shop_web_123",
					  "_web_" UID1,
					  "shop__" UID1,
					  "shop_web_" UID1 "0",
					  "shop_web_" UID1_};
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		if (node_parse_pod_log(bad[i], &e))
			fail_msg("taken for a pod: %s", bad[i]);
}

/* ---- the walk ---- */

static void make_folders(const char *top, const char *path)
{
	char whole[HEADROOM_PATH_MAX];
	snprintf(whole, sizeof whole, "%s/%s", top, path);
	for (char *c = whole + strlen(top) + 1;; c++) {
		if (*c && *c != '/')
			continue;
		char was = *c;
		*c = '\0';
		(void)mkdir(whole, 0755);
		if (!was)
			return;
		*c = was;
	}
}

static void make_file(const char *top, const char *path)
{
	char whole[HEADROOM_PATH_MAX];
	snprintf(whole, sizeof whole, "%s/%s", top, path);
	int fd = open(whole, O_WRONLY | O_CREAT | O_CLOEXEC, 0644);
	assert_true(fd >= 0);
	close(fd);
}

struct made {
	char top[64];
	struct tree tree;
	struct hostview view;
};

static void make(struct made *m, const char *const *folders, size_t n)
{
	struct fault f = {0};
	strcpy(m->top, "/tmp/headroom-test-node.XXXXXX");
	assert_non_null(mkdtemp(m->top));
	make_folders(m->top, "cg");
	make_file(m->top, "cg/cgroup.controllers");
	for (size_t i = 0; i < n; i++)
		make_folders(m->top, folders[i]);
	assert_int_equal(tree_open(&m->tree, m->top, &f), 0);
	assert_int_equal(hostview_open(&m->view, &m->tree, "/cg", &f), 0);
}

static int remove_one(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	(void)st;
	(void)type;
	(void)ftw;
	return remove(path);
}

static void unmake(struct made *m)
{
	hostview_close(&m->view);
	tree_close(&m->tree);
	assert_int_equal(nftw(m->top, remove_one, 16, FTW_DEPTH | FTW_PHYS), 0);
}

static const struct node_entry *entry(const struct node_list *l, const char *uid, const char *id)
{
	for (size_t i = 0; i < l->n; i++)
		if (strcmp(l->entries[i].uid, uid) == 0 && strcmp(l->entries[i].id, id) == 0)
			return &l->entries[i];
	return NULL;
}

static void check_entry(const struct node_list *l, const char *uid, const char *id, const char *names)
{
	char is[512];
	const struct node_entry *e = entry(l, uid, id);
	if (!e)
		fail_msg("%s %s was not found", uid, id);
	snprintf(is, sizeof is, "%s/%s/%s", e->namespace_name, e->pod, e->container);
	assert_string_equal(is, names);
}

static void test_walk_with_names(void **state)
{
	(void)state;
	static const char *const folders[] = {
		"cg/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID1_ ".slice/cri-containerd-" PAUSE
		".scope",
		"cg/kubepods.slice/kubepods-burstable.slice/kubepods-burstable-pod" UID1_ ".slice/cri-containerd-" ID1
		".scope/container",
		"cg/kubepods/besteffort/pod" UID2 "/" ID2,
		/* none of a pod's */
		"cg/system.slice/docker-" ID2 ".scope/kubepods/pod" UID1 "/" ID1,
		"cg/system.slice/sshd.service",
		"logs/pods/shop_web-1_" UID1 "/app",
		"logs/pods/kube-system_etcd_" UID2 "/etcd",
		"logs/containers",
	};
	struct made m;
	struct node_list l;
	struct fault f = {0};
	make(&m, folders, ARRAY_LEN(folders));
	make_file(m.top, "logs/containers/web-1_shop_app-" ID1 ".log");

	/* both: the sandbox is known for what it is */
	assert_int_equal(node_walk(&l, &m.view, &m.tree, "/logs/pods", "/logs/containers", &f), 0);
	assert_int_equal(l.n, 4);
	check_entry(&l, UID1, "", "shop/web-1/");
	check_entry(&l, UID1, ID1, "shop/web-1/app");
	check_entry(&l, UID2, "", "kube-system/etcd/");
	check_entry(&l, UID2, ID2, "kube-system/etcd/etcd");
	node_list_release(&l);

	/* pods alone: one of two folders is the sandbox, and nothing says which */
	assert_int_equal(node_walk(&l, &m.view, &m.tree, "/logs/pods", NULL, &f), 0);
	assert_int_equal(l.n, 5);
	check_entry(&l, UID1, ID1, "shop/web-1/");
	check_entry(&l, UID1, PAUSE, "shop/web-1/");
	check_entry(&l, UID2, ID2, "kube-system/etcd/etcd");
	node_list_release(&l);

	/* containers alone, and a folder that is not there */
	assert_int_equal(node_walk(&l, &m.view, &m.tree, "/none", "/logs/containers", &f), 0);
	assert_int_equal(l.n, 4);
	check_entry(&l, UID1, "", "shop/web-1/");
	check_entry(&l, UID2, ID2, "//");
	node_list_release(&l);
	unmake(&m);
}

static void test_walk_untranslated(void **state)
{
	(void)state;
	static const char *const folders[] = {
		"cg/system.slice/kubepods-pod" UID1_ ".slice:cri-containerd:" ID1,
		"cg/system.slice/kubepods-pod" UID1_ ".slice:cri-containerd:" PAUSE,
		"cg/a/b/c/d/pod" UID2 "/" ID2,        /* as deep as it goes */
		"cg/a/b/c/d/e/pod" UID1 "/crio-" ID2, /* too deep */
	};
	struct made m;
	struct node_list l;
	struct fault f = {0};
	make(&m, folders, ARRAY_LEN(folders));
	assert_int_equal(node_walk(&l, &m.view, &m.tree, NULL, NULL, &f), 0);
	assert_int_equal(l.n, 4);
	check_entry(&l, UID1, ID1, "//");
	check_entry(&l, UID1, PAUSE, "//");
	check_entry(&l, UID2, "", "//");
	check_entry(&l, UID2, ID2, "//");
	node_list_release(&l);
	unmake(&m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pod_uid),           cmocka_unit_test(test_container_log),
		cmocka_unit_test(test_pod_log),           cmocka_unit_test(test_walk_with_names),
		cmocka_unit_test(test_walk_untranslated),
	};
	return cmocka_run_group_tests_name("node", tests, NULL, NULL);
}
