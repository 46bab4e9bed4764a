/* folder.h - making, writing and removing cgroup folders. Paths are absolute, joined by the caller.
 */
#ifndef HEADROOM_LAB_FOLDER_H
#define HEADROOM_LAB_FOLDER_H

#include "fault.h"

#include <sys/types.h>

/* "<a>/<b>", to be freed, without doubled slashes; NULL when out of memory. b may begin with '/'. */
char *folder_join(const char *a, const char *b);

/* Writes text with one write() to an existing file. */
int folder_write(const char *folder, const char *file, const char *text, struct fault *f) MUST_CHECK;

/* The file's text, NUL-terminated. Its length or a negative errno. */
ssize_t folder_read(const char *folder, const char *file, char *buf, size_t size, struct fault *f) MUST_CHECK;

/* True if the word is one of those in the file, which are separated by blanks or newlines. */
bool folder_file_has_word(const char *folder, const char *file, const char *word);

/* How many pids its cgroup.procs lists, and the first; negative errno when it cannot be read. */
int folder_processes(const char *folder, pid_t *first, struct fault *f) MUST_CHECK;

/* Removes a cgroup, killing what is still in it; waits up to 2 s for the kernel to let go. 0 also when it is not there.
 */
int folder_remove_group(const char *folder, struct fault *f);

/* Calls try(path, arg) for the cgroup folders from `top_len` characters of `folder` down to `folder` itself, until one
 * returns 0. Returns that, or the last result. */
int folder_each_level(const char *folder, size_t top_len, int (*attempt)(const char *path, void *arg), void *arg);

#endif
