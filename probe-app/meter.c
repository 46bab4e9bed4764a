#include "meter.h"

#include "clock.h"
#include "kv.h"

#include <fcntl.h>

void meter_open(struct meter *m)
{
	m->fd = open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC);
}

void meter_close(struct meter *m)
{
	if (m->fd >= 0)
		close(m->fd);
	m->fd = -1;
}

int64_t meter_runqueue_ns(const struct meter *m)
{
	char text[96];
	struct schedstat s;
	if (m->fd < 0)
		return METER_UNKNOWN;
	ssize_t n = pread(m->fd, text, sizeof text - 1, 0);
	if (n <= 0)
		return METER_UNKNOWN;
	text[n] = '\0';
	if (kv_read_schedstat(text, &s, NULL) < 0 || s.wait_ns > INT64_MAX)
		return METER_UNKNOWN;
	return (int64_t)s.wait_ns;
}

struct reading meter_read(const struct meter *m)
{
	struct reading r = {.runqueue_ns = meter_runqueue_ns(m)};
	r.cpu_ns = clock_thread_cpu_ns();
	r.mono_ns = clock_mono_ns();
	return r;
}

static int64_t not_negative(int64_t ns)
{
	return ns > 0 ? ns : 0;
}

struct elapsed meter_between(const struct reading *from, const struct reading *to)
{
	struct elapsed e = {
		.wall_ns = not_negative(to->mono_ns - from->mono_ns),
		.cpu_ns = not_negative(to->cpu_ns - from->cpu_ns),
		.runqueue_ns = METER_UNKNOWN,
	};
	if (from->runqueue_ns != METER_UNKNOWN && to->runqueue_ns != METER_UNKNOWN)
		e.runqueue_ns = not_negative(to->runqueue_ns - from->runqueue_ns);
	e.asleep_ns = not_negative(e.wall_ns - e.cpu_ns - (e.runqueue_ns > 0 ? e.runqueue_ns : 0));
	return e;
}
