/* textfile.h - small text files below a root folder: opened carefully, re-read in place.
 *
 * The root of the tree is a parameter: "/" on a live system, a folder of recorded files in a test, a
 * read-only host mount, or /proc/PID/root of a neighbour that is not trusted. Paths are resolved inside
 * the root whatever symbolic links and ".." say (openat2, RESOLVE_IN_ROOT). Only regular files are read
 * (the kernel's cgroup and proc files are), never a fifo or a device; opening never blocks.
 */
#ifndef HEADROOM_TEXTFILE_H
#define HEADROOM_TEXTFILE_H

#include "fault.h"

#include <sys/types.h>

struct tree {
	int fd;    /* the root folder; -1 = closed */
	bool live; /* its files are the kernel's: /proc there is procfs. Then cgroup folders must be cgroupfs too. */
};

#define TREE_CLOSED ((struct tree){.fd = -1})

/* 0 or a negative errno. */
int tree_open(struct tree *t, const char *path, struct fault *f) MUST_CHECK;

/* The root folder of process `pid` as a tree of its own: <t>/proc/PID/root. It is live if t is.
 * -EACCES where the kernel does not let us look into that process. */
int tree_open_process_root(struct tree *out, const struct tree *t, const char *proc_name, struct fault *f) MUST_CHECK;

void tree_close(struct tree *t);

static inline void cleanup_treep(struct tree *t)
{
	tree_close(t);
}
#define CLEANUP_TREE __attribute__((cleanup(cleanup_treep)))

/* A folder below the tree, for use with the *at functions here. A descriptor or a negative errno. */
int tree_open_folder(const struct tree *t, const char *path, struct fault *f) MUST_CHECK;

/* File system type of a descriptor (f_type of statfs), 0 when it cannot be told. */
int64_t textfile_fs_type(int fd);

enum { FS_TYPE_CGROUP1 = 0x27e0eb, FS_TYPE_CGROUP2 = 0x63677270, FS_TYPE_PROC = 0x9fa0 };

/* ---- one-off reads ---- */

/* Reads a whole file below a folder descriptor (no ".." and no symbolic link as the last part) into
 * buf, NUL-terminated. Returns its length, or a negative errno: -ENOENT, -EACCES, -EOPNOTSUPP (pressure
 * files with PSI switched off), -ENODEV (the cgroup is gone), -EFBIG (longer than the buffer),
 * -EINVAL (not a regular file, or it holds a NUL byte). */
ssize_t textfile_read_at(int folder_fd, const char *name, char *buf, size_t size, struct fault *f) MUST_CHECK;

/* The same by path below a tree. */
ssize_t textfile_read_tree(const struct tree *t, const char *path, char *buf, size_t size, struct fault *f) MUST_CHECK;

/* The same for files whose size is not known, up to max bytes; *out is to be freed. */
int textfile_load_tree(const struct tree *t, const char *path, size_t max, char **out, struct fault *f) MUST_CHECK;

/* ---- kept open ---- */

/* Longest of the files that are re-read: cpu.stat with every key of 6.18 has about 400 bytes. */
enum { TEXTFILE_MAX = 4096 };

struct textfile {
	int fd; /* -1 = not open */
};

#define TEXTFILE_CLOSED ((struct textfile){.fd = -1})

/* Opens for re-reading; errors as above. */
int textfile_open_at(struct textfile *file, int folder_fd, const char *name, struct fault *f) MUST_CHECK;

/* Reads from offset 0 with one pread, no allocation: 1 to 2 us of CPU against 5 to 7 for
 * open + read + close. Errors as above. */
ssize_t textfile_reread(const struct textfile *file, char *buf, size_t size);

/* What a negative errno of textfile_reread() means, as the others say it themselves. Returns it. */
int textfile_explain(int rc, const char *name, struct fault *f);

void textfile_close(struct textfile *file);

#endif
