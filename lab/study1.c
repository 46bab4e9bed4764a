#include "study1.h"

#include <inttypes.h>
#include <math.h>
#include <stdarg.h>

#define NOT_MEASURED ((double)NAN)

static const struct workload even = {"even", 1, 50 * NSEC_PER_MSEC};
static const struct workload burst = {"burst", STUDY1_BURST, 8 * 50 * NSEC_PER_MSEC};

enum { EVEN_025, BURST_025, EVEN_05, BURST_05, EVEN_NONE, BURST_NONE };

const struct condition study1_conditions[STUDY1_CONDITIONS] = {
	[EVEN_025] = {0.25, &even}, [BURST_025] = {0.25, &burst},         [EVEN_05] = {0.5, &even},
	[BURST_05] = {0.5, &burst}, [EVEN_NONE] = {LIMIT_NO_CPUS, &even}, [BURST_NONE] = {LIMIT_NO_CPUS, &burst},
};

const struct study1_published study1_published[STUDY1_CONDITIONS] = {
	[EVEN_025] = {0.103, 0.412, 10.1, NOT_MEASURED, NOT_MEASURED, 0},
	[BURST_025] = {0.108, 0.433, 202.2, 144.3, 203.4, 202},
	[EVEN_05] = {0.107, 0.214, 10.1, NOT_MEASURED, NOT_MEASURED, 0},
	[BURST_05] = {0.106, 0.212, 104.2, 69.8, 105.9, 50},
	[EVEN_NONE] = {NOT_MEASURED, NOT_MEASURED, NOT_MEASURED, NOT_MEASURED, NOT_MEASURED, NOT_MEASURED},
	[BURST_NONE] = {NOT_MEASURED, NOT_MEASURED, NOT_MEASURED, NOT_MEASURED, NOT_MEASURED, NOT_MEASURED},
};

/* ---- the judgement --------------------------------------------------------------------------------------------------
 */

static void PRINTF_LIKE(2, 3) differs(struct study1_judgement *j, const char *fmt, ...)
{
	va_list args;
	if (j->n == STUDY1_DIFFERENCES_MAX)
		return;
	va_start(args, fmt);
	vsnprintf(j->differences[j->n++], sizeof j->differences[0], fmt, args);
	va_end(args);
}

/* Not every study has all conditions: one without a load was no part of it. */
static bool is_part(const struct summary *s)
{
	return s->condition.load != NULL;
}

/* A count that is not there is no throttling only where there is no limit. */
static double throttled(const struct summary *s)
{
	return s->nr_throttled == FIGURE_ABSENT ? (double)NAN : (double)s->nr_throttled;
}

static void judge_runs(const struct summary *s, size_t repetitions, struct study1_judgement *j)
{
	for (size_t c = 0; c < STUDY1_CONDITIONS; c++) {
		char limit[LIMIT_TEXT_SIZE];
		limit_text(s[c].condition.limit_cpus, limit);
		if (is_part(&s[c]) && s[c].runs < repetitions)
			differs(j, "%s at %s: %zu valid runs of %zu", s[c].condition.load->name, limit, s[c].runs,
				repetitions);
	}
}

static void judge_even(const struct summary *s, struct study1_judgement *j)
{
	static const int all[] = {EVEN_025, EVEN_05, EVEN_NONE};
	for (size_t i = 0; i < ARRAY_LEN(all); i++) {
		const struct summary *e = &s[all[i]];
		if (!is_part(e))
			continue;
		bool limited = e->condition.limit_cpus != LIMIT_NO_CPUS;
		double allowed = limited ? fmax(1, 0.02 * (double)e->nr_periods) : 0;
		if (limited && isnan(throttled(e)))
			differs(j, "even at %g: nr_throttled could not be read", e->condition.limit_cpus);
		else if (throttled(e) > allowed)
			differs(j, "even%s has %" PRIu64 " throttled periods of %" PRIu64 ", expected none",
				limited ? "" : " without a limit", e->nr_throttled, e->nr_periods);
	}
}

static void judge_burst(const struct summary *s, struct study1_judgement *j)
{
	const struct summary *least = &s[BURST_025];
	const struct summary *more = &s[BURST_05];
	if (!(throttled(least) > 0))
		differs(j, "burst at 0.25 was not throttled");
	if (!(least->p99_ms >= 3 * s[EVEN_025].p99_ms))
		differs(j, "at 0.25 the p99 of burst is %.1f times that of even, expected at least 3",
			least->p99_ms / s[EVEN_025].p99_ms);
	if (!is_part(more))
		return;
	if (!(throttled(more) < throttled(least)))
		differs(j, "burst at 0.5 has %.0f throttled periods, at 0.25 %.0f: expected fewer", throttled(more),
			throttled(least));
	if (!(more->p99_ms <= 1.1 * least->p99_ms))
		differs(j, "the p99 of burst is %.1f ms at 0.5 and %.1f ms at 0.25: expected no more", more->p99_ms,
			least->p99_ms);
}

double study1_mean_bound(double cpu_ms_per_request, double calibrated_ms)
{
	const double half = 0.5;
	const double most = 0.9;
	double scale = cpu_ms_per_request / calibrated_ms;
	/* also when one of them is not known */
	if (!(scale > 1))
		return half;
	return fmin(half * scale, most);
}

static void judge_mean_cpu(const struct summary *s, double calibrated_ms, struct study1_judgement *j)
{
	const double factor = 1.5;
	for (size_t c = EVEN_025; c <= BURST_05; c += 2) {
		double ratio = s[c + 1].cpu_cores_mean / s[c].cpu_cores_mean;
		if (is_part(&s[c]) && !(ratio >= 1 / factor && ratio <= factor))
			differs(j, "mean CPU at %g: even %.3f, burst %.3f, expected the same within a factor of %g",
				s[c].condition.limit_cpus, s[c].cpu_cores_mean, s[c + 1].cpu_cores_mean, factor);
	}
	for (size_t c = EVEN_025; c <= BURST_05; c++) {
		double bound = study1_mean_bound(s[c].cpu_ms_per_request, calibrated_ms);
		if (is_part(&s[c]) && !(s[c].of_limit < bound))
			differs(j, "mean CPU of %s at %g is %.0f%% of the limit, expected below %.0f%%",
				s[c].condition.load->name, s[c].condition.limit_cpus, s[c].of_limit * 100, bound * 100);
	}
}

static void judge_without_limit(const struct summary *s, struct study1_judgement *j)
{
	double work_ms = s[EVEN_NONE].p50_ms;
	if (!is_part(&s[EVEN_NONE]))
		return;
	if (!(s[EVEN_NONE].p99_ms <= 4 * work_ms))
		differs(j, "even without a limit: p99 %.1f ms, expected at most 4 x its p50 of %.1f ms",
			s[EVEN_NONE].p99_ms, work_ms);
	if (!(s[BURST_NONE].p99_ms <= 1.75 * STUDY1_BURST * work_ms))
		differs(j, "burst without a limit: p99 %.1f ms, expected at most 1.75 x 8 x %.1f ms",
			s[BURST_NONE].p99_ms, work_ms);
	if (throttled(&s[BURST_NONE]) > 0)
		differs(j, "burst without a limit has throttled periods");
}

void study1_judge(const struct summary *s, size_t repetitions, double calibrated_ms, struct study1_judgement *j)
{
	*j = (struct study1_judgement){.n = 0};
	judge_runs(s, repetitions, j);
	/* without figures every comparison fails, and says nothing new */
	for (size_t c = 0; c < STUDY1_CONDITIONS; c++)
		if (is_part(&s[c]) && s[c].runs == 0)
			return;
	judge_even(s, j);
	judge_burst(s, j);
	judge_mean_cpu(s, calibrated_ms, j);
	judge_without_limit(s, j);
}

double study1_burst_end_ms(double work_ms, double budget_ms, double phase_ms)
{
	const double period_ms = LIMIT_PERIOD_USEC / 1000.0;
	double now_ms = 0;
	double left_ms = budget_ms;
	double tick_ms = phase_ms;
	for (;;) {
		double run_ms = fmin(work_ms, fmin(left_ms, tick_ms - now_ms));
		work_ms -= run_ms;
		now_ms += run_ms;
		left_ms -= run_ms;
		if (work_ms <= 0)
			return now_ms;
		if (left_ms > 0 && now_ms < tick_ms)
			continue;
		now_ms = tick_ms;
		tick_ms += period_ms;
		left_ms = budget_ms;
	}
}

/* ---- words ----------------------------------------------------------------------------------------------------------
 */

void study1_sentence(const struct summary *s, double requests_per_s, char out[STUDY1_TEXT_SIZE])
{
	const struct summary *e = &s[EVEN_025];
	const struct summary *b = &s[BURST_025];
	int n = snprintf(
		out, STUDY1_TEXT_SIZE,
		"At 0.25 CPU the same %g requests/s took %.1f ms (p99) when they came evenly and %.1f ms when "
		"they came 8 at once: %.1f times as long, at a mean CPU use of %.0f%% and %.0f%% of the limit. The "
		"average cannot tell the two apart; nr_throttled can: %.0f and %.0f periods.",
		requests_per_s, e->p99_ms, b->p99_ms, b->p99_ms / e->p99_ms, e->of_limit * 100, b->of_limit * 100,
		throttled(e), throttled(b));
	double none_ms = s[BURST_NONE].p99_ms;
	if (n > 0 && n < STUDY1_TEXT_SIZE && is_part(&s[BURST_NONE]) && none_ms < b->p99_ms)
		snprintf(out + n, STUDY1_TEXT_SIZE - (size_t)n,
			 " Without a limit the same bursts took %.1f ms: that is 8 requests one after the other; the "
			 "other %.1f ms are the limit.",
			 none_ms, b->p99_ms - none_ms);
}

void study1_parts_sentence(const struct summary *s, char out[STUDY1_TEXT_SIZE])
{
	const struct summary *b = &s[BURST_025];
	const double *ms = b->parts_ms;
	double total_ms = b->parts_total_ms;
	out[0] = '\0';
	if (!b->n_parts || !(total_ms > 0))
		return;
	double quota_ms = ms[PART_QUOTA] + ms[PART_QUEUE_QUOTA];
	snprintf(
		out, STUDY1_TEXT_SIZE,
		"Of the slowest 5%% of the bursts at 0.25 CPU, %.1f ms on average: %.0f%% was waiting for the quota (%.1f "
		"ms itself, %.1f ms in the queue behind requests that waited for it), %.0f%% the queue behind requests "
		"that ran, %.0f%% its own work, %.0f%% waiting for a CPU for other reasons, %.0f%% all the rest.",
		total_ms, 100 * quota_ms / total_ms, ms[PART_QUOTA], ms[PART_QUEUE_QUOTA],
		100 * ms[PART_QUEUE] / total_ms, 100 * ms[PART_RUNNING] / total_ms,
		100 * ms[PART_CONTENTION] / total_ms,
		100 * (ms[PART_LATENESS] + ms[PART_NETWORK] + ms[PART_WAIT]) / total_ms);
}
