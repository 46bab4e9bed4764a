#include "figures.h"

#include <math.h>

void figures_init(struct figures *o)
{
	*o = (struct figures){.nr_periods = FIGURE_ABSENT,
			      .nr_throttled = FIGURE_ABSENT,
			      .throttled_usec = FIGURE_ABSENT,
			      .psi_cpu_some_usec = FIGURE_ABSENT,
			      .psi_io_some_usec = FIGURE_ABSENT};
	double *const unknown[] = {&o->duration_s, &o->cpu_observed_s, &o->cpu_cores_mean,  &o->of_limit,
				   &o->phase_ms,   &o->p50_ms,         &o->p90_ms,          &o->p99_ms,
				   &o->max_ms,     &o->mean_ms,        &o->lateness_p99_ms, &o->steal_share};
	for (size_t i = 0; i < ARRAY_LEN(unknown); i++)
		*unknown[i] = (double)NAN;
}

void figures_invalidate(struct figures *o, const char *reason)
{
	o->valid = false;
	snprintf(o->invalid_reason, sizeof o->invalid_reason, "%s", reason);
}

static double get_real(const json_value *report, const char *key)
{
	double value;
	return json_get_real(report, key, &value) ? value : (double)NAN;
}

static uint64_t get_count(const json_value *report, const char *key)
{
	uint64_t value;
	return json_get_u64(report, key, &value) ? value : 0;
}

void figures_take_report(struct figures *o, const json_value *report)
{
	bool valid = false;
	const char *reason = json_get_text(report, "invalid_reason");
	o->planned = get_count(report, "planned");
	o->requests = get_count(report, "sent");
	o->ok = get_count(report, "ok");
	o->duration_s = get_real(report, "duration_s");
	o->p50_ms = get_real(report, "p50_ms");
	o->p90_ms = get_real(report, "p90_ms");
	o->p99_ms = get_real(report, "p99_ms");
	o->max_ms = get_real(report, "max_ms");
	o->mean_ms = get_real(report, "mean_ms");
	o->lateness_p99_ms = get_real(report, "lateness_p99_ms");
	o->valid = json_get_bool(report, "valid", &valid) && valid;
	if (!o->valid)
		figures_invalidate(o, reason ? reason : "no reason told");
	if (o->valid && o->ok != o->planned)
		figures_invalidate(o, "not every planned request was answered with success");
}

static uint64_t grown(const struct snapshot *begin, const struct snapshot *end, enum counter which)
{
	const struct counters *a = &begin->levels[0].counters;
	const struct counters *b = &end->levels[0].counters;
	if (!counters_have(a, which) || !counters_have(b, which) || b->value[which] < a->value[which])
		return FIGURE_ABSENT;
	return b->value[which] - a->value[which];
}

static uint64_t pressure_grown(const struct snapshot *begin, const struct snapshot *end, enum psi_resource which)
{
	if (begin->psi_status[which] != PSI_OK || end->psi_status[which] != PSI_OK)
		return FIGURE_ABSENT;
	return end->psi[which].some.total_usec - begin->psi[which].some.total_usec;
}

void figures_take_counters(struct figures *o, const struct snapshot *begin, const struct snapshot *end,
			   double limit_cpus)
{
	uint64_t usage_usec = grown(begin, end, COUNTER_USAGE);
	o->cpu_observed_s = (double)(end->mono_ns - begin->mono_ns) / 1e9;
	if (usage_usec != FIGURE_ABSENT && o->cpu_observed_s > 0)
		o->cpu_cores_mean = (double)usage_usec / 1e6 / o->cpu_observed_s;
	if (limit_cpus > 0)
		o->of_limit = o->cpu_cores_mean / limit_cpus;
	o->nr_periods = grown(begin, end, COUNTER_NR_PERIODS);
	o->nr_throttled = grown(begin, end, COUNTER_NR_THROTTLED);
	o->throttled_usec = grown(begin, end, COUNTER_THROTTLED);
	o->psi_cpu_some_usec = pressure_grown(begin, end, PSI_CPU);
	o->psi_io_some_usec = pressure_grown(begin, end, PSI_IO);
}

void figures_take_steal(struct figures *o, const struct cpu_ticks *begin, const struct cpu_ticks *end)
{
	if (begin->total && end->total > begin->total)
		o->steal_share = (double)(end->steal - begin->steal) / (double)(end->total - begin->total);
}
