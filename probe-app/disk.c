#include "disk.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <string.h>

enum { BLOCK_BYTES = 64 * 1024 };

/* A file without a name vanishes with its descriptor, also when the process is killed. File systems that
 * cannot do that (overlayfs before 6.3, NFS) get a name that is taken away at once. */
static int open_nameless(const char *dir, struct fault *f)
{
	char path[HEADROOM_PATH_MAX];
	int fd = open(dir, O_TMPFILE | O_WRONLY | O_CLOEXEC, 0600);
	if (fd >= 0 || (errno != EOPNOTSUPP && errno != EISDIR))
		return fd >= 0 ? fd : fault_set(f, errno, "cannot make a file in %s", dir);
	if ((size_t)snprintf(path, sizeof path, "%s/headroom-probe-XXXXXX", dir) >= sizeof path)
		return fault_set(f, ENAMETOOLONG, "cannot make a file in %s", dir);
	fd = mkostemp(path, O_CLOEXEC);
	if (fd < 0)
		return fault_set(f, errno, "cannot make a file in %s", dir);
	unlink(path);
	return fd;
}

static unsigned char block[BLOCK_BYTES];
static pthread_once_t block_filled = PTHREAD_ONCE_INIT;

/* Not zeros: some disks and file systems do not store those. */
static void fill_block(void)
{
	uint32_t x = 2463534242;
	for (size_t i = 0; i < BLOCK_BYTES; i++) {
		x ^= x << 13;
		x ^= x >> 17;
		x ^= x << 5;
		block[i] = (unsigned char)x;
	}
}

int disk_write(const char *dir, uint64_t kb, const struct stop *stop, struct fault *f)
{
	pthread_once(&block_filled, fill_block);
	CLEANUP_CLOSE int fd = open_nameless(dir, f);
	if (fd < 0)
		return fd;
	for (uint64_t left = kb * 1024; left;) {
		if (stop && stop_requested(stop))
			return fault_set(f, ECANCELED, "writing to %s", dir);
		ssize_t n = write(fd, block, left < BLOCK_BYTES ? (size_t)left : BLOCK_BYTES);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return fault_set(f, errno, "cannot write %llu kB to %s", (unsigned long long)kb, dir);
		left -= (uint64_t)n;
	}
	if (fsync(fd) < 0)
		return fault_set(f, errno, "cannot sync %llu kB in %s", (unsigned long long)kb, dir);
	return 0;
}
