/* check.h - what every unit test includes: CMocka, and small trees of files to read. */
#ifndef HEADROOM_TESTS_CHECK_H
#define HEADROOM_TESTS_CHECK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
/* CMocka wants those four before it */
#include <cmocka.h>

#include "base.h"
#include "fault.h"

#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <string.h>
#include <sys/stat.h>

/* A failure names the input of the table that it belongs to. */
#define assert_case(ok, what)                                                                                          \
	do {                                                                                                           \
		if (!(ok)) {                                                                                           \
			print_error("%s:%d: failed for: %s\n", __FILE__, __LINE__, (what));                            \
			fail();                                                                                        \
		}                                                                                                      \
	} while (0)

/* rc is -err, and the fault has that number and a sentence of one line. */
#define assert_fault(rc, f, wanted)                                                                                    \
	do {                                                                                                           \
		assert_int_equal((rc), -(wanted));                                                                     \
		assert_int_equal((f)->err, (wanted));                                                                  \
		assert_true((f)->text[0] != '\0');                                                                     \
		assert_null(strchr((f)->text, '\n'));                                                                  \
	} while (0)

/* Ends a forked part of a test, without the exit handlers of the whole; what it ran counts for `make coverage`. */
#ifdef HEADROOM_COVERAGE
void __gcov_dump(void);
#endif
static inline _Noreturn void fork_exit(int status)
{
#ifdef HEADROOM_COVERAGE
	__gcov_dump();
#endif
	_exit(status);
}

/* The folder of one test; removed by folder_remove(). */
static inline void folder_make(char folder[64])
{
	const char *tmp = getenv("TMPDIR");
	snprintf(folder, 64, "%s/headroom-unit.XXXXXX", tmp && strlen(tmp) < 40 ? tmp : "/tmp");
	assert_non_null(mkdtemp(folder));
}

static inline int folder_remove_one(const char *path, const struct stat *s, int kind, struct FTW *at)
{
	(void)s;
	(void)at;
	return kind == FTW_DP ? rmdir(path) : unlink(path);
}

static inline void folder_remove(const char *folder)
{
	nftw(folder, folder_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Makes folder/path with its parents; size bytes of content. */
static inline void file_write_bytes(const char *folder, const char *path, const void *content, size_t size)
{
	char whole[4096];
	snprintf(whole, sizeof whole, "%s/%s", folder, path);
	for (char *slash = strchr(whole + strlen(folder) + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		assert_true(mkdir(whole, 0777) == 0 || errno == EEXIST);
		*slash = '/';
	}
	int fd = open(whole, O_WRONLY | O_CREAT | O_TRUNC, 0666);
	assert_true(fd >= 0);
	assert_int_equal(write(fd, content, size), size);
	close(fd);
}

static inline void file_write(const char *folder, const char *path, const char *content)
{
	file_write_bytes(folder, path, content, strlen(content));
}

#endif
