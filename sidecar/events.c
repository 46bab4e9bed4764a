#include "events.h"

#include "clock.h"
#include "mismatch.h"
#include "opts.h"
#include "report.h"

#include <inttypes.h>
#include <math.h>

static void put_limit(json_value *line, const struct watch *w)
{
	struct limit_view limit = watch_limit_view(w);
	describe_limit(line, &limit);
}

void event_started(struct fleet *fleet, unsigned http_port)
{
	json_value *line = log_line(&fleet->log, LOG_INFO, "started", "headroom-sidecar %s looks for its target by: %s",
				    opts_version(), fleet->way);
	json_set_text(line, "way", fleet->way);
	json_set_text(line, "version", opts_version());
	json_set_real(line, "interval_ms", (double)fleet->vitals.interval_ns / 1e6);
	if (http_port)
		json_set_u64(line, "http_port", http_port);
	log_emit(&fleet->log, line);
}

void event_stopped(struct fleet *fleet)
{
	json_value *line = log_line(&fleet->log, LOG_INFO, "stopped", "stopped after %.1f s",
				    (double)(clock_mono_ns() - fleet->vitals.started_mono_ns) / 1e9);
	report_put_vitals(line, fleet);
	log_emit(&fleet->log, line);
}

void event_target_found(struct fleet *fleet, const struct watch *w)
{
	json_value *line = log_line(&fleet->log, LOG_INFO, "target_found", "found %s %s", scope_name(w->who.scope),
				    w->who.container);
	report_put_identity(line, w);
	put_limit(line, w);
	log_emit(&fleet->log, line);
}

void event_target_lost(struct fleet *fleet, const struct watch *w, const char *why)
{
	json_value *line = log_line(&fleet->log, LOG_WARN, "target_lost", "lost %s %s: %s", scope_name(w->who.scope),
				    w->who.container, why);
	report_put_identity(line, w);
	log_emit(&fleet->log, line);
}

void event_unreadable(struct fleet *fleet, const struct watch *w)
{
	json_value *line = log_line(&fleet->log, LOG_ERROR, "unreadable", "%s", fault_text(&w->why));
	report_put_identity(line, w);
	log_emit(&fleet->log, line);
}

void event_restarted(struct fleet *fleet, const struct watch *w)
{
	json_value *line = log_line(&fleet->log, LOG_INFO, "restarted",
				    "%s %s was made anew: its counters began again, and so do all differences",
				    scope_name(w->who.scope), w->who.container);
	report_put_identity(line, w);
	json_set_u64(line, "restarts", w->restarts);
	put_limit(line, w);
	log_emit(&fleet->log, line);
}

void event_mismatch(struct fleet *fleet, const struct watch *w)
{
	struct mismatch m;
	struct limit_view limit = watch_limit_view(w);
	mismatch_judge(w->who.container, &limit, &m);
	if (m.kind == MISMATCH_NONE)
		return;
	json_value *line =
		log_line(&fleet->log, m.kind == MISMATCH_NO_LIMIT ? LOG_INFO : LOG_WARN,
			 m.kind == MISMATCH_NO_LIMIT ? "no_limit" : "nproc_quota_mismatch", "%s", m.sentence);
	report_put_identity(line, w);
	put_limit(line, w);
	mismatch_put(line, &w->now.snap, &w->cpus, w->reader.hierarchy);
	program_put(line, &w->program, &w->now.snap, &w->cpus, w->reader.hierarchy);
	log_emit(&fleet->log, line);
}

/* ---- the limit ---- */

/* The kernel makes a period that is too short longer, and the quota with it, in nanoseconds: in the microseconds of the
 * files each of the four numbers is rounded down, so that the ratio differs by up to two of them. */
static bool is_scaled(const struct cpu_quota *a, const struct cpu_quota *b)
{
	double ratio = cpu_quota_cpus(a) / cpu_quota_cpus(b);
	double tolerance = 1.0 / (double)(a->quota_usec < b->quota_usec ? a->quota_usec : b->quota_usec) +
			   1.0 / (double)(a->period_usec < b->period_usec ? a->period_usec : b->period_usec);
	return a->period_usec != b->period_usec && fabs(ratio - 1) <= tolerance;
}

bool event_limit_differs(const struct limit *a, const struct limit *b)
{
	if (a->status != b->status)
		return true;
	if (a->status != LIMIT_SET)
		return false;
	return a->level != b->level ||
	       ((cpu_quota_is_below(&a->quota, &b->quota) || cpu_quota_is_below(&b->quota, &a->quota)) &&
		!is_scaled(&a->quota, &b->quota));
}

static void limit_text(const struct limit *l, char out[64])
{
	if (l->status == LIMIT_SET)
		snprintf(out, 64, "%.4g CPUs", cpu_quota_cpus(&l->quota));
	else
		snprintf(out, 64, "%s", l->status == LIMIT_NONE ? "no limit" : "unknown");
}

void event_limit_changed(struct fleet *fleet, const struct watch *w, const struct limit *before)
{
	char was[64];
	char is[64];
	limit_text(before, was);
	limit_text(&w->limit, is);
	json_value *line = log_line(&fleet->log, LOG_INFO, "limit_changed", "the CPU limit of %s changed from %s to %s",
				    w->who.container, was, is);
	report_put_identity(line, w);
	json_set_real(line, "before_quota_cpus", before->status == LIMIT_SET ? cpu_quota_cpus(&before->quota) : NAN);
	put_limit(line, w);
	log_emit(&fleet->log, line);
}

/* ---- edges ---- */

/* Shares: of active periods for throttling (as CPUThrottlingHigh), of wall time for the others. */
static const struct {
	const char *event;
	const char *value_key;
	double open_at, resolve_below;
} edge_kinds[EDGES] = {
	[EDGE_THROTTLED] = {"throttled", "throttled_share_of_periods", 0.25, 0.10},
	[EDGE_THROTTLED_ABOVE] = {"throttled_above", "throttled_share_of_periods_above", 0.25, 0.10},
	[EDGE_CONTENTION] = {"contention", "contention_share_of_time", 0.20, 0.10},
	[EDGE_IO_WAIT] = {"io_wait", "io_share_of_time", 0.10, 0.05},
};

static double share_above(const struct window *w)
{
	double most = NAN;
	for (size_t i = 1; i < w->n_levels; i++)
		most = fmax(most, window_throttled_share(w, i));
	return most;
}

static double edge_value(enum edge_kind kind, const struct window *w, const struct verdict *v)
{
	/* no active period at all is a quiet window, not a missing figure */
	switch (kind) {
	case EDGE_THROTTLED:
		if (counters_have(&w->levels[0].delta, COUNTER_NR_PERIODS) &&
		    w->levels[0].delta.value[COUNTER_NR_PERIODS] == 0)
			return 0;
		return window_throttled_share(w, 0);
	case EDGE_THROTTLED_ABOVE:
		return w->n_levels > 1 ? fmax(0, share_above(w)) : NAN;
	case EDGE_CONTENTION:
		return v->contention_share;
	default:
		return v->io_share;
	}
}

static struct edge_base totals(const struct snapshot *s, enum edge_kind kind)
{
	struct edge_base t = {0};
	size_t first = kind == EDGE_THROTTLED ? 0 : 1;
	size_t last = kind == EDGE_THROTTLED ? 1 : kind == EDGE_THROTTLED_ABOVE ? s->n_levels : 0;
	for (size_t i = first; i < last && i < s->n_levels; i++) {
		t.nr_throttled += s->levels[i].counters.value[COUNTER_NR_THROTTLED];
		t.throttled_usec += s->levels[i].counters.value[COUNTER_THROTTLED];
	}
	enum psi_resource r = kind == EDGE_IO_WAIT ? PSI_IO : PSI_CPU;
	if (s->psi_status[r] == PSI_OK)
		t.psi_usec = s->psi[r].some.total_usec;
	return t;
}

/* A counter that is smaller than it was: a limit above was taken away, and its counters with it. */
static void put_growth(json_value *line, const char *key, uint64_t before, uint64_t now)
{
	if (now >= before)
		json_set_u64(line, key, now - before);
	else
		json_set_null(line, key);
}

/* How long it has been open, and how much came together since the beginning of the window that opened it. */
static void put_totals(json_value *line, const struct watch *w, enum edge_kind kind, int64_t now_ns)
{
	struct edge_base now = totals(&w->now.snap, kind);
	const struct edge_base *base = &w->edge_bases[kind];
	json_set_real(line, "open_for_s", (double)(now_ns - w->edges[kind].opened_ns) / 1e9);
	if (kind == EDGE_THROTTLED || kind == EDGE_THROTTLED_ABOVE) {
		put_growth(line, "total_nr_throttled", base->nr_throttled, now.nr_throttled);
		put_growth(line, "total_throttled_usec", base->throttled_usec, now.throttled_usec);
	} else {
		put_growth(line, "total_psi_some_usec", base->psi_usec, now.psi_usec);
	}
	json_set_u64(line, "suppressed", w->edges[kind].suppressed);
}

static void say_edge(struct fleet *fleet, struct watch *w, enum edge_kind kind, enum edge_action action, double value,
		     const struct window *window, const struct verdict *v, int64_t now_ns)
{
	static const char *const states[] = {
		[EDGE_OPENED] = "opened", [EDGE_REPEATED] = "open", [EDGE_RESOLVED] = "resolved"};
	json_value *line;
	if (action == EDGE_RESOLVED)
		line = log_line(&fleet->log, LOG_INFO, edge_kinds[kind].event, "%s: %s is over after %.0f s",
				w->who.container, edge_kinds[kind].event,
				(double)(now_ns - w->edges[kind].opened_ns) / 1e9);
	else
		line = log_line(&fleet->log, LOG_WARN, edge_kinds[kind].event, "%s %s", w->who.container,
				v->words.sentence);
	report_put_identity(line, w);
	json_set_text(line, "state", states[action]);
	json_set_real(line, edge_kinds[kind].value_key, value);
	if (action == EDGE_OPENED)
		w->edge_bases[kind] = totals(&w->marks[MARK_EVENT].snap, kind);
	else
		put_totals(line, w, kind, now_ns);
	describe_window(line, window, &w->limit);
	if (action != EDGE_RESOLVED)
		describe_verdict(line, v);
	log_emit(&fleet->log, line);
}

void events_evaluate(struct fleet *fleet, struct watch *w)
{
	struct window window;
	struct verdict v;
	int64_t now_ns = w->now.snap.mono_ns;
	watch_judge(w, &w->marks[MARK_EVENT], &window, &v);
	for (enum edge_kind kind = 0; kind < EDGES && !window.restarted; kind++) {
		double value = edge_value(kind, &window, &v);
		enum edge_action action = edge_step(&w->edges[kind], value, edge_kinds[kind].open_at,
						    edge_kinds[kind].resolve_below, now_ns);
		if (action != EDGE_NOTHING)
			say_edge(fleet, w, kind, action, value, &window, &v, now_ns);
	}
	watch_mark(w, MARK_EVENT);
}

/* ---- summary ---- */

void event_summary(struct fleet *fleet, struct watch *w)
{
	struct window window;
	struct verdict v;
	watch_judge(w, &w->marks[MARK_LOG], &window, &v);
	json_value *line = log_line(&fleet->log, LOG_INFO, "summary", "%s: %s", w->who.container, v.words.sentence);
	report_put_identity(line, w);
	put_limit(line, w);
	describe_window(line, &window, &w->limit);
	report_put_worst(line, &w->worst);
	report_put_demand(line, w);
	describe_verdict(line, &v);
	report_put_vitals(line, fleet);
	log_emit(&fleet->log, line);
	worst_reset(&w->worst);
	watch_mark(w, MARK_LOG);
}
