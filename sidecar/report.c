#include "report.h"

#include "clock.h"
#include "mismatch.h"
#include "opts.h"
#include "units.h"

#include <math.h>
#include <string.h>

void report_put_identity(json_value *o, const struct watch *w)
{
	if (w->who.pod[0]) {
		json_set_text(o, "namespace", w->who.namespace_name);
		json_set_text(o, "pod", w->who.pod);
	}
	json_set_text(o, "container", w->who.container);
	if (w->who.id[0])
		json_set_text(o, "container_id", w->who.id);
	if (w->who.pod_uid[0])
		json_set_text(o, "pod_uid", w->who.pod_uid);
	json_set_text(o, "scope", scope_name(w->who.scope));
	json_set_text(o, "cgroup", w->open ? w->reader.levels[0].name : NULL);
}

void report_put_demand(json_value *o, const struct watch *w)
{
	const struct demand *d = &w->demand;
	json_set_u64(o, "demand_periods", d->periods);
	json_set_real(o, "demand_cores_mean", demand_mean_cores(d));
	describe_count(o, "periods_exhausted", d->quota_usec != QUOTA_NONE, d->exhausted);
	json_set_real(o, "exhausted_at_ms", demand_exhausted_at_ms(d));
	json_set_real(o, "phase_ms", d->have_phase ? (double)d->phase_ns / 1e6 : NAN);
	json_set_real(o, "phase_width_ms", d->have_phase ? (double)d->phase_width_ns / 1e6 : NAN);
}

void report_put_worst(json_value *o, const struct worst *worst)
{
	if (!worst->any)
		return;
	json_set_real(o, "worst_second_cpu_cores", worst->cores);
	json_set_u64(o, "worst_second_nr_throttled", worst->nr_throttled);
	json_set_u64(o, "worst_second_throttled_usec", worst->throttled_usec);
	json_set_real(o, "worst_second_psi_cpu_share", worst->psi_cpu_share);
	json_set_real(o, "worst_second_psi_io_share", worst->psi_io_share);
}

void report_put_vitals(json_value *o, const struct fleet *fleet)
{
	const struct vitals *v = &fleet->vitals;
	json_set_u64(o, "samples", v->ticks);
	json_set_u64(o, "late_ticks", v->late_ticks);
	json_set_u64(o, "missed_ticks", v->missed_ticks);
	json_set_real(o, "cpu_us_per_sample", fleet_cpu_us_per_sample(fleet));
	json_set_u64(o, "lines_dropped", fleet->log.dropped);
}

/* ---- /report ---- */

static json_value *window_object(const struct watch *w, const struct mark *from)
{
	struct window window;
	struct verdict v;
	json_value *o = json_new_object();
	watch_judge(w, from, &window, &v);
	describe_window(o, &window, &w->limit);
	describe_verdict(o, &v);
	json_set_real(o, "throttled_share_of_time", v.throttled_share);
	json_set_real(o, "contention_share_of_time", v.contention_share);
	json_set_real(o, "io_share_of_time", v.io_share);
	json_set_value(o, "evidence", describe_evidence(&v));
	return o;
}

static json_value *demand_object(const struct watch *w)
{
	json_value *o = json_new_object();
	json_value *bounds = json_new_array();
	json_value *counts = json_new_array();
	report_put_demand(o, w);
	for (size_t i = 0; i < DEMAND_BUCKETS; i++)
		json_add_real(bounds, demand_bounds_cores[i]);
	for (size_t i = 0; i <= DEMAND_BUCKETS; i++)
		json_add_i64(counts, (int64_t)w->demand.buckets[i]);
	json_set_value(o, "bounds_cores", bounds);
	json_set_value(o, "counts", counts);
	return o;
}

static void put_runqueue(json_value *o, const struct watch *w)
{
	if (!w->processes)
		return;
	json_set_text(o, "runqueue", runqueue_state_name(w->runqueue.state));
	json_set_u64(o, "threads", w->runqueue.threads);
	json_set_u64(o, "runqueue_run_ns", w->runqueue.run_ns);
	json_set_u64(o, "runqueue_wait_ns", w->runqueue.wait_ns);
	json_set_bool(o, "runqueue_partial", w->runqueue.partial);
}

static json_value *watch_object(struct watch *w, uint64_t since, bool *known)
{
	json_value *o = json_new_object();
	report_put_identity(o, w);
	json_set_bool(o, "readable", w->open);
	json_set_text(o, "error", w->open ? NULL : fault_text(&w->why));
	put_runqueue(o, w);
	if (!w->open)
		return o;
	struct limit_view limit = watch_limit_view(w);
	json_value *counters = json_new_object();
	describe_limit(o, &limit);
	describe_counters(counters, &w->now.snap.levels[0].counters, COUNTER_USAGE, COUNTER_BURST);
	json_set_u64(o, "restarts", w->restarts);
	json_set_value(o, "cpu_stat", counters);
	json_set_value(o, "since_start", window_object(w, &w->marks[MARK_START]));
	const struct mark *from = watch_find_client_mark(w, since);
	*known |= from != NULL;
	if (from)
		json_set_value(o, "window", window_object(w, from));
	else
		json_set_null(o, "window");
	json_set_value(o, "demand", demand_object(w));
	program_put(o, &w->program, &w->now.snap, &w->cpus, w->reader.hierarchy);
	json_set_value(o, "runtimes", mismatch_runtimes(&w->now.snap, &w->cpus, w->reader.hierarchy));
	return o;
}

/* "<run>-<number>" of this run; 0 for anything else. */
static uint64_t parse_token(const struct fleet *fleet, const char *text)
{
	char run[32];
	uint64_t number;
	int n = snprintf(run, sizeof run, "%llx-", (unsigned long long)fleet->run_id);
	if (!text || strncmp(text, run, (size_t)n) != 0 || units_parse_u64(text + n, &number, NULL) < 0)
		return 0;
	return number;
}

static void give_token(json_value *o, struct fleet *fleet)
{
	char text[64];
	fleet->tokens++;
	for (size_t i = 0; i < fleet->n; i++)
		if (fleet->watches[i]->open)
			(void)watch_client_mark(fleet->watches[i], fleet->tokens);
	snprintf(text, sizeof text, "%llx-%llu", (unsigned long long)fleet->run_id, (unsigned long long)fleet->tokens);
	json_set_text(o, "token", text);
}

json_value *report_document(struct fleet *fleet, const char *since, bool *unknown_token)
{
	char time_text[CLOCK_RFC3339_SIZE];
	uint64_t token = parse_token(fleet, since);
	bool known = false;
	json_value *o = json_new_object();
	json_value *list = json_new_array();
	clock_rfc3339(clock_wall_ns(), time_text);
	json_set_u64(o, "schema_version", REPORT_SCHEMA_VERSION);
	json_set_text(o, "time", time_text);
	json_set_i64(o, "mono_ns", clock_mono_ns());
	json_set_text(o, "version", opts_version());
	json_set_text(o, "way", fleet->way);
	for (size_t i = 0; i < fleet->n; i++) {
		struct watch *w = fleet->watches[i];
		/* what was read up to 1 s ago must not be the start or the end of a client's window */
		if (w->open)
			(void)fleet_sample_full(fleet, w, NULL);
		json_add_value(list, watch_object(w, token, &known));
	}
	/* a client with a wrong token must not push those of others out */
	*unknown_token = since && !known;
	if (!*unknown_token)
		give_token(o, fleet);
	json_set_value(o, "containers", list);
	json_value *self = json_new_object();
	report_put_vitals(self, fleet);
	json_set_value(o, "sidecar", self);
	return o;
}
