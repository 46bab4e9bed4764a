#include "page_study1.h"

#include "chart_bars.h"
#include "chart_ranges.h"
#include "chart_timeline.h"
#include "page_distribution.h"
#include "study1.h"

#include <math.h>
#include <string.h>

/* ---- here, published, predicted -------------------------------------------------------------------------------------
 */

static struct range range_of(const json_value *o, const char *at, const char *low, const char *high)
{
	return (struct range){.at = page_number(o, at), .low = page_number(o, low), .high = page_number(o, high)};
}

static void put_figures_row(struct html_table *t, const struct shown *s, bool predicted)
{
	const json_value *o = s->json;
	const json_value *published = json_get(o, "published");
	double low = page_number(o, "p99_low_ms");
	double high = page_number(o, "p99_high_ms");
	html_row(t);
	html_cell(t, "%s", s->name);
	html_cell_number(t, page_number(o, "requests"), 0, "");
	html_cell_number(t, page_number(o, "cpu_cores_mean"), 3, "");
	html_cell_number(t, page_number(published, "cpu_cores_mean"), 3, "");
	html_cell_number(t, 100 * page_number(o, "of_limit"), 1, "%");
	html_cell_number(t, 100 * page_number(published, "of_limit"), 1, "%");
	html_cell_number(t, page_number(o, "nr_throttled"), 0, "");
	html_cell_number(t, page_number(published, "nr_throttled"), 0, "");
	html_cell_number(t, page_number(o, "p50_ms"), 1, "");
	html_cell_number(t, page_number(o, "p99_ms"), 1, "");
	html_cell_number(t, page_number(published, "p99_ms"), 1, "");
	if (low < high)
		html_cell(t, "%.1f to %.1f", low, high);
	else
		html_cell_number(t, (double)NAN, 0, "");
	if (predicted)
		html_cell_number(t, page_number(o, "predicted_p99_ms"), 1, "");
}

static void put_figures_table(const struct page_part *p, const struct conditions *c, bool predicted)
{
	const char *heads[] = {"condition",
			       "requests",
			       "mean CPU (CPUs)",
			       "mean CPU, published",
			       "of the limit",
			       "of the limit, published",
			       "throttled periods",
			       "throttled periods, published",
			       "p50 (ms)",
			       "p99 (ms)",
			       "p99, published (ms)",
			       "p99 of single runs (ms)",
			       predicted ? "p99, predicted (ms)" : NULL,
			       NULL};
	struct html_table t;
	html_table_begin(&t, p->out, HTML_TABLE_OPEN, "All runs of a condition together, beside what was published",
			 heads);
	for (size_t i = 0; i < c->n; i++)
		put_figures_row(&t, &c->list[i], predicted);
	html_table_end(&t, HTML_TABLE_OPEN);
}

static void put_figures(const struct page_part *p, const struct conditions *c)
{
	static const char *const key[] = {"k-dot here",
					  "measured here, with the range over the runs",
					  "k-ring published",
					  "published, with the range over its runs",
					  "k-box predicted",
					  "predicted, with its range",
					  NULL};
	struct range_row rows[CONDITIONS_MAX] = {0};
	const struct shown *even = conditions_find(c, "even", 0.25);
	const struct shown *burst = conditions_find(c, "burst", 0.25);
	bool predicted = false;
	for (size_t i = 0; i < c->n; i++) {
		const json_value *o = c->list[i].json;
		snprintf(rows[i].name, sizeof rows[i].name, "%s", c->list[i].name);
		rows[i].here = range_of(o, "p99_ms", "p99_low_ms", "p99_high_ms");
		rows[i].published = range_of(json_get(o, "published"), "p99_ms", "p99_low_ms", "p99_high_ms");
		rows[i].predicted = range_of(o, "predicted_p99_ms", "predicted_p99_low_ms", "predicted_p99_high_ms");
		predicted |= !isnan(rows[i].predicted.at);
	}
	page_section(p, "figures", "The slowest one in a hundred: here and as published");
	if (even && burst)
		page_finding(
			p,
			"At 0.25 CPU the slowest 1%% took at least %.1f ms when requests came in bursts and %.1f ms when they "
			"came evenly, at the same mean CPU use.",
			page_number(burst->json, "p99_ms"), page_number(even->json, "p99_ms"));
	page_key(p->out, predicted ? key : (const char *const[]){key[0], key[1], key[2], key[3], NULL});
	chart_ranges(p->out,
		     "p99 of each condition on a log scale, measured here and published; the table has the figures",
		     "p99 of the response time (ms)", rows, c->n);
	put_figures_table(p, c, predicted);
	page_remark(
		p,
		"Published: 20 requests/s, 3 runs of 20 s. p99: from the planned send to the last byte, nearest rank "
		"over all requests of a condition. Other machines give other times; the shape is what must come back.");
	page_section_end(p);
}

/* ---- over time ------------------------------------------------------------------------------------------------------
 */

static struct timeline timeline_of(const struct page_part *p)
{
	const double period_ms = LIMIT_PERIOD_USEC / 1000.0;
	struct timeline t = {
		.results = p->results, .results_index = p->index, .length_ms = 1000, .top_ms = 1, .top_cpu_ms = 1};
	for (size_t i = 0; i < p->results->n_runs; i++) {
		const struct page_run *run = &p->results->runs[i];
		for (size_t k = 0; run->valid && k < run->n_requests; k++) {
			double ms = fmax(0, run->requests[k].latency_ms);
			t.top_ms = fmax(t.top_ms, ms);
			t.length_ms = fmax(t.length_ms, run->requests[k].at_ms + ms);
		}
		for (size_t k = 0; run->valid && k < run->n_periods; k++)
			t.top_cpu_ms = fmax(t.top_cpu_ms, run->periods[k].cpu_ms);
		if (run->valid && run->limit_cpus > 0)
			t.top_cpu_ms = fmax(t.top_cpu_ms, run->limit_cpus * period_ms);
	}
	t.length_ms = ceil(t.length_ms / 100) * 100;
	t.top_ms *= 1.05;
	t.top_cpu_ms *= 1.08;
	return t;
}

static void put_zoom(const struct page_part *p, const struct timeline *t)
{
	fprintf(p->out,
		"<div class=\"zoom\" data-length=\"%.0f\" hidden>"
		"<div role=\"group\" aria-label=\"How much of the time is shown\"><span aria-hidden=\"true\">show</span>"
		"<button type=\"button\" data-span=\"0\" aria-pressed=\"true\">the whole run</button>"
		"<button type=\"button\" data-span=\"2000\" aria-pressed=\"false\">2 s</button>"
		"<button type=\"button\" data-span=\"400\" aria-pressed=\"false\">400 ms</button>"
		"<button type=\"button\" data-span=\"100\" aria-pressed=\"false\">one period</button></div>"
		"<label>from <input type=\"range\" min=\"0\" max=\"%.0f\" step=\"10\" value=\"0\" disabled> <output>0 "
		"s</output></label>"
		"<div role=\"group\" aria-label=\"Repetition\" class=\"repetitions\"></div>"
		"<p class=\"remark\">A click into a picture looks closer at that place. Point at a dot for its request.</p></div>\n",
		t->length_ms, t->length_ms);
}

static size_t full_periods(const struct page_run *run)
{
	const double nearly = 0.97;
	size_t n = 0;
	for (size_t i = 0; i < run->n_periods; i++)
		n += run->periods[i].cpu_ms >= nearly * run->limit_cpus * LIMIT_PERIOD_USEC / 1000.0;
	return n;
}

static double throttled_longest_ms(const struct page_run *run)
{
	double longest = 0;
	for (size_t i = 0; i < run->n_throttled; i++)
		longest = fmax(longest, run->throttled[i].to_ms - run->throttled[i].from_ms);
	return longest;
}

static void put_runs_table(const struct page_part *p)
{
	static const char *const heads[] = {"run",
					    "repetition",
					    "phase (ms)",
					    "p50 (ms)",
					    "p99 (ms)",
					    "longest (ms)",
					    "mean CPU in 100 ms (ms)",
					    "budget of a period (ms)",
					    "periods that used it up",
					    "throttled periods",
					    "throttled (ms)",
					    "longest throttled interval (ms)",
					    "valid",
					    NULL};
	struct html_table t;
	html_table_begin(&t, p->out, HTML_TABLE_FOLDED, "Every run, in the order in which they were made", heads);
	for (size_t i = 0; i < p->results->n_runs; i++) {
		const struct page_run *run = &p->results->runs[i];
		bool limited = !isnan(run->limit_cpus);
		html_row(&t);
		html_cell(&t, "%s, %s%s", run->pattern, limited ? run->limit : "no limit", limited ? " CPU" : "");
		html_cell(&t, "%u", run->repetition);
		html_cell_number(&t, run->phase_ms, 1, "");
		html_cell_number(&t, run->p50_ms, 1, "");
		html_cell_number(&t, run->p99_ms, 1, "");
		html_cell_number(&t, run->max_ms, 1, "");
		html_cell_number(&t, run->cpu_cores_mean * 100, 1, "");
		html_cell_number(&t, run->limit_cpus * LIMIT_PERIOD_USEC / 1000.0, 1, "");
		html_cell_number(&t, limited ? (double)full_periods(run) : (double)NAN, 0, "");
		html_cell_number(&t, run->nr_throttled, 0, "");
		html_cell_number(&t, run->throttled_ms, 1, "");
		html_cell_number(&t, run->n_throttled ? throttled_longest_ms(run) : (double)NAN, 1, "");
		html_cell(&t, "%s%s%s", run->valid ? "yes" : "no", *run->invalid_reason ? ": " : "",
			  run->invalid_reason);
	}
	html_table_end(&t, HTML_TABLE_FOLDED);
}

static void put_timeline_finding(const struct page_part *p)
{
	for (size_t i = 0; i < p->results->n_runs; i++) {
		const struct page_run *run = &p->results->runs[i];
		if (!run->valid || run->limit_cpus != 0.25 || strcmp(run->pattern, "burst") != 0 || !run->n_periods)
			continue;
		page_finding(
			p,
			"Bursts at 0.25 CPU: the mean was %.1f ms of CPU in 100 ms, %.0f%% of the budget, yet %zu periods "
			"used up all of their %.0f ms; after that nothing runs until the next period.",
			run->cpu_cores_mean * 100, run->of_limit * 100, full_periods(run), run->limit_cpus * 100);
		return;
	}
}

static void put_timelines(const struct page_part *p, const struct conditions *c)
{
	static const char *const key[] = {"k-dot dots",
					  "one request, at its planned send",
					  "k-box throttled",
					  "throttled: the budget is spent, nothing runs",
					  "k-box cpu",
					  "CPU used in a period",
					  "k-line budget",
					  "the budget of a period",
					  "k-line mean",
					  "mean: what a CPU graph shows",
					  NULL};
	struct timeline t = timeline_of(p);
	page_section(p, "time", "Over time");
	put_timeline_finding(p);
	page_key(p->out, key);
	put_zoom(p, &t);
	fprintf(p->out, "<div class=\"panels\" data-results=\"%zu\">\n", p->index);
	for (size_t i = 0; i < c->n; i++) {
		t.title = c->list[i].name;
		t.limit = c->list[i].limit;
		t.pattern = c->list[i].pattern;
		chart_timeline(p->out, &t);
	}
	fputs("</div>\n", p->out);
	put_runs_table(p);
	page_remark(
		p,
		"Throttled intervals and periods were seen by reading cpu.stat every ms. Without a limit the kernel counts no "
		"periods: there the CPU time is what the server told about each request, in steps of 100 ms. A period can be a little above its budget: it is handed out in slices, and read up to 1 ms late.");
	page_section_end(p);
}

/* ---- where the time goes --------------------------------------------------------------------------------------------
 */

static const struct part_shown {
	enum part part;
	const char *class, *name;
} parts_shown[] = {
	{PART_QUOTA, "quota", "waiting for the quota itself"},
	{PART_QUEUE_QUOTA, "queue-quota", "in the queue behind requests that waited for the quota"},
	{PART_QUEUE, "queue", "in the queue behind requests that ran"},
	{PART_RUNNING, "running", "its own work"},
	{PART_CONTENTION, "contention", "waiting for a CPU for other reasons"},
	{PART_NETWORK, "rest", "network and the rest"},
	{PART_LATENESS, "lateness", "the sender's lateness"},
};

static void put_parts_finding(const struct page_part *p, const struct conditions *c)
{
	const struct shown *burst = conditions_find(c, "burst", 0.25);
	const json_value *parts = burst ? json_get(burst->json, "above_p95") : NULL;
	/* the sentence of the terminal: about the second condition */
	struct summary s[2] = {0};
	char text[STUDY1_TEXT_SIZE];
	if (!(page_number(parts, "requests") > 0))
		return;
	s[1].n_parts = 1;
	s[1].parts_total_ms = page_number(parts, "response_ms");
	for (enum part k = 0; k < PARTS; k++)
		s[1].parts_ms[k] = page_number(parts, part_key(k));
	study1_parts_sentence(s, text);
	page_finding(p, "%s", text);
}

static void put_parts_table(const struct page_part *p, const struct conditions *c)
{
	const char *heads[ARRAY_LEN(parts_shown) + 4] = {"condition", "requests", "response"};
	struct html_table t;
	for (size_t k = 0; k < ARRAY_LEN(parts_shown); k++)
		heads[k + 3] = parts_shown[k].name;
	html_table_begin(&t, p->out, HTML_TABLE_FOLDED, "Means over the requests at or above p95 (ms)", heads);
	for (size_t i = 0; i < c->n; i++) {
		const json_value *parts = json_get(c->list[i].json, "above_p95");
		html_row(&t);
		html_cell(&t, "%s", c->list[i].name);
		html_cell_number(&t, page_number(parts, "requests"), 0, "");
		html_cell_number(&t, page_number(parts, "response_ms"), 1, "");
		for (size_t k = 0; k < ARRAY_LEN(parts_shown); k++)
			html_cell_number(&t, page_number(parts, part_key(parts_shown[k].part)), 2, "");
	}
	html_table_end(&t, HTML_TABLE_FOLDED);
}

static void put_parts(const struct page_part *p, const struct conditions *c)
{
	struct bar bars[CONDITIONS_MAX] = {0};
	const char *classes[ARRAY_LEN(parts_shown)];
	const char *key[2 * ARRAY_LEN(parts_shown) + 1] = {NULL};
	char key_class[ARRAY_LEN(parts_shown)][32];
	for (size_t k = 0; k < ARRAY_LEN(parts_shown); k++) {
		classes[k] = parts_shown[k].class;
		snprintf(key_class[k], sizeof key_class[k], "k-box bar %s", classes[k]);
		key[2 * k] = key_class[k];
		key[2 * k + 1] = parts_shown[k].name;
	}
	for (size_t i = 0; i < c->n; i++) {
		const json_value *parts = json_get(c->list[i].json, "above_p95");
		snprintf(bars[i].name, sizeof bars[i].name, "%s", c->list[i].name);
		bars[i].total = page_number(parts, "response_ms");
		for (size_t k = 0; k < ARRAY_LEN(parts_shown); k++)
			bars[i].parts[k] = page_number(parts, part_key(parts_shown[k].part));
	}
	page_section(p, "parts", "Where the time of the slowest 5% went");
	put_parts_finding(p, c);
	page_key(p->out, key);
	chart_bars(p->out,
		   "Stacked bars: of what the response time of the slowest 5% is made; the table has the figures",
		   "mean response time of the requests at or above p95 (ms)", classes, ARRAY_LEN(classes), bars, c->n);
	put_parts_table(p, c);
	page_section_end(p);
}

void page_study1(const struct page_part *p)
{
	struct conditions c = conditions_take(p->results);
	if (c.n == 0)
		return;
	put_figures(p, &c);
	put_timelines(p, &c);
	page_distribution(p, &c);
	put_parts(p, &c);
}
