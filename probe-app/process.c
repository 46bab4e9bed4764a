#include "process.h"

#include "clock.h"

#include <fcntl.h>
#include <math.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>

static size_t read_text(const char *path, char *out, size_t size)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = fd < 0 ? -1 : read(fd, out, size - 1);
	out[n > 0 ? n : 0] = '\0';
	return n > 0 ? (size_t)n : 0;
}

/* Field 3 and on of /proc/self/stat: the command before it may hold blanks and parentheses. */
static double stat_field(const char *stat, int wanted)
{
	const char *at = strrchr(stat, ')');
	if (!at)
		return NAN;
	for (int field = 3; field <= wanted; field++) {
		at = strchr(at, ' ');
		if (!at)
			return NAN;
		at++;
	}
	return strtod(at, NULL);
}

static double count_fds(void)
{
	CLEANUP_CLOSEDIR DIR *dir = opendir("/proc/self/fd");
	double n = 0;
	if (!dir)
		return NAN;
	for (struct dirent *e = readdir(dir); e; e = readdir(dir))
		n += e->d_name[0] != '.';
	return n - 1; /* the descriptor of this directory */
}

void process_read(struct process_figures *out)
{
	enum { STAT_THREADS = 20, STAT_START_TICKS = 22, STAT_VSIZE = 23, STAT_RSS_PAGES = 24 };
	char stat[1024];
	struct rlimit files;
	struct timespec boot;
	read_text("/proc/self/stat", stat, sizeof stat);
	clock_gettime(CLOCK_BOOTTIME, &boot);
	double booted = (double)clock_wall_ns() / 1e9 - ((double)boot.tv_sec + (double)boot.tv_nsec / 1e9);
	out->cpu_seconds = (double)clock_process_cpu_ns() / 1e9;
	out->threads = stat_field(stat, STAT_THREADS);
	out->start_time_seconds = booted + stat_field(stat, STAT_START_TICKS) / (double)sysconf(_SC_CLK_TCK);
	out->virtual_bytes = stat_field(stat, STAT_VSIZE);
	out->resident_bytes = stat_field(stat, STAT_RSS_PAGES) * (double)sysconf(_SC_PAGESIZE);
	out->open_fds = count_fds();
	out->max_fds = getrlimit(RLIMIT_NOFILE, &files) == 0 ? (double)files.rlim_cur : NAN;
}
