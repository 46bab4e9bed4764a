#include "watch.h"

#include "clock.h"

#include <errno.h>

int watch_open(struct watch *w, pid_t pid, struct fault *f)
{
	CLEANUP_TREE struct tree tree = TREE_CLOSED;
	CLEANUP_CGROUP_TARGET struct cgroup_target target = CGROUP_TARGET_NONE;
	char proc_name[16];
	*w = WATCH_CLOSED;
	snprintf(proc_name, sizeof proc_name, "%d", (int)pid);
	int rc = tree_open(&tree, "/", f);
	if (rc == 0)
		rc = cgroup_resolve_process(&target, &tree, proc_name, f);
	if (rc == 0)
		rc = reader_open(&w->reader, &target, f);
	w->open = rc == 0;
	return rc;
}

static uint64_t usage_of_v1(const struct watch *w)
{
	char text[64];
	uint64_t usage_ns = 0;
	if (textfile_reread(&w->reader.usage, text, sizeof text) <= 0 || kv_read_number(text, &usage_ns, NULL) < 0)
		return 0;
	return usage_ns / (uint64_t)NSEC_PER_USEC;
}

int watch_poll(struct watch *w, struct fault *f)
{
	static const char *const keys[] = {"nr_periods", "nr_throttled", "throttled_usec", "throttled_time",
					   "usage_usec"};
	char text[TEXTFILE_MAX];
	uint64_t values[ARRAY_LEN(keys)];
	uint32_t have;
	ssize_t n = textfile_reread(&w->reader.levels[0].stat, text, sizeof text);
	if (n < 0)
		return fault_set(f, (int)-n, "cannot read cpu.stat");
	int rc = kv_read_keys(text, keys, ARRAY_LEN(keys), values, &have, f);
	if (rc < 0 || !(have & 1))
		return rc;
	struct tick_sample now = {.mono_ns = clock_mono_ns(),
				  .nr_periods = values[0],
				  .nr_throttled = values[1],
				  .throttled_usec = have & 4 ? values[2] : values[3] / (uint64_t)NSEC_PER_USEC};
	bool may_have_changed = !w->ticks.started || now.nr_periods != w->ticks.last.nr_periods ||
				now.throttled_usec != w->ticks.last.throttled_usec;
	if (have & 16)
		now.usage_usec = values[4];
	else if (may_have_changed)
		now.usage_usec = usage_of_v1(w);
	return ticks_observe(&w->ticks, &now, f);
}

int watch_snapshot(const struct watch *w, struct snapshot *s, struct fault *f)
{
	return reader_take(&w->reader, SNAPSHOT_FULL, s, f);
}

void watch_close(struct watch *w)
{
	if (w->open)
		reader_close(&w->reader);
	ticks_release(&w->ticks);
	*w = WATCH_CLOSED;
}
