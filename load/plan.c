#include "plan.h"

#include "stats.h"

#include <errno.h>
#include <math.h>
#include <string.h>

void plan_free(struct plan *p)
{
	free(p->offset_ns);
	*p = (struct plan){0};
}

/* Room for `expected` instants, or the sentence why not. A double holds numbers far above PLAN_MAX. */
static int reserve(struct plan *p, double expected, int64_t duration_ns, struct fault *f)
{
	*p = (struct plan){.duration_ns = duration_ns};
	if (duration_ns <= 0)
		return fault_set(f, -EINVAL, "a schedule needs a duration above 0");
	if (!(expected <= PLAN_MAX))
		return fault_set(f, -ERANGE, "this schedule has %.3g requests: at most %d are possible", expected,
				 PLAN_MAX);
	p->offset_ns = malloc(((size_t)expected + 1) * sizeof *p->offset_ns);
	if (!p->offset_ns)
		return fault_set(f, ENOMEM, "a schedule of %.0f requests", expected);
	return 0;
}

int plan_paced(struct plan *p, int64_t interval_ns, int64_t duration_ns, struct fault *f)
{
	*p = (struct plan){0};
	if (interval_ns <= 0)
		return fault_set(f, -EINVAL, "the interval must be above 0");
	return plan_burst(p, 1, interval_ns, duration_ns, f);
}

int plan_rate(struct plan *p, double per_second, int64_t duration_ns, struct fault *f)
{
	*p = (struct plan){0};
	if (!(per_second > 0))
		return fault_set(f, -EINVAL, "the rate must be above 0");
	int rc = reserve(p, ceil((double)duration_ns / 1e9 * per_second), duration_ns, f);
	if (rc < 0)
		return rc;
	size_t room = (size_t)ceil((double)duration_ns / 1e9 * per_second) + 1;
	for (size_t i = 0; i < room; i++) {
		double at = round((double)i * 1e9 / per_second);
		/* at a tiny rate, number 1 is due in centuries, which no int64_t holds */
		if (at >= (double)duration_ns)
			break;
		p->offset_ns[p->n++] = (int64_t)at;
	}
	return 0;
}

int plan_burst(struct plan *p, uint64_t size, int64_t every_ns, int64_t duration_ns, struct fault *f)
{
	*p = (struct plan){0};
	if (size == 0 || every_ns <= 0)
		return fault_set(f, -EINVAL, "a burst needs a size and a distance above 0");
	uint64_t bursts = duration_ns > 0 ? ((uint64_t)duration_ns - 1) / (uint64_t)every_ns + 1 : 0;
	int rc = reserve(p, (double)bursts * (double)size, duration_ns, f);
	if (rc < 0)
		return rc;
	for (uint64_t b = 0; b < bursts; b++)
		for (uint64_t k = 0; k < size; k++)
			p->offset_ns[p->n++] = (int64_t)b * every_ns;
	return 0;
}

/* splitmix64: any seed is a good one, and the sequence is the same everywhere. */
static uint64_t next_random(uint64_t *state)
{
	uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* In (0, 1]: never 0, whose logarithm is infinite. */
static double next_uniform(uint64_t *state)
{
	return (double)((next_random(state) >> 11) + 1) / 9007199254740992.0;
}

static int grow(struct plan *p, size_t *room, struct fault *f)
{
	if (p->n == PLAN_MAX)
		return fault_set(f, -ERANGE, "this schedule has more than %d requests", PLAN_MAX);
	size_t more = *room * 2;
	int64_t *bigger = realloc(p->offset_ns, more * sizeof *bigger);
	if (!bigger)
		return fault_set(f, ENOMEM, "a schedule of %zu requests", more);
	p->offset_ns = bigger;
	*room = more;
	return 0;
}

int plan_poisson(struct plan *p, double per_second, uint64_t seed, int64_t duration_ns, struct fault *f)
{
	*p = (struct plan){0};
	if (!(per_second > 0))
		return fault_set(f, -EINVAL, "the rate must be above 0");
	double expected = (double)duration_ns / 1e9 * per_second;
	int rc = reserve(p, expected, duration_ns, f);
	if (rc < 0)
		return rc;
	size_t room = (size_t)expected + 1;
	double at = 0;
	uint64_t state = seed;
	for (;;) {
		at += -log(next_uniform(&state)) * 1e9 / per_second;
		if (at >= (double)duration_ns)
			break;
		if (p->n == room && (rc = grow(p, &room, f)) < 0)
			return rc;
		p->offset_ns[p->n++] = (int64_t)at;
	}
	if (p->n == 0)
		return fault_set(f, -ERANGE, "at this rate no request falls into the duration: take a longer one");
	return 0;
}

/* The instant at which the integral of the rate, from t + (to - from) t^2 / 2D, reaches i. Written so that nothing
 * cancels when the two rates are close. */
static double ramp_instant_s(double from, double to, double duration_s, double i)
{
	double slope = (to - from) / duration_s;
	double root = sqrt(fmax(0, from * from + 2 * slope * i));
	return from + root > 0 ? 2 * i / (from + root) : 0;
}

int plan_ramp(struct plan *p, double from, double to, int64_t duration_ns, struct fault *f)
{
	*p = (struct plan){0};
	if (!(from >= 0) || !(to >= 0) || from + to <= 0)
		return fault_set(f, -EINVAL, "a ramp needs a rate above 0 at one end");
	double duration_s = (double)duration_ns / 1e9;
	double expected = (from + to) / 2 * duration_s;
	int rc = reserve(p, expected + 1, duration_ns, f);
	if (rc < 0)
		return rc;
	for (size_t i = 0; (double)i < expected; i++) {
		double at = round(ramp_instant_s(from, to, duration_s, (double)i) * 1e9);
		if (at >= (double)duration_ns)
			break;
		p->offset_ns[p->n++] = (int64_t)at;
	}
	return 0;
}

int plan_recorded(struct plan *p, int64_t *times_ns, size_t n, double speed, int64_t duration_ns, struct fault *f)
{
	*p = (struct plan){0};
	if (n == 0 || !(speed > 0))
		return fault_set(f, -EINVAL, n ? "the speed must be above 0" : "there is no recorded time");
	stats_sort(times_ns, n);
	double span = (double)(times_ns[n - 1] - times_ns[0]) / speed;
	if (!(span < 3.6e16))
		return fault_set(f, -ERANGE, "the recorded times span %.3g hours: at most 10000", span / 3.6e12);
	int rc = reserve(p, (double)n, duration_ns > 0 ? duration_ns : (int64_t)span + 1, f);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < n; i++) {
		int64_t at = (int64_t)((double)(times_ns[i] - times_ns[0]) / speed);
		if (at >= p->duration_ns)
			break;
		p->offset_ns[p->n++] = at;
	}
	return 0;
}

int plan_shard(struct plan *p, unsigned index, unsigned count, struct fault *f)
{
	if (index >= count)
		return fault_set(f, -EINVAL, "shard %u of %u does not exist: they are numbered from 0 to %u", index,
				 count, count ? count - 1 : 0);
	size_t kept = 0;
	for (size_t i = index; i < p->n; i += count)
		p->offset_ns[kept++] = p->offset_ns[i];
	p->n = kept;
	return 0;
}

size_t plan_most_within(const struct plan *p, int64_t window_ns)
{
	size_t most = 0;
	size_t first = 0;
	for (size_t i = 0; i < p->n; i++) {
		while (p->offset_ns[i] - p->offset_ns[first] >= window_ns)
			first++;
		if (i - first + 1 > most)
			most = i - first + 1;
	}
	return most;
}

int64_t plan_gap_before(const struct plan *p, size_t i)
{
	size_t k = i;
	while (k > 0 && p->offset_ns[k] == p->offset_ns[i])
		k--;
	if (p->offset_ns[k] != p->offset_ns[i])
		return p->offset_ns[i] - p->offset_ns[k];
	for (k = i; k + 1 < p->n && p->offset_ns[k] == p->offset_ns[i]; k++)
		;
	return p->n ? p->offset_ns[k] - p->offset_ns[i] : 0;
}
