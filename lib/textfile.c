#include "textfile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>

static const int file_flags = O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY;
static const int folder_flags = O_RDONLY | O_CLOEXEC | O_DIRECTORY;

int64_t textfile_fs_type(int fd)
{
	struct statfs s;
	return fstatfs(fd, &s) == 0 ? (int64_t)s.f_type : 0;
}

static bool root_is_live(int root_fd)
{
	CLEANUP_CLOSE int proc = openat(root_fd, "proc", folder_flags | O_NOFOLLOW);
	return proc >= 0 && textfile_fs_type(proc) == FS_TYPE_PROC;
}

int tree_open(struct tree *t, const char *path, struct fault *f)
{
	*t = TREE_CLOSED;
	int fd = open(path, folder_flags);
	if (fd < 0)
		return fault_set(f, errno, "cannot open the folder %s", path);
	t->fd = fd;
	t->live = root_is_live(fd);
	return 0;
}

void tree_close(struct tree *t)
{
	if (t->fd >= 0)
		close(t->fd);
	*t = TREE_CLOSED;
}

/* Without openat2 (old container seccomp profiles answer EPERM, kernels before 5.6 ENOSYS) every part of the path is
 * opened on its own, and a symbolic link ends it. */
static int open_stepwise(int root_fd, const char *path, int flags)
{
	int at = root_fd;
	for (;;) {
		char part[256];
		path += strspn(path, "/");
		size_t len = strcspn(path, "/");
		bool last = path[len + strspn(path + len, "/")] == '\0';
		if (len >= sizeof part || (len == 2 && memcmp(path, "..", 2) == 0)) {
			errno = len >= sizeof part ? ENAMETOOLONG : EXDEV;
			len = 0;
			last = true;
			part[0] = '\0';
		} else {
			memcpy(part, len ? path : ".", len ? len : 1);
			part[len ? len : 1] = '\0';
		}
		int next =
			part[0] ? openat(at, part, (last ? flags : O_PATH | O_DIRECTORY | O_CLOEXEC) | O_NOFOLLOW) : -1;
		int err = errno;
		if (at != root_fd)
			close(at);
		errno = err;
		if (next < 0 || last)
			return next;
		at = next;
		path += len;
	}
}

static int open_in_root(int root_fd, const char *path, int flags)
{
	struct open_how how = {
		.flags = (uint64_t)(unsigned)flags,
		.resolve = RESOLVE_IN_ROOT | RESOLVE_NO_MAGICLINKS,
	};
	long fd = syscall(SYS_openat2, root_fd, path, &how, sizeof how);
	if (fd < 0 && (errno == ENOSYS || errno == EPERM))
		return open_stepwise(root_fd, path, flags);
	return (int)fd;
}

int tree_open_process_root(struct tree *out, const struct tree *t, const char *proc_name, struct fault *f)
{
	char path[64];
	*out = TREE_CLOSED;
	snprintf(path, sizeof path, "proc/%s/root", proc_name);
	/* a magic link, which cannot be resolved inside a root: the name of our own proc is trusted that far */
	int fd = t->live ? openat(t->fd, path, folder_flags) : open_in_root(t->fd, path, folder_flags);
	if (fd < 0)
		return fault_set(f, errno, "cannot look into /%s", path);
	out->fd = fd;
	out->live = t->live;
	return 0;
}

int tree_open_folder(const struct tree *t, const char *path, struct fault *f)
{
	int fd = open_in_root(t->fd, *path ? path : "/", folder_flags);
	return fd >= 0 ? fd : fault_set(f, errno, "cannot open the folder %s", path);
}

/* Takes ownership of fd. */
static int check_regular(int fd)
{
	struct stat s;
	if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode))
		return fd;
	close(fd);
	return -EINVAL;
}

static int open_file_tree(const struct tree *t, const char *path)
{
	int fd = open_in_root(t->fd, path, file_flags);
	return fd < 0 ? -errno : check_regular(fd);
}

static int open_file_at(int folder_fd, const char *name)
{
	int fd = openat(folder_fd, name, file_flags | O_NOFOLLOW);
	return fd < 0 ? -errno : check_regular(fd);
}

/* A fifo opens without blocking, a link as the last part gives ELOOP: both are "not a regular file" to the reader. */
int textfile_explain(int rc, const char *name, struct fault *f)
{
	switch (rc) {
	case -EINVAL:
	case -ELOOP:
	case -ENXIO:
		return fault_set(f, -EINVAL, "%s is not a regular text file", name);
	case -EFBIG:
		return fault_set(f, rc, "%s is larger than such a file can be", name);
	default:
		return fault_set(f, -rc, "cannot read %s", name);
	}
}

/* Up to size - 1 bytes from offset 0. A file that fills the buffer is too large. */
static ssize_t read_whole(int fd, char *buf, size_t size)
{
	size_t used = 0;
	for (;;) {
		ssize_t got = pread(fd, buf + used, size - used, (off_t)used);
		if (got < 0 && errno == EINTR)
			continue;
		if (got < 0)
			return -errno;
		if (got == 0)
			break;
		used += (size_t)got;
		if (used == size)
			return -EFBIG;
	}
	buf[used] = '\0';
	return memchr(buf, '\0', used) ? -EINVAL : (ssize_t)used;
}

ssize_t textfile_read_at(int folder_fd, const char *name, char *buf, size_t size, struct fault *f)
{
	CLEANUP_CLOSE int fd = open_file_at(folder_fd, name);
	ssize_t len = fd < 0 ? fd : read_whole(fd, buf, size);
	return len < 0 ? textfile_explain((int)len, name, f) : len;
}

ssize_t textfile_read_tree(const struct tree *t, const char *path, char *buf, size_t size, struct fault *f)
{
	CLEANUP_CLOSE int fd = open_file_tree(t, path);
	ssize_t len = fd < 0 ? fd : read_whole(fd, buf, size);
	return len < 0 ? textfile_explain((int)len, path, f) : len;
}

int textfile_load_tree(const struct tree *t, const char *path, size_t max, char **out, struct fault *f)
{
	CLEANUP_CLOSE int fd = open_file_tree(t, path);
	CLEANUP_FREE char *text = NULL;
	ssize_t len = fd < 0 ? fd : -EFBIG;
	for (size_t size = 16384, used = 0; len == -EFBIG && used <= max; size *= 4) {
		used = size <= max ? size : max + 1;
		char *larger = realloc(text, used);
		if (!larger)
			return fault_set(f, ENOMEM, "cannot read %s", path);
		text = larger;
		len = read_whole(fd, text, used);
	}
	if (len < 0)
		return textfile_explain((int)len, path, f);
	*out = TAKE_PTR(text);
	return 0;
}

int textfile_open_at(struct textfile *file, int folder_fd, const char *name, struct fault *f)
{
	file->fd = open_file_at(folder_fd, name);
	if (file->fd >= 0)
		return 0;
	int rc = file->fd;
	file->fd = -1;
	return textfile_explain(rc, name, f);
}

ssize_t textfile_reread(const struct textfile *file, char *buf, size_t size)
{
	/* The kernel gives a file of less than a page in one piece: a second pread only to see the end would double the
	 * cost of every sample. */
	ssize_t got;
	while ((got = pread(file->fd, buf, size, 0)) < 0 && errno == EINTR)
		continue;
	if (got < 0)
		return -errno;
	if ((size_t)got == size)
		return -EFBIG;
	buf[got] = '\0';
	return memchr(buf, '\0', (size_t)got) ? -EINVAL : got;
}

void textfile_close(struct textfile *file)
{
	if (file->fd >= 0)
		close(file->fd);
	file->fd = -1;
}
