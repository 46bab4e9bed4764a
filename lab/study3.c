#include "study3.h"

#include "law.h"
#include "units.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

/* a point counts as before the knee below this part of the law's N */
static const double before = 0.85;

const struct study3_case study3_cases[STUDY3_CASES] = {
	{"wait", "7 ms of CPU and 100 ms of waiting for something else", 7, 100, 0, 0},
	{"cpu", "84 ms of CPU, no waiting", 84, 0, 0, 0},
	{"pool", "1 ms of CPU, 60 ms of waiting, and 40 ms of one of 5 units of a pool", 1, 60, 5, 40},
};

const struct study3_published study3_published[STUDY3_CASES] = {
	{8,
	 107.0 / 7 * 2,
	 {{2, 114, 17.4},
	  {5, 113, 43.7},
	  {10, 107, 92},
	  {15, 107, 137.5},
	  {20, 109, 176.1},
	  {25, 112, 212.3},
	  {30, 118, 237.4},
	  {35, 130, 238.4}}},
	{3, 2, {{1, 84, 11.6}, {2, 84, 22.4}, {3, 129, 22.5}}},
	{0},
};

const char *const study3_method_names[] = {"fit", "service_time"};

/* ---- the points -----------------------------------------------------------------------------------------------------
 */

static void add_threads(struct study3_threads *t, double wanted)
{
	uint64_t threads = wanted < 1 ? 1 : (uint64_t)llround(wanted);
	if (threads > STUDY3_THREADS_MAX)
		threads = STUDY3_THREADS_MAX;
	if (t->n < STUDY3_POINTS_MAX && (t->n == 0 || threads > t->list[t->n - 1]))
		t->list[t->n++] = threads;
}

void study3_choose_threads(double law, struct study3_threads *out)
{
	static const double parts[] = {0.1, 0.3, 0.55, 0.8};
	static const double behind[] = {1.1, 1.3, 1.6};
	*out = (struct study3_threads){.n = 0};
	for (size_t i = 0; i < ARRAY_LEN(parts); i++)
		if (law * parts[i] >= 0.5)
			add_threads(out, law * parts[i]);
	for (size_t i = 0; i < ARRAY_LEN(behind); i++) {
		double wanted = ceil(law * behind[i]);
		uint64_t last = out->n ? out->list[out->n - 1] : 0;
		add_threads(out, fmax(wanted, (double)last + 1));
	}
}

int study3_parse_threads(const char *text, struct study3_threads *out, struct fault *f)
{
	*out = (struct study3_threads){.n = 0};
	for (const char *at = text;; at++) {
		char word[24];
		size_t len = strcspn(at, ",");
		uint64_t threads = 0;
		snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), at);
		if (units_parse_u64(word, &threads, f) < 0 || threads < 1 || threads > STUDY3_THREADS_MAX)
			return fault_set(f, -EINVAL, "'%s' is no number of threads from 1 to %d", word,
					 STUDY3_THREADS_MAX);
		if (out->n > 0 && threads <= out->list[out->n - 1])
			return fault_set(f, -EINVAL, "the numbers of threads must grow: %s stands behind %llu", word,
					 (unsigned long long)out->list[out->n - 1]);
		if (out->n == STUDY3_POINTS_MAX)
			return fault_set(f, -EINVAL, "more than %d numbers of threads", STUDY3_POINTS_MAX);
		out->list[out->n++] = threads;
		at += len;
		if (*at == '\0')
			return 0;
	}
}

void study3_point_init(struct study3_point *p, uint64_t threads)
{
	const double none = (double)NAN;
	*p = (struct study3_point){.threads = threads,
				   .mean_ms = none,
				   .p50_ms = none,
				   .p99_ms = none,
				   .requests_per_s = none,
				   .cpu_cores_mean = none,
				   .of_limit = none,
				   .cpu_ms = none,
				   .wait_ms = none,
				   .nr_throttled = UINT64_MAX};
}

/* ---- what they show -------------------------------------------------------------------------------------------------
 */

static double law_of(const struct study3_case *c, double cpu_ms, double wait_ms, double cpus)
{
	if (c->pool_units)
		return law_threads_for_pool(c->pool_units, c->hold_ms, cpu_ms + wait_ms + c->hold_ms);
	return law_threads(cpu_ms, wait_ms, cpus);
}

double study3_law(const struct study3_case *c, double cpus)
{
	return law_of(c, c->cpu_ms, c->wait_ms, cpus);
}

static void take_request(struct study3_outcome *o)
{
	double weight = 0;
	o->cpu_ms = o->wait_ms = 0;
	for (size_t i = 0; i < o->n; i++) {
		const struct study3_point *p = &o->points[i];
		if (p->runs == 0)
			continue;
		weight += p->requests_per_s;
		o->cpu_ms += p->requests_per_s * p->cpu_ms;
		o->wait_ms += p->requests_per_s * p->wait_ms;
	}
	o->cpu_ms /= weight; /* NaN without a point */
	o->wait_ms /= weight;
}

static void take_knee(struct study3_outcome *o)
{
	struct law_point points[STUDY3_POINTS_MAX];
	size_t n = 0;
	double sum = 0;
	o->method = STUDY3_SERVICE_TIME;
	for (size_t i = 0; i < o->n; i++) {
		const struct study3_point *p = &o->points[i];
		if (p->runs == 0)
			continue;
		points[n++] = (struct law_point){(double)p->threads, p->requests_per_s};
		sum += p->requests_per_s;
		if ((double)p->threads < before * o->law_threads)
			o->method = STUDY3_FIT;
	}
	if (o->method == STUDY3_FIT)
		o->knee_threads = law_knee(points, n);
	else
		o->knee_threads = sum / (double)n * (o->cpu_ms + o->wait_ms + o->of->hold_ms) / 1000;
}

void study3_evaluate(struct study3_outcome *o, double cpus)
{
	take_request(o);
	o->law_nominal = study3_law(o->of, cpus);
	o->law_threads = law_of(o->of, o->cpu_ms, o->wait_ms, cpus);
	o->max_rate =
		o->of->pool_units ? law_max_rate(o->of->hold_ms, o->of->pool_units) : law_max_rate(o->cpu_ms, cpus);
	take_knee(o);
	o->difference = (o->knee_threads - o->law_threads) / o->law_threads;
}

/* ---- the judgement --------------------------------------------------------------------------------------------------
 */

static void PRINTF_LIKE(2, 3) differs(struct study3_judgement *j, const char *fmt, ...)
{
	va_list args;
	if (j->n == STUDY3_DIFFERENCES_MAX)
		return;
	va_start(args, fmt);
	vsnprintf(j->differences[j->n++], sizeof j->differences[0], fmt, args);
	va_end(args);
}

static bool judge_runs(const struct study3_outcome *o, size_t repetitions, struct study3_judgement *j)
{
	size_t had = j->n;
	for (size_t i = 0; i < o->n; i++)
		if (o->points[i].runs < repetitions)
			differs(j, "%s, %llu threads: %zu valid runs of %zu", o->of->name,
				(unsigned long long)o->points[i].threads, o->points[i].runs, repetitions);
	return j->n == had;
}

static void judge_before(const struct study3_outcome *o, struct study3_judgement *j)
{
	for (size_t i = 1; i < o->n; i++) {
		const struct study3_point *a = &o->points[i - 1];
		const struct study3_point *b = &o->points[i];
		if ((double)b->threads < before * o->law_threads && !(b->requests_per_s > a->requests_per_s))
			differs(j, "%s: %.1f requests/s with %llu threads and %.1f with %llu, expected more",
				o->of->name, a->requests_per_s, (unsigned long long)a->threads, b->requests_per_s,
				(unsigned long long)b->threads);
	}
}

static void judge_behind(const struct study3_outcome *o, struct study3_judgement *j)
{
	const double factor = 1.15;
	size_t first = 0;
	double most = 0;
	while (first < o->n && (double)o->points[first].threads < o->law_threads)
		first++;
	if (o->n - first < 3) {
		differs(j, "%s: fewer than 3 points behind the law's %.1f threads: more of --threads", o->of->name,
			o->law_threads);
		return;
	}
	double at_first = o->points[first].requests_per_s;
	for (size_t i = first; i < o->n; i++)
		most = fmax(most, o->points[i].requests_per_s);
	if (!(most <= factor * at_first))
		differs(j,
			"%s: behind the law's N throughput grows from %.1f to %.1f requests/s, expected at most %g times",
			o->of->name, at_first, most, factor);
	if (!(o->points[o->n - 1].mean_ms >= factor * o->points[first].mean_ms))
		differs(j,
			"%s: behind the law's N the mean response goes from %.0f to %.0f ms, expected %g times or "
			"more",
			o->of->name, o->points[first].mean_ms, o->points[o->n - 1].mean_ms, factor);
}

static void judge_knee(const struct study3_outcome *o, struct study3_judgement *j)
{
	const double tolerance = 0.15;
	if (!(fabs(o->difference) <= tolerance))
		differs(j, "%s: the knee is at %.2f threads, the law says %.2f: %+.0f%%, expected within %.0f%%",
			o->of->name, o->knee_threads, o->law_threads, 100 * o->difference, 100 * tolerance);
}

void study3_judge(const struct study3_outcome *outcomes, size_t repetitions, struct study3_judgement *j)
{
	*j = (struct study3_judgement){.n = 0};
	for (size_t c = 0; c < STUDY3_CASES; c++) {
		const struct study3_outcome *o = &outcomes[c];
		if (o->n == 0)
			continue; /* no part of this study */
		/* without figures every comparison fails, and says nothing new */
		if (!judge_runs(o, repetitions, j))
			continue;
		judge_knee(o, j);
		judge_before(o, j);
		judge_behind(o, j);
	}
}

void study3_sentence(const struct study3_outcome *o, double cpus, char out[STUDY3_TEXT_SIZE])
{
	char what[64];
	out[0] = '\0';
	if (isnan(o->knee_threads))
		return;
	if (o->of->pool_units)
		snprintf(what, sizeof what, "the %u units of the pool", o->of->pool_units);
	else
		snprintf(what, sizeof what, "%g CPUs", cpus);
	snprintf(out, STUDY3_TEXT_SIZE,
		 "With %s, requests of %.1f ms CPU and %.1f ms waiting are carried best by %.1f threads, says the law; "
		 "throughput stopped growing at %.1f (%s, %+.0f%%). Behind that only the response time grows.",
		 what, o->cpu_ms, o->wait_ms + o->of->hold_ms, o->law_threads, o->knee_threads,
		 o->method == STUDY3_FIT ? "fitted" : "plateau x service time", 100 * o->difference);
}
