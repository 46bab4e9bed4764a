/* Files below a root that is not trusted: nothing of it may block, lead out of the tree, or be taken for text. */
#include "tests/unit/check.h"

#include "clock.h"
#include "textfile.h"

#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <sys/wait.h>

static char folder[64];
static struct tree tree;

static int setup(void **state)
{
	(void)state;
	folder_make(folder);
	file_write(folder, "proc/self/status", "Name:\tx\n");
	file_write(folder, "a/b/file", "text\n");
	file_write(folder, "a/empty", "");
	file_write(folder, "secret", "secret\n");
	return tree_open(&tree, folder, NULL);
}

static int teardown(void **state)
{
	(void)state;
	tree_close(&tree);
	folder_remove(folder);
	return 0;
}

static void path_of(const char *name, char out[256])
{
	snprintf(out, 256, "%s/%s", folder, name);
}

static void link_to(const char *target, const char *name)
{
	char path[256];
	path_of(name, path);
	assert_int_equal(symlink(target, path), 0);
}

static void test_read(void **state)
{
	(void)state;
	char buf[64] = "";
	char *text = NULL;
	assert_false(tree.live);
	assert_int_equal(textfile_read_tree(&tree, "a/b/file", buf, sizeof buf, NULL), 5);
	assert_string_equal(buf, "text\n");
	assert_int_equal(textfile_read_tree(&tree, "/a/b/file", buf, sizeof buf, NULL), 5);
	assert_int_equal(textfile_read_tree(&tree, "a//b/./file", buf, sizeof buf, NULL), 5);
	assert_int_equal(textfile_read_tree(&tree, "a/empty", buf, sizeof buf, NULL), 0);
	assert_string_equal(buf, "");
	assert_int_equal(textfile_load_tree(&tree, "a/b/file", 1 << 20, &text, NULL), 0);
	assert_string_equal(text, "text\n");
	free(text);
}

static void test_missing(void **state)
{
	(void)state;
	char buf[64] = "unchanged";
	char *text = NULL;
	struct fault f = {0};
	struct textfile file;
	struct tree t;
	assert_fault(textfile_read_tree(&tree, "a/none", buf, sizeof buf, &f), &f, ENOENT);
	assert_fault(textfile_read_tree(&tree, "none/file", buf, sizeof buf, &f), &f, ENOENT);
	assert_fault(textfile_load_tree(&tree, "none", 100, &text, &f), &f, ENOENT);
	assert_null(text);
	assert_fault(textfile_open_at(&file, tree.fd, "none", &f), &f, ENOENT);
	assert_int_equal(file.fd, -1);
	assert_fault(tree_open_folder(&tree, "none", &f), &f, ENOENT);
	assert_fault(tree_open_folder(&tree, "secret", &f), &f, ENOTDIR);
	assert_fault(tree_open(&t, "/nonexistent/folder", &f), &f, ENOENT);
	assert_int_equal(t.fd, -1);
	char path[256];
	path_of("secret", path);
	assert_fault(tree_open(&t, path, &f), &f, ENOTDIR);
	tree_close(&t);
	textfile_close(&file);
}

/* A file that fills the buffer is too large: there could be more of it. */
static void test_sizes(void **state)
{
	(void)state;
	char buf[6];
	struct fault f = {0};
	assert_int_equal(textfile_read_tree(&tree, "a/b/file", buf, 6, NULL), 5);
	assert_fault(textfile_read_tree(&tree, "a/b/file", buf, 5, &f), &f, EFBIG);
	struct textfile file;
	assert_int_equal(tree_open_folder(&tree, "a/b", NULL) < 0, 0);
	CLEANUP_CLOSE int fd = tree_open_folder(&tree, "a/b", NULL);
	assert_int_equal(textfile_open_at(&file, fd, "file", NULL), 0);
	assert_int_equal(textfile_reread(&file, buf, 6), 5);
	assert_int_equal(textfile_reread(&file, buf, 6), 5);
	assert_string_equal(buf, "text\n");
	assert_int_equal(textfile_reread(&file, buf, 5), -EFBIG);
	textfile_close(&file);
	assert_int_equal(file.fd, -1);
	textfile_close(&file);
}

/* A kept file shows what was written later, as the kernel's do. */
static void test_reread(void **state)
{
	(void)state;
	char buf[64];
	struct textfile file;
	assert_int_equal(textfile_open_at(&file, tree.fd, "secret", NULL), 0);
	assert_int_equal(textfile_reread(&file, buf, sizeof buf), 7);
	file_write(folder, "secret", "x");
	assert_int_equal(textfile_reread(&file, buf, sizeof buf), 1);
	assert_string_equal(buf, "x");
	file_write_bytes(folder, "secret", "a\0b", 3);
	assert_int_equal(textfile_reread(&file, buf, sizeof buf), -EINVAL);
	textfile_close(&file);
}

static void test_huge(void **state)
{
	(void)state;
	char buf[4096];
	char *text = NULL;
	char path[256];
	struct fault f = {0};
	path_of("huge", path);
	file_write(folder, "huge", "x");
	assert_int_equal(truncate(path, INT64_C(100) << 20), 0);
	int64_t cpu_ns = clock_process_cpu_ns();
	assert_fault(textfile_read_tree(&tree, "huge", buf, sizeof buf, &f), &f, EFBIG);
	assert_fault(textfile_load_tree(&tree, "huge", 1 << 20, &text, &f), &f, EFBIG);
	assert_null(text);
	assert_true(clock_process_cpu_ns() - cpu_ns < NSEC_PER_SEC);
	/* the largest that load takes grows by steps: nothing above max */
	char *big = malloc(70000);
	memset(big, 'x', 70000);
	file_write_bytes(folder, "big", big, 70000);
	assert_int_equal(textfile_load_tree(&tree, "big", 1 << 20, &text, NULL), 0);
	assert_int_equal(strlen(text), 70000);
	assert_memory_equal(text, big, 70000);
	free(text);
	text = NULL;
	assert_fault(textfile_load_tree(&tree, "big", 65536, &text, &f), &f, EFBIG);
	free(big);
}

static void test_nul(void **state)
{
	(void)state;
	char buf[64];
	char *text = NULL;
	struct fault f = {0};
	file_write_bytes(folder, "nul", "max\0 100000\n", 12);
	assert_fault(textfile_read_tree(&tree, "nul", buf, sizeof buf, &f), &f, EINVAL);
	assert_fault(textfile_load_tree(&tree, "nul", 1000, &text, &f), &f, EINVAL);
	assert_null(text);
}

/* Everything that is no regular file: refused at once, however it is opened. */
static void refuse(const char *name)
{
	char buf[64];
	char *text = NULL;
	struct fault f = {0};
	struct textfile file;
	int64_t start_ns = clock_mono_ns();
	assert_case(textfile_read_tree(&tree, name, buf, sizeof buf, &f) == -EINVAL, name);
	assert_case(f.err == EINVAL && strstr(f.text, "not a regular"), name);
	assert_case(textfile_read_at(tree.fd, name, buf, sizeof buf, &f) == -EINVAL, name);
	assert_case(textfile_load_tree(&tree, name, 1000, &text, &f) == -EINVAL, name);
	assert_case(textfile_open_at(&file, tree.fd, name, &f) == -EINVAL && file.fd == -1, name);
	assert_case(clock_mono_ns() - start_ns < NSEC_PER_SEC, name);
}

static void test_no_regular_file(void **state)
{
	(void)state;
	char path[256];
	path_of("fifo", path);
	assert_int_equal(mkfifo(path, 0666), 0);
	refuse("fifo");
	refuse("a");
	path_of("device", path);
	/* only root may make one */
	if (mknod(path, S_IFCHR | 0666, makedev(1, 5)) == 0)
		refuse("device");
}

static void test_links(void **state)
{
	(void)state;
	char buf[64];
	struct fault f = {0};
	struct textfile file;
	link_to("../secret", "a/up");
	link_to("/secret", "a/absolute");
	link_to("../../../../../../../../etc/passwd", "out");
	link_to("/etc/passwd", "out2");
	link_to("loop", "loop");
	link_to("b", "a/link");
	/* links and ".." stay inside of the tree */
	assert_int_equal(textfile_read_tree(&tree, "a/up", buf, sizeof buf, NULL), 7);
	assert_int_equal(textfile_read_tree(&tree, "a/absolute", buf, sizeof buf, NULL), 7);
	assert_int_equal(textfile_read_tree(&tree, "a/link/file", buf, sizeof buf, NULL), 5);
	assert_int_equal(textfile_read_tree(&tree, "../../../secret", buf, sizeof buf, NULL), 7);
	assert_fault(textfile_read_tree(&tree, "out", buf, sizeof buf, &f), &f, ENOENT);
	assert_fault(textfile_read_tree(&tree, "out2", buf, sizeof buf, &f), &f, ENOENT);
	assert_fault(textfile_read_tree(&tree, "loop", buf, sizeof buf, &f), &f, EINVAL);
	/* below a folder, a link is no file, wherever it leads */
	assert_fault(textfile_read_at(tree.fd, "out", buf, sizeof buf, &f), &f, EINVAL);
	CLEANUP_CLOSE int a = tree_open_folder(&tree, "a", NULL);
	assert_true(a >= 0);
	assert_fault(textfile_read_at(a, "up", buf, sizeof buf, &f), &f, EINVAL);
	assert_fault(textfile_open_at(&file, a, "up", &f), &f, EINVAL);
	/* a folder that is a link is followed inside of the tree */
	CLEANUP_CLOSE int b = tree_open_folder(&tree, "a/link", NULL);
	assert_true(b >= 0);
	assert_int_equal(textfile_read_at(b, "file", buf, sizeof buf, NULL), 5);
}

static void test_process_root(void **state)
{
	(void)state;
	struct tree other;
	struct fault f = {0};
	char buf[64];
	/* in a recorded tree proc/N/root is a folder, or a link inside of the tree */
	file_write(folder, "proc/42/root/sys/x", "inner\n");
	link_to("/a", "proc/self/root");
	assert_int_equal(tree_open_process_root(&other, &tree, "42", NULL), 0);
	assert_false(other.live);
	assert_int_equal(textfile_read_tree(&other, "sys/x", buf, sizeof buf, NULL), 6);
	assert_fault(textfile_read_tree(&other, "../../../secret", buf, sizeof buf, &f), &f, ENOENT);
	tree_close(&other);
	assert_int_equal(tree_open_process_root(&other, &tree, "self", NULL), 0);
	assert_int_equal(textfile_read_tree(&other, "b/file", buf, sizeof buf, NULL), 5);
	tree_close(&other);
	assert_fault(tree_open_process_root(&other, &tree, "43", &f), &f, ENOENT);
	assert_int_equal(other.fd, -1);
}

static void test_live(void **state)
{
	(void)state;
	struct tree live;
	struct tree own;
	char buf[16384];
	assert_int_equal(tree_open(&live, "/", NULL), 0);
	assert_true(live.live);
	assert_true(textfile_read_tree(&live, "proc/self/status", buf, sizeof buf, NULL) > 0);
	assert_int_equal(tree_open_process_root(&own, &live, "self", NULL), 0);
	assert_true(own.live);
	CLEANUP_CLOSE int proc = tree_open_folder(&own, "/proc", NULL);
	assert_true(proc >= 0);
	assert_int_equal(textfile_fs_type(proc), FS_TYPE_PROC);
	assert_int_equal(textfile_fs_type(-1), 0);
	tree_close(&own);
	tree_close(&live);
}

/* A kernel, or a seccomp profile, without openat2: answers `err`. */
static void forbid_openat2(int err)
{
	struct sock_filter code[] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, 0),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_openat2, 0, 1),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | (unsigned)err),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};
	struct sock_fprog program = {ARRAY_LEN(code), code};
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 || prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) < 0)
		_exit(99);
}

static int without_openat2(void)
{
	char buf[64];
	char longer[400];
	memset(longer, 'x', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	return textfile_read_tree(&tree, "a/b/file", buf, sizeof buf, NULL) != 5           ? 1
	       : textfile_read_tree(&tree, "//a//b//file", buf, sizeof buf, NULL) != 5     ? 2
	       : textfile_read_tree(&tree, "a/none", buf, sizeof buf, NULL) != -ENOENT     ? 3
	       : textfile_read_tree(&tree, "none/file", buf, sizeof buf, NULL) != -ENOENT  ? 4
	       : textfile_read_tree(&tree, "../secret", buf, sizeof buf, NULL) != -EXDEV   ? 5
	       : textfile_read_tree(&tree, "a/../secret", buf, sizeof buf, NULL) != -EXDEV ? 6
	       : textfile_read_tree(&tree, "link/file", buf, sizeof buf, NULL) >= 0        ? 7
	       : textfile_read_tree(&tree, "out", buf, sizeof buf, NULL) != -EINVAL        ? 8
	       : textfile_read_tree(&tree, longer, buf, sizeof buf, NULL) != -ENAMETOOLONG ? 9
	       : textfile_read_tree(&tree, "fifo", buf, sizeof buf, NULL) != -EINVAL       ? 10
	       : textfile_read_tree(&tree, "secret/x", buf, sizeof buf, NULL) != -ENOTDIR  ? 11
	       : tree_open_folder(&tree, "", NULL) < 0                                     ? 12
	       : tree_open_folder(&tree, "/", NULL) < 0                                    ? 13
	       : tree_open_folder(&tree, "/a/b/", NULL) < 0                                ? 14
	       : textfile_read_tree(&tree, "a/b/...", buf, sizeof buf, NULL) != -ENOENT    ? 15
											   : 0;
}

static void test_without_openat2(void **state)
{
	(void)state;
	static const int errnos[] = {ENOSYS, EPERM};
	char path[256];
	path_of("fifo", path);
	assert_int_equal(mkfifo(path, 0666), 0);
	link_to("a/b", "link");
	link_to("/etc/passwd", "out");
	for (size_t i = 0; i < ARRAY_LEN(errnos); i++) {
		int status = 0;
		pid_t pid = fork();
		if (pid == 0) {
			forbid_openat2(errnos[i]);
			fork_exit(without_openat2());
		}
		assert_int_equal(waitpid(pid, &status, 0), pid);
		assert_int_equal(status, 0);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_read, setup, teardown),
		cmocka_unit_test_setup_teardown(test_missing, setup, teardown),
		cmocka_unit_test_setup_teardown(test_sizes, setup, teardown),
		cmocka_unit_test_setup_teardown(test_reread, setup, teardown),
		cmocka_unit_test_setup_teardown(test_huge, setup, teardown),
		cmocka_unit_test_setup_teardown(test_nul, setup, teardown),
		cmocka_unit_test_setup_teardown(test_no_regular_file, setup, teardown),
		cmocka_unit_test_setup_teardown(test_links, setup, teardown),
		cmocka_unit_test_setup_teardown(test_process_root, setup, teardown),
		cmocka_unit_test_setup_teardown(test_live, setup, teardown),
		cmocka_unit_test_setup_teardown(test_without_openat2, setup, teardown),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
