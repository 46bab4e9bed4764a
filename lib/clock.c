#include "clock.h"

#include <errno.h>
#include <time.h>

static int64_t read_ns(clockid_t id)
{
	struct timespec t;
	/* cannot fail for the fixed clocks below on any kernel that we support */
	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * NSEC_PER_SEC + t.tv_nsec;
}

int64_t clock_mono_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

int64_t clock_wall_ns(void)
{
	return read_ns(CLOCK_REALTIME);
}

int64_t clock_thread_cpu_ns(void)
{
	return read_ns(CLOCK_THREAD_CPUTIME_ID);
}

int64_t clock_process_cpu_ns(void)
{
	return read_ns(CLOCK_PROCESS_CPUTIME_ID);
}

int clock_sleep_until_ns(int64_t mono_ns, const volatile int *stop)
{
	struct timespec until = {.tv_sec = mono_ns / NSEC_PER_SEC, .tv_nsec = mono_ns % NSEC_PER_SEC};
	while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL) == EINTR)
		if (stop && *stop)
			return -EINTR;
	return 0;
}

void clock_rfc3339(int64_t wall_ns, char out[CLOCK_RFC3339_SIZE])
{
	time_t seconds = (time_t)(wall_ns / NSEC_PER_SEC);
	struct tm utc;
	gmtime_r(&seconds, &utc);
	size_t used = strftime(out, CLOCK_RFC3339_SIZE, "%Y-%m-%dT%H:%M:%S", &utc);
	snprintf(out + used, CLOCK_RFC3339_SIZE - used, ".%03dZ", (int)(wall_ns % NSEC_PER_SEC / NSEC_PER_MSEC));
}
