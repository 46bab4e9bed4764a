#include "demand.h"

#include <math.h>
#include <stdlib.h>

const double demand_bounds_cores[DEMAND_BUCKETS] = {0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2, 4, 8, 16, 32, 64};

/* Slices of 5 ms and up to 1 ms kept by each CPU: a budget counts as gone a little before its last microsecond. */
static const double exhausted_part = 0.97;

void demand_init(struct demand *d)
{
	*d = (struct demand){
		.period_ns = CPU_PERIOD_DEFAULT_USEC * NSEC_PER_USEC,
		.quota_usec = QUOTA_NONE,
	};
}

static int64_t modulo(int64_t a, int64_t m)
{
	int64_t r = a % m;
	return r < 0 ? r + m : r;
}

/* Shortest way on the circle, in (-period / 2, period / 2]. */
static int64_t shift_on_circle(const struct demand *d, int64_t from_ns, int64_t to_ns)
{
	return d->period_ns / 2 - modulo(from_ns - to_ns + d->period_ns / 2, d->period_ns);
}

/* A part of the circle of one period. */
struct arc {
	int64_t low_ns, width_ns;
};

/* What both have in common; false when that is nothing. */
static bool arc_common(const struct demand *d, struct arc a, struct arc b, struct arc *out)
{
	/* bring b next to a */
	int64_t b_low = a.low_ns + shift_on_circle(d, a.low_ns, b.low_ns);
	int64_t a_high = a.low_ns + a.width_ns;
	int64_t b_high = b_low + b.width_ns;
	int64_t low = a.low_ns > b_low ? a.low_ns : b_low;
	int64_t high = a_high < b_high ? a_high : b_high;
	if (high <= low)
		return false;
	*out = (struct arc){low, high - low};
	return true;
}

static void set_phase(struct demand *d, struct arc a)
{
	d->have_phase = true;
	d->in_doubt = false;
	d->phase_width_ns = a.width_ns;
	d->phase_ns = modulo(a.low_ns + a.width_ns / 2, d->period_ns);
}

/* The tick was somewhere in (from, to]: what all such intervals have in common, modulo the period, is the phase. One
 * that has nothing in common with it is kept as a doubt: a second one that agrees with the first proves a new grid.
 * True when the grid is another one than before, so that the period under way was cut in the wrong place. */
static bool learn_phase(struct demand *d, int64_t from_ns, int64_t to_ns)
{
	struct arc seen = {modulo(from_ns, d->period_ns), to_ns - from_ns};
	struct arc known = {d->phase_ns - d->phase_width_ns / 2, d->phase_width_ns};
	struct arc doubt = {d->doubt_low_ns, d->doubt_width_ns};
	struct arc common;
	bool had_phase = d->have_phase;
	int64_t before_ns = d->phase_ns;
	if (seen.width_ns >= d->period_ns)
		return false;
	if (!had_phase) {
		set_phase(d, seen);
	} else if (arc_common(d, known, seen, &common) || (d->in_doubt && arc_common(d, doubt, seen, &common))) {
		set_phase(d, common);
	} else {
		d->in_doubt = true;
		d->doubt_low_ns = seen.low_ns;
		d->doubt_width_ns = seen.width_ns;
	}
	/* a late tick of the same grid moves it by some ms at most */
	return !had_phase || llabs(shift_on_circle(d, before_ns, d->phase_ns)) > d->period_ns / 8;
}

/* The first instant of the grid after this one. */
static int64_t first_boundary(const struct demand *d, int64_t after_ns)
{
	int64_t phase = d->have_phase ? d->phase_ns : 0;
	return after_ns + d->period_ns - modulo(after_ns - phase, d->period_ns);
}

/* The instant of the grid that is nearest to one period later: the phase may have become known better meanwhile, and
 * a boundary that moves by a little must not make a period of a little. */
static int64_t next_boundary(const struct demand *d, int64_t boundary_ns)
{
	int64_t later_ns = boundary_ns + d->period_ns;
	return later_ns + shift_on_circle(d, later_ns, d->have_phase ? d->phase_ns : 0);
}

/* One that was not seen from its beginning is not counted. */
static void close_period(struct demand *d)
{
	double cores = d->period_usec_used * 1e3 / (double)d->period_ns;
	size_t i = 0;
	while (i < DEMAND_BUCKETS && cores > demand_bounds_cores[i])
		i++;
	if (d->whole) {
		d->buckets[i]++;
		d->periods++;
		d->sum_cores += cores;
	}
	d->whole = true;
	d->period_usec_used = 0;
	d->period_exhausted = false;
}

static void note_exhaustion(struct demand *d, int64_t at_ns)
{
	if (d->quota_usec == QUOTA_NONE || d->period_exhausted || !d->whole ||
	    d->period_usec_used < (double)d->quota_usec * exhausted_part)
		return;
	d->period_exhausted = true;
	d->exhausted++;
	int64_t into = at_ns - (d->boundary_ns - d->period_ns);
	d->exhausted_at_ns_sum += into < 0 ? 0 : into > d->period_ns ? d->period_ns : into;
}

static void restart_at(struct demand *d, int64_t mono_ns, uint64_t usage_usec, uint64_t nr_periods)
{
	d->started = true;
	d->last_ns = mono_ns;
	d->last_usage_usec = usage_usec;
	d->last_nr_periods = nr_periods;
	d->boundary_ns = first_boundary(d, mono_ns);
	d->whole = false;
	d->last_rate = 0;
	d->period_usec_used = 0;
	d->period_exhausted = false;
}

static void adopt_quota(struct demand *d, const struct cpu_quota *quota)
{
	int64_t period_ns = quota->quota_usec == QUOTA_NONE ? CPU_PERIOD_DEFAULT_USEC * NSEC_PER_USEC
							    : (int64_t)quota->period_usec * NSEC_PER_USEC;
	if (period_ns != d->period_ns) {
		d->have_phase = false;
		d->in_doubt = false;
		d->started = false;
	}
	d->period_ns = period_ns;
	d->quota_usec = quota->quota_usec;
}

/* What was used between two samples with a boundary between them: up to the boundary it went on as in the interval
 * before, the rest came after it. A container that was stopped uses nothing until the new budget comes, so a cut in
 * equal shares would take from every new period what belongs to it. */
static void cut(struct demand *d, int64_t mono_ns, double used_usec)
{
	double rate = used_usec / (double)(mono_ns - d->last_ns);
	int64_t at = d->last_ns;
	while (d->boundary_ns <= mono_ns) {
		/* more than one boundary: in equal shares, nothing better is known */
		bool last = next_boundary(d, d->boundary_ns) > mono_ns;
		double until_usec = fmin(used_usec, (last ? d->last_rate : rate) * (double)(d->boundary_ns - at));
		d->period_usec_used += until_usec;
		used_usec -= until_usec;
		note_exhaustion(d, d->boundary_ns);
		close_period(d);
		at = d->boundary_ns;
		d->boundary_ns = next_boundary(d, at);
	}
	d->period_usec_used += used_usec;
	note_exhaustion(d, mono_ns);
	d->last_rate = rate;
}

/* After a pause (suspend, a stopped observer) of more than this many periods their demand is not known. */
enum { GAP_PERIODS = 3 };

void demand_take(struct demand *d, int64_t mono_ns, uint64_t usage_usec, const struct cpu_quota *quota,
		 uint64_t nr_periods)
{
	adopt_quota(d, quota);
	if (!d->started || usage_usec < d->last_usage_usec || mono_ns - d->last_ns > GAP_PERIODS * d->period_ns) {
		restart_at(d, mono_ns, usage_usec, nr_periods);
		return;
	}
	if (mono_ns <= d->last_ns)
		return;
	if (d->quota_usec != QUOTA_NONE && nr_periods == d->last_nr_periods + 1 &&
	    learn_phase(d, d->last_ns, mono_ns)) {
		restart_at(d, mono_ns, usage_usec, nr_periods);
		return;
	}
	cut(d, mono_ns, (double)(usage_usec - d->last_usage_usec));
	d->last_ns = mono_ns;
	d->last_usage_usec = usage_usec;
	d->last_nr_periods = nr_periods;
}

double demand_mean_cores(const struct demand *d)
{
	return d->periods ? d->sum_cores / (double)d->periods : NAN;
}

double demand_exhausted_at_ms(const struct demand *d)
{
	return d->exhausted ? (double)d->exhausted_at_ns_sum / 1e6 / (double)d->exhausted : NAN;
}
