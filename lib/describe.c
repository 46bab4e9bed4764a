#include "describe.h"

#include <math.h>

struct limit_view limit_view_of(const struct reader *r, const struct snapshot *s, const struct cpu_counts *cpus)
{
	struct limit_view v = {
		.limit = limit_of(s),
		.ancestors_hidden_known = r->ancestors_hidden_known,
		.ancestors_hidden = r->ancestors_hidden,
		.cpus = *cpus,
	};
	if (v.limit.status == LIMIT_SET)
		v.binding_cgroup = r->levels[v.limit.level].name;
	return v;
}

void describe_count(json_value *o, const char *key, bool have, uint64_t n)
{
	if (have)
		json_set_u64(o, key, n);
	else
		json_set_null(o, key);
}

static void put_known_bool(json_value *o, const char *key, bool known, bool value)
{
	if (known)
		json_set_bool(o, key, value);
	else
		json_set_null(o, key);
}

void describe_limit(json_value *o, const struct limit_view *v)
{
	static const char *const names[] = {"unknown", "unlimited", "limited"};
	bool limited = v->limit.status == LIMIT_SET;
	double effective = cpus_effective(&v->cpus, &v->limit);
	json_set_text(o, "quota_status", names[v->limit.status]);
	json_set_real(o, "quota_cpus", limited ? cpu_quota_cpus(&v->limit.quota) : NAN);
	describe_count(o, "quota_usec", limited, v->limit.quota.quota_usec);
	describe_count(o, "period_usec", limited, v->limit.quota.period_usec);
	json_set_text(o, "binding_cgroup", v->binding_cgroup);
	put_known_bool(o, "ancestors_hidden", v->ancestors_hidden_known, v->ancestors_hidden);
	describe_count(o, "cpuset_cpus", v->cpus.have_cpuset, v->cpus.cpuset);
	describe_count(o, "online_cpus", v->cpus.have_online, v->cpus.online);
	describe_count(o, "nproc", v->cpus.have_nproc, v->cpus.nproc);
	json_set_real(o, "effective_cpus", effective);
	put_known_bool(o, "mismatch", v->cpus.have_nproc && !isnan(effective), effective < v->cpus.nproc);
}

void describe_counters(json_value *o, const struct counters *c, enum counter first, enum counter last)
{
	for (enum counter i = first; i <= last; i++)
		describe_count(o, counter_key(i), counters_have(c, i), c->value[i]);
}

static void put_throttling(json_value *o, const struct window *w)
{
	const struct counters *d = &w->levels[0].delta;
	double throttled = counters_have(d, COUNTER_NR_THROTTLED) ? (double)d->value[COUNTER_NR_THROTTLED] : NAN;
	double stop_ms = counters_have(d, COUNTER_THROTTLED) ? (double)d->value[COUNTER_THROTTLED] / 1e3 : NAN;
	describe_counters(o, d, COUNTER_NR_PERIODS, COUNTER_THROTTLED);
	json_set_real(o, "throttled_share_of_periods", window_throttled_share(w, 0));
	json_set_real(o, "throttled_periods_per_s", throttled * 1e9 / (double)w->duration_ns);
	json_set_real(o, "stop_ms_per_throttled_period", throttled > 0 ? stop_ms / throttled : NAN);
}

/* Of every level above that is visible and has a quota; null when there is none. */
static void put_throttling_above(json_value *o, const struct window *w)
{
	uint64_t periods = 0;
	uint64_t usec = 0;
	bool any = false;
	for (size_t i = 1; i < w->n_levels; i++) {
		any |= counters_have(&w->levels[i].delta, COUNTER_NR_THROTTLED);
		periods += window_count(w, i, COUNTER_NR_THROTTLED);
		usec += window_count(w, i, COUNTER_THROTTLED);
	}
	describe_count(o, "nr_throttled_above", any, periods);
	describe_count(o, "throttled_usec_above", any, usec);
}

void describe_window(json_value *o, const struct window *w, const struct limit *limit)
{
	static const char *const some_keys[] = {"psi_cpu_some_usec", "psi_io_some_usec", "psi_memory_some_usec"};
	static const char *const full_keys[] = {"psi_cpu_full_usec", "psi_io_full_usec", "psi_memory_full_usec"};
	double cores = window_cores(w);
	json_set_bool(o, "restarted", w->restarted);
	json_set_real(o, "duration_s", (double)w->duration_ns / 1e9);
	if (w->restarted)
		return;
	describe_counters(o, &w->levels[0].delta, COUNTER_USAGE, COUNTER_USAGE);
	json_set_real(o, "cpu_cores_mean", cores);
	json_set_real(o, "of_limit", limit->status == LIMIT_SET ? cores / cpu_quota_cpus(&limit->quota) : NAN);
	put_throttling(o, w);
	put_throttling_above(o, w);
	describe_count(o, "local_throttled_usec", w->have_local_throttled, w->local_throttled_usec);
	for (size_t i = 0; i < PSI_RESOURCES; i++) {
		describe_count(o, some_keys[i], w->have_psi[i], w->psi_some_usec[i]);
		if (w->have_psi_full[i])
			json_set_u64(o, full_keys[i], w->psi_full_usec[i]);
	}
}

void describe_verdict(json_value *o, const struct verdict *v)
{
	json_set_text(o, "verdict", cause_id(v->cause));
	if (v->cause == CAUSE_CONTENTION)
		json_set_text(o, "contention_by", contention_by_id(v->words.by));
	json_set_text(o, "verdict_sentence", v->words.sentence);
	json_set_text(o, "verdict_next", v->words.next);
	json_set_text(o, "verdict_disproof", v->words.disproof);
}

json_value *describe_evidence(const struct verdict *v)
{
	json_value *list = json_new_array();
	for (size_t i = 0; i < v->n_evidence; i++) {
		const struct evidence *from = &v->evidence[i];
		json_value *e = json_new_object();
		json_set_text(e, "name", from->name);
		json_set_real(e, "value", from->value);
		json_set_real(e, "threshold", from->threshold);
		put_known_bool(e, "holds", !isnan(from->threshold), from->holds);
		json_add_value(list, e);
	}
	return list;
}
