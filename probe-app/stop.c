#include "stop.h"

#include "clock.h"

#include <errno.h>
#include <limits.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>

void stop_now(struct stop *s)
{
	atomic_store(&s->word, 1);
	syscall(SYS_futex, &s->word, FUTEX_WAKE_PRIVATE, INT_MAX, NULL, NULL, 0);
}

int stop_sleep_until(struct stop *s, int64_t mono_ns)
{
	/* the BITSET form is the one whose time-out is absolute */
	struct timespec until = {.tv_sec = mono_ns / NSEC_PER_SEC, .tv_nsec = mono_ns % NSEC_PER_SEC};
	while (!stop_requested(s)) {
		if (clock_mono_ns() >= mono_ns)
			return 0;
		syscall(SYS_futex, &s->word, FUTEX_WAIT_BITSET_PRIVATE, 0, &until, NULL, FUTEX_BITSET_MATCH_ANY);
	}
	return -ECANCELED;
}
