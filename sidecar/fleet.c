#include "fleet.h"

#include "clock.h"

#include <math.h>
#include <string.h>

double fleet_cpu_us_per_sample(const struct fleet *fleet)
{
	const struct vitals *v = &fleet->vitals;
	return v->ticks ? (double)(clock_process_cpu_ns() - v->started_cpu_ns) / 1e3 / (double)v->ticks : NAN;
}

static void open_own(struct fleet *fleet, const struct tree *t)
{
	CLEANUP_CGROUP_TARGET struct cgroup_target target = CGROUP_TARGET_NONE;
	fleet->own_open =
		cgroup_resolve_process(&target, t, "self", NULL) == 0 && reader_open(&fleet->own, &target, NULL) == 0;
}

void fleet_open(struct fleet *fleet, const struct tree *t)
{
	open_own(fleet, t);
	CLEANUP_CLOSE int proc = tree_open_folder(t, "proc", NULL);
	fleet->proc_stat = TEXTFILE_CLOSED;
	if (proc >= 0)
		(void)(textfile_open_at(&fleet->proc_stat, proc, "stat", NULL) == 0);
}

void fleet_close(struct fleet *fleet)
{
	textfile_close(&fleet->proc_stat);
	if (fleet->own_open)
		reader_close(&fleet->own);
	fleet->own_open = false;
}

bool fleet_own_throttling(const struct fleet *fleet, uint64_t *nr_throttled, uint64_t *throttled_usec)
{
	struct snapshot s = {0};
	if (!fleet->own_open || reader_take(&fleet->own, SNAPSHOT_FULL, &s, NULL) < 0)
		return false;
	struct limit limit = limit_of(&s);
	const struct counters *c = &s.levels[limit.level].counters;
	*nr_throttled = c->value[COUNTER_NR_THROTTLED];
	*throttled_usec = c->value[COUNTER_THROTTLED];
	return limit.status == LIMIT_SET && counters_have(c, COUNTER_NR_THROTTLED) &&
	       counters_have(c, COUNTER_THROTTLED);
}

static const struct cpu_ticks *read_ticks(const struct fleet *fleet, struct cpu_ticks *ticks)
{
	/* the first line is all that is wanted, and the file can be long: a full buffer is fine here */
	char text[512];
	ssize_t n = fleet->proc_stat.fd < 0 ? -1 : pread(fleet->proc_stat.fd, text, sizeof text - 1, 0);
	if (n <= 0)
		return NULL;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return kv_read_cpu_ticks(text, ticks, NULL) == 0 ? ticks : NULL;
}

void fleet_take_witnesses(const struct fleet *fleet, struct watch *w)
{
	struct cpu_ticks ticks;
	watch_take_witnesses(w, read_ticks(fleet, &ticks));
}

int fleet_sample_full(const struct fleet *fleet, struct watch *w, struct fault *f)
{
	int rc = watch_sample(w, SNAPSHOT_FULL, f);
	if (rc == 0)
		fleet_take_witnesses(fleet, w);
	return rc;
}
