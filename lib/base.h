/* base.h - the few things every file needs: sizes, cleanup by scope, format checks.
 *
 * Cleanup attributes free a variable when its scope ends (GCC and Clang). Ownership is handed on
 * by taking the value out first: `return TAKE_PTR(p);` or `return TAKE_FD(fd);`.
 */
#ifndef HEADROOM_BASE_H
#define HEADROOM_BASE_H

#include <dirent.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define ARRAY_LEN(a) (sizeof(a) / sizeof((a)[0]))

#define PRINTF_LIKE(fmt, args) __attribute__((format(printf, fmt, args)))
#define MUST_CHECK             __attribute__((warn_unused_result))

#define NSEC_PER_USEC INT64_C(1000)
#define NSEC_PER_MSEC INT64_C(1000000)
#define NSEC_PER_SEC  INT64_C(1000000000)
#define USEC_PER_SEC  INT64_C(1000000)

/* Longest path this toolkit handles: a nested Kubernetes cgroup below /proc/PID/root is about 400 bytes. */
enum { HEADROOM_PATH_MAX = 4096 };

static inline void cleanup_freep(void *p)
{
	free(*(void **)p);
}

static inline void cleanup_closep(const int *fd)
{
	if (*fd >= 0)
		close(*fd);
}

static inline void cleanup_fclosep(FILE **f)
{
	if (*f)
		fclose(*f);
}

static inline void cleanup_closedirp(DIR **d)
{
	if (*d)
		closedir(*d);
}

#define CLEANUP_FREE     __attribute__((cleanup(cleanup_freep)))
#define CLEANUP_CLOSE    __attribute__((cleanup(cleanup_closep)))
#define CLEANUP_FCLOSE   __attribute__((cleanup(cleanup_fclosep)))
#define CLEANUP_CLOSEDIR __attribute__((cleanup(cleanup_closedirp)))

#define TAKE_PTR(p)                                                                                                    \
	({                                                                                                             \
		__typeof__(p) take_ptr_ = (p);                                                                         \
		(p) = NULL;                                                                                            \
		take_ptr_;                                                                                             \
	})

#define TAKE_FD(fd)                                                                                                    \
	({                                                                                                             \
		int take_fd_ = (fd);                                                                                   \
		(fd) = -1;                                                                                             \
		take_fd_;                                                                                              \
	})

#endif
