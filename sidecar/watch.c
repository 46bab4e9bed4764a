#include "watch.h"

#include <errno.h>
#include <math.h>
#include <string.h>

const char *scope_name(enum scope s)
{
	static const char *const names[] = {"container", "pod", "node"};
	return names[s];
}

struct watch *watch_new(void)
{
	struct watch *w = calloc(1, sizeof *w);
	if (w)
		w->target = CGROUP_TARGET_NONE;
	return w;
}

int watch_open(struct watch *w, struct cgroup_target *target, const struct cpu_counts *cpus, struct fault *f)
{
	int rc = reader_open(&w->reader, target, f);
	if (rc == 0) {
		w->now.snap = (struct snapshot){0};
		rc = reader_take(&w->reader, SNAPSHOT_FULL, &w->now.snap, f);
		if (rc < 0)
			reader_close(&w->reader);
	}
	if (rc < 0) {
		cgroup_target_release(target);
		return rc;
	}
	cgroup_target_release(&w->target);
	w->target = *target;
	*target = CGROUP_TARGET_NONE;
	w->open = true;
	w->denied = w->complained = w->lost = false;
	w->cpus = *cpus;
	w->limit = w->told_limit = limit_of(&w->now.snap);
	watch_mark_all(w);
	memset(w->client_tokens, 0, sizeof w->client_tokens);
	memset(w->edges, 0, sizeof w->edges);
	demand_init(&w->demand);
	worst_reset(&w->worst);
	return 0;
}

void watch_close(struct watch *w)
{
	if (w->open)
		reader_close(&w->reader);
	cgroup_target_release(&w->target);
	w->open = false;
}

void watch_delete(struct watch *w)
{
	if (!w)
		return;
	watch_close(w);
	if (w->processes)
		processes_close(w->processes);
	free(w->processes);
	free(w->client_marks);
	free(w);
}

void watch_take_witnesses(struct watch *w, const struct cpu_ticks *ticks)
{
	struct witnesses *to = &w->now.witnesses;
	to->have_ticks = ticks != NULL;
	if (ticks)
		to->ticks = *ticks;
	if (!w->processes)
		return;
	processes_read(w->processes, &w->runqueue);
	/* the totals only grow: that nothing of it is visible now takes nothing from them */
	to->have_runqueue = w->runqueue.state != RUNQUEUE_OFF;
	to->run_ns = w->runqueue.run_ns;
	to->runqueue_wait_ns = w->runqueue.wait_ns;
}

static void take_demand(struct watch *w)
{
	static const struct cpu_quota none = {.quota_usec = QUOTA_NONE, .period_usec = CPU_PERIOD_DEFAULT_USEC};
	const struct counters *own = &w->now.snap.levels[0].counters;
	const struct counters *binding = &w->now.snap.levels[w->limit.level].counters;
	bool limited = w->limit.status == LIMIT_SET;
	if (counters_have(own, COUNTER_USAGE))
		demand_take(
			&w->demand, w->now.snap.mono_ns, own->value[COUNTER_USAGE], limited ? &w->limit.quota : &none,
			limited && counters_have(binding, COUNTER_NR_PERIODS) ? binding->value[COUNTER_NR_PERIODS] : 0);
}

int watch_sample(struct watch *w, enum snapshot_what what, struct fault *f)
{
	int rc = reader_take(&w->reader, what, &w->now.snap, f);
	if (rc < 0)
		return rc;
	w->limit = limit_of(&w->now.snap);
	take_demand(w);
	return 0;
}

void watch_mark(struct watch *w, enum mark_kind kind)
{
	w->marks[kind] = w->now;
}

void watch_mark_all(struct watch *w)
{
	for (enum mark_kind kind = 0; kind < MARKS; kind++)
		watch_mark(w, kind);
}

bool watch_client_mark(struct watch *w, uint64_t token)
{
	if (!w->client_marks)
		w->client_marks = calloc(CLIENT_MARKS, sizeof *w->client_marks);
	if (!w->client_marks)
		return false;
	w->client_marks[token % CLIENT_MARKS] = w->now;
	w->client_tokens[token % CLIENT_MARKS] = token;
	return true;
}

const struct mark *watch_find_client_mark(const struct watch *w, uint64_t token)
{
	if (!token || !w->client_marks || w->client_tokens[token % CLIENT_MARKS] != token)
		return NULL;
	return &w->client_marks[token % CLIENT_MARKS];
}

static void add_ticks(struct verdict_input *in, const struct witnesses *from, const struct witnesses *to)
{
	in->have_ticks = from->have_ticks && to->have_ticks && to->ticks.total >= from->ticks.total;
	if (!in->have_ticks)
		return;
	/* idle and iowait of one CPU can step back by a tick */
	in->ticks.total = to->ticks.total - from->ticks.total;
	in->ticks.idle = to->ticks.idle > from->ticks.idle ? to->ticks.idle - from->ticks.idle : 0;
	in->ticks.iowait = to->ticks.iowait > from->ticks.iowait ? to->ticks.iowait - from->ticks.iowait : 0;
	in->ticks.steal = to->ticks.steal > from->ticks.steal ? to->ticks.steal - from->ticks.steal : 0;
}

void watch_judge(const struct watch *w, const struct mark *from, struct window *window, struct verdict *out)
{
	window_between(window, &from->snap, &w->now.snap);
	struct verdict_input in = {
		.window = w->open ? window : NULL,
		.unreadable = w->open ? NULL : fault_text(&w->why),
		.limit = w->limit,
		.ancestors_hidden = w->open && w->reader.ancestors_hidden,
		.nproc = w->cpus.have_nproc ? (double)w->cpus.nproc : NAN,
	};
	const struct witnesses *a = &from->witnesses;
	const struct witnesses *b = &w->now.witnesses;
	add_ticks(&in, a, b);
	in.have_runqueue = a->have_runqueue && b->have_runqueue && b->run_ns >= a->run_ns &&
			   b->runqueue_wait_ns >= a->runqueue_wait_ns;
	if (in.have_runqueue) {
		in.run_ns = b->run_ns - a->run_ns;
		in.runqueue_wait_ns = b->runqueue_wait_ns - a->runqueue_wait_ns;
	}
	verdict_judge(&in, &verdict_default_thresholds, out);
}

struct limit_view watch_limit_view(const struct watch *w)
{
	if (w->open)
		return limit_view_of(&w->reader, &w->now.snap, &w->cpus);
	return (struct limit_view){.limit = {.status = LIMIT_UNKNOWN}};
}
