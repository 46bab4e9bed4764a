/*
 * pace - what nobody can go below: wake up at a fixed interval and read files again, nothing else.
 *
 *   pace [-s epoll|sleep] INTERVAL_MS SECONDS [FILE...]
 *
 * -s epoll  timerfd, epoll_wait and read of the timerfd (the default; what an event loop does)
 * -s sleep  clock_nanosleep to the next absolute instant
 *
 * The FILEs are opened once and read with one pread each at every tick. One JSON line at the end: ticks, late ticks
 * (more than half an interval), CPU seconds of the loop, bytes read.
 *
 * Build: cc -O2 -Wall -Wextra -o pace pace.c
 */
#define _GNU_SOURCE
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <time.h>
#include <unistd.h>

enum { MAX_FILES = 1024 };

static int64_t now_ns(clockid_t id)
{
	struct timespec t;
	clock_gettime(id, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static struct timespec timespec_of(int64_t ns)
{
	return (struct timespec){.tv_sec = ns / 1000000000, .tv_nsec = ns % 1000000000};
}

static int die(const char *what)
{
	perror(what);
	exit(1);
}

static int timer_fd = -1, epoll_fd = -1;

static void start_timer(int64_t first_ns, int64_t interval_ns)
{
	struct itimerspec t = {.it_value = timespec_of(first_ns), .it_interval = timespec_of(interval_ns)};
	struct epoll_event e = {.events = EPOLLIN};
	timer_fd = timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC);
	epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (timer_fd < 0 || epoll_fd < 0 || timerfd_settime(timer_fd, TFD_TIMER_ABSTIME, &t, NULL) < 0 ||
	    epoll_ctl(epoll_fd, EPOLL_CTL_ADD, timer_fd, &e) < 0)
		die("timer");
}

/* Waits for the instant, or for the next one of the timer; how many passed. */
static uint64_t wait_epoll(void)
{
	struct epoll_event e;
	uint64_t expired = 0;
	if (epoll_wait(epoll_fd, &e, 1, -1) != 1 || read(timer_fd, &expired, sizeof expired) != sizeof expired)
		return 0;
	return expired;
}

static uint64_t wait_sleep(int64_t next_ns, int64_t interval_ns)
{
	struct timespec until = timespec_of(next_ns);
	if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL))
		return 0;
	int64_t late_ns = now_ns(CLOCK_MONOTONIC) - next_ns;
	return 1 + (uint64_t)(late_ns / interval_ns);
}

int main(int argc, char **argv)
{
	int by_sleep = 0, option;
	while ((option = getopt(argc, argv, "s:")) != -1) {
		if (option != 's' || (strcmp(optarg, "sleep") && strcmp(optarg, "epoll")))
			return 2;
		by_sleep = strcmp(optarg, "sleep") == 0;
	}
	if (argc - optind < 2 || argc - optind - 2 > MAX_FILES) {
		fprintf(stderr, "usage: pace [-s epoll|sleep] INTERVAL_MS SECONDS [FILE...]\n");
		return 2;
	}
	int64_t interval_ns = (int64_t)(atof(argv[optind]) * 1e6);
	int64_t seconds_ns = (int64_t)(atof(argv[optind + 1]) * 1e9);
	char **files = argv + optind + 2;
	int n = argc - optind - 2, fds[MAX_FILES];
	if (interval_ns <= 0 || seconds_ns <= 0)
		return 2;
	for (int i = 0; i < n; i++)
		if ((fds[i] = open(files[i], O_RDONLY | O_CLOEXEC)) < 0)
			die(files[i]);
	prctl(PR_SET_TIMERSLACK, 1UL);
	int64_t begin_ns = now_ns(CLOCK_MONOTONIC), next_ns = begin_ns + interval_ns;
	uint64_t ticks = 0, late = 0, bytes = 0;
	if (!by_sleep)
		start_timer(next_ns, interval_ns);
	int64_t cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID);
	for (int64_t at_ns = begin_ns; at_ns < begin_ns + seconds_ns;) {
		uint64_t passed = by_sleep ? wait_sleep(next_ns, interval_ns) : wait_epoll();
		char text[4096];
		for (int i = 0; passed && i < n; i++) {
			ssize_t got = pread(fds[i], text, sizeof text, 0);
			bytes += got > 0 ? (uint64_t)got : 0;
		}
		at_ns = now_ns(CLOCK_MONOTONIC);
		next_ns += (int64_t)passed * interval_ns;
		late += passed && at_ns - (next_ns - interval_ns) > interval_ns / 2;
		ticks += passed > 0;
	}
	cpu_ns = now_ns(CLOCK_PROCESS_CPUTIME_ID) - cpu_ns;
	printf("{\"ticks\":%llu,\"late\":%llu,\"cpu_s\":%.6f,\"wall_s\":%.6f,\"bytes\":%llu}\n",
	       (unsigned long long)ticks, (unsigned long long)late, (double)cpu_ns / 1e9,
	       (double)(now_ns(CLOCK_MONOTONIC) - begin_ns) / 1e9, (unsigned long long)bytes);
	return 0;
}
