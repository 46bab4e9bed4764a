#include "pacer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>

int pacer_open(struct pacer *p, struct fault *f)
{
	p->armed_ns = PACER_NEVER;
	p->timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	return p->timer_fd < 0 ? fault_set(f, errno, "timer") : 0;
}

void pacer_close(struct pacer *p)
{
	if (p->timer_fd >= 0)
		close(p->timer_fd);
	p->timer_fd = -1;
}

void pacer_arm(struct pacer *p, int64_t mono_ns)
{
	struct itimerspec at = {{0, 0}, {0, 0}};
	if (mono_ns == p->armed_ns)
		return;
	p->armed_ns = mono_ns;
	/* all zeros would disarm: an instant long ago is as good as the first nanosecond */
	if (mono_ns != PACER_NEVER) {
		at.it_value.tv_sec = mono_ns > 0 ? mono_ns / NSEC_PER_SEC : 0;
		at.it_value.tv_nsec = mono_ns > 0 ? mono_ns % NSEC_PER_SEC : 1;
	}
	timerfd_settime(p->timer_fd, TFD_TIMER_ABSTIME, &at, NULL);
}

int64_t pacer_spin_ns(int64_t gap_ns)
{
	const int64_t longest = 100 * NSEC_PER_USEC;
	const int64_t wake_up = 50 * NSEC_PER_USEC;
	int64_t spin = gap_ns / 10;
	if (spin < wake_up)
		return 0;
	return spin < longest ? spin : longest;
}

int pacer_prepare_thread(enum pacer_priority wish, const char **got, struct fault *f)
{
	*got = "other";
	prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
	if (wish == PACER_NORMAL)
		return 0;
	/* the lowest real-time priority: above every normal thread, below whatever the host runs as real-time */
	struct sched_param priority = {.sched_priority = 1};
	if (wish == PACER_AUTO && sysconf(_SC_NPROCESSORS_ONLN) < 2)
		return 0;
	int rc = pthread_setschedparam(pthread_self(), SCHED_FIFO, &priority);
	if (rc != 0)
		return wish == PACER_REALTIME ? fault_set(f, rc, "real-time priority (needs CAP_SYS_NICE)") : 0;
	*got = "fifo";
	return 0;
}

void pacer_relax_thread(void)
{
	struct sched_param none = {0};
	pthread_setschedparam(pthread_self(), SCHED_OTHER, &none);
}
