#include "window.h"

#include <math.h>

/* A counter that went back has no difference; what the others say stays true. */
static void subtract(struct counters *out, const struct counters *from, const struct counters *to)
{
	*out = (struct counters){0};
	for (enum counter i = 0; i < COUNTERS; i++) {
		if (!counters_have(from, i) || !counters_have(to, i) || to->value[i] < from->value[i])
			continue;
		out->have |= 1U << i;
		out->value[i] = to->value[i] - from->value[i];
	}
}

/* The kernel may correct user and system time against each other by some usec; only these say that a cgroup is new. */
static bool went_back(const struct counters *from, const struct counters *to)
{
	static const enum counter telling[] = {COUNTER_USAGE, COUNTER_NR_PERIODS, COUNTER_NR_THROTTLED};
	for (size_t i = 0; i < ARRAY_LEN(telling); i++)
		if (counters_have(from, telling[i]) && counters_have(to, telling[i]) &&
		    to->value[telling[i]] < from->value[telling[i]])
			return true;
	return false;
}

static void subtract_level(struct window *out, size_t i, const struct level_figures *from,
			   const struct level_figures *to)
{
	out->levels[i].limited = to->state == QUOTA_READ && to->quota.quota_usec != QUOTA_NONE;
	out->levels[i].quota = to->quota;
	subtract(&out->levels[i].delta, &from->counters, &to->counters);
}

static void subtract_pressure(struct window *out, const struct snapshot *from, const struct snapshot *to)
{
	for (size_t i = 0; i < PSI_RESOURCES; i++) {
		const struct psi *a = &from->psi[i];
		const struct psi *b = &to->psi[i];
		out->have_psi[i] = from->psi_status[i] == PSI_OK && to->psi_status[i] == PSI_OK &&
				   from->psi_epoch[i] == to->psi_epoch[i] && b->some.total_usec >= a->some.total_usec;
		if (!out->have_psi[i])
			continue;
		out->psi_some_usec[i] = b->some.total_usec - a->some.total_usec;
		out->have_psi_full[i] = a->has_full && b->has_full && b->full.total_usec >= a->full.total_usec;
		if (out->have_psi_full[i])
			out->psi_full_usec[i] = b->full.total_usec - a->full.total_usec;
	}
}

void window_between(struct window *out, const struct snapshot *from, const struct snapshot *to)
{
	*out = (struct window){.duration_ns = to->mono_ns - from->mono_ns};
	if (from->identity != to->identity || went_back(&from->levels[0].counters, &to->levels[0].counters)) {
		out->restarted = true;
		return;
	}
	out->n_levels = from->n_levels < to->n_levels ? from->n_levels : to->n_levels;
	for (size_t i = 0; i < out->n_levels; i++)
		subtract_level(out, i, &from->levels[i], &to->levels[i]);
	out->have_local_throttled = from->have_local_throttled && to->have_local_throttled &&
				    to->local_throttled_usec >= from->local_throttled_usec;
	if (out->have_local_throttled)
		out->local_throttled_usec = to->local_throttled_usec - from->local_throttled_usec;
	subtract_pressure(out, from, to);
}

double window_cores(const struct window *w)
{
	if (!counters_have(&w->levels[0].delta, COUNTER_USAGE) || w->duration_ns <= 0)
		return NAN;
	return (double)w->levels[0].delta.value[COUNTER_USAGE] * 1e3 / (double)w->duration_ns;
}

double window_psi_share(const struct window *w, enum psi_resource r)
{
	if (!w->have_psi[r] || w->duration_ns <= 0)
		return NAN;
	return fmin(1, (double)w->psi_some_usec[r] * 1e3 / (double)w->duration_ns);
}

double window_throttled_share(const struct window *w, size_t level)
{
	const struct counters *d = &w->levels[level].delta;
	if (!counters_have(d, COUNTER_NR_PERIODS) || !counters_have(d, COUNTER_NR_THROTTLED) ||
	    d->value[COUNTER_NR_PERIODS] == 0)
		return NAN;
	return fmin(1, (double)d->value[COUNTER_NR_THROTTLED] / (double)d->value[COUNTER_NR_PERIODS]);
}

uint64_t window_count(const struct window *w, size_t level, enum counter c)
{
	return counters_have(&w->levels[level].delta, c) ? w->levels[level].delta.value[c] : 0;
}

void worst_reset(struct worst *w)
{
	*w = (struct worst){.cores = NAN, .psi_cpu_share = NAN, .psi_io_share = NAN};
}

static double or_zero(double x)
{
	return isnan(x) ? 0 : x;
}

static bool is_worse(const struct worst *a, const struct worst *b)
{
	if (a->throttled_usec != b->throttled_usec)
		return a->throttled_usec > b->throttled_usec;
	double pressure_a = fmax(or_zero(a->psi_cpu_share), or_zero(a->psi_io_share));
	double pressure_b = fmax(or_zero(b->psi_cpu_share), or_zero(b->psi_io_share));
	if (pressure_a > pressure_b || pressure_b > pressure_a)
		return pressure_a > pressure_b;
	return or_zero(a->cores) > or_zero(b->cores);
}

void worst_take(struct worst *w, const struct window *second)
{
	if (second->restarted || second->duration_ns <= 0)
		return;
	struct worst now = {
		.any = true,
		.cores = window_cores(second),
		.psi_cpu_share = window_psi_share(second, PSI_CPU),
		.psi_io_share = window_psi_share(second, PSI_IO),
	};
	for (size_t i = 0; i < second->n_levels; i++) {
		now.nr_throttled += window_count(second, i, COUNTER_NR_THROTTLED);
		now.throttled_usec += window_count(second, i, COUNTER_THROTTLED);
	}
	if (!w->any || is_worse(&now, w))
		*w = now;
}
