#include "install.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <sys/random.h>
#include <sys/stat.h>

enum { TEMPORARY_SIZE = 64 };

/* Two containers may install into one volume at the same time, both as process 1: the pid would not tell them apart. */
static int name_temporary(char out[TEMPORARY_SIZE])
{
	uint64_t random;
	if (getrandom(&random, sizeof random, 0) != (ssize_t)sizeof random)
		return -EIO;
	snprintf(out, TEMPORARY_SIZE, ".%s.%016" PRIx64, INSTALL_NAME, random);
	return 0;
}

static int explain(int err, const char *dir, const char *doing, struct fault *f)
{
	switch (err) {
	case ENOSPC:
	case EDQUOT:
		return fault_set(f, err, "cannot install into %s: raise the sizeLimit of the volume", dir);
	case EROFS:
		return fault_set(f, err, "cannot install into %s: mount the volume without readOnly here", dir);
	case ENOENT:
	case ENOTDIR:
		return fault_set(f, err, "cannot install into %s: it must be a folder that exists (a mounted volume)",
				 dir);
	case EACCES:
	case EPERM:
		return fault_set(f, err,
				 "cannot install into %s: it may not be written by %u:%u (set fsGroup, or runAsUser)",
				 dir, geteuid(), getegid());
	default:
		return fault_set(f, err, "cannot install into %s: %s", dir, doing);
	}
}

static int write_all(int fd, const char *p, size_t len)
{
	while (len > 0) {
		ssize_t put = write(fd, p, len);
		if (put < 0 && errno == EINTR)
			continue;
		if (put <= 0)
			return put < 0 ? -errno : -EIO;
		p += put;
		len -= (size_t)put;
	}
	return 0;
}

static int copy(int from, int to)
{
	char buffer[65536];
	for (;;) {
		ssize_t got = read(from, buffer, sizeof buffer);
		if (got < 0 && errno == EINTR)
			continue;
		if (got <= 0)
			return got < 0 ? -errno : 0;
		int rc = write_all(to, buffer, (size_t)got);
		if (rc < 0)
			return rc;
	}
}

/* The umask does not count: another user runs it. */
static int write_temporary(int dir_fd, const char *temporary, int from)
{
	CLEANUP_CLOSE int to = openat(dir_fd, temporary, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0700);
	if (to < 0)
		return -errno;
	int rc = copy(from, to);
	if (rc == 0 && (fchmod(to, INSTALL_MODE) < 0 || fsync(to) < 0))
		rc = -errno;
	/* some file systems tell only now that there was no room */
	if (close(TAKE_FD(to)) < 0 && rc == 0)
		rc = -errno;
	return rc;
}

int install_self(const char *dir, struct fault *f)
{
	CLEANUP_CLOSE int from = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	if (from < 0)
		return fault_set(f, errno, "cannot read this program itself (/proc/self/exe)");
	CLEANUP_CLOSE int dir_fd = open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir_fd < 0)
		return explain(errno, dir, "opening it", f);
	char temporary[TEMPORARY_SIZE] = "";
	int rc = name_temporary(temporary);
	if (rc == 0)
		rc = write_temporary(dir_fd, temporary, from);
	if (rc == 0 && renameat(dir_fd, temporary, dir_fd, INSTALL_NAME) < 0)
		rc = -errno;
	if (rc < 0) {
		(void)unlinkat(dir_fd, temporary, 0);
		return explain(-rc, dir, "writing " INSTALL_NAME, f);
	}
	/* the name, too; a file system that cannot do this for a folder has done it already */
	if (fsync(dir_fd) < 0 && errno != EINVAL)
		return explain(errno, dir, "writing the folder to disk", f);
	return 0;
}
