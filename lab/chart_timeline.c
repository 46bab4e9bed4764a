#include "chart_timeline.h"

#include "chart.h"
#include "limits.h"
#include "page_html.h"

#include <math.h>
#include <string.h>

bool timeline_shows(const struct timeline *t, const struct page_run *run)
{
	return run->valid && run->n_requests && strcmp(run->limit, t->limit) == 0 &&
	       strcmp(run->pattern, t->pattern) == 0;
}

static void seconds_axis(struct chart_axis *a, double length_ms)
{
	double step_ms = chart_round_up(length_ms / 6);
	for (double at = 0; at <= length_ms; at += step_ms)
		chart_name(a, at, "%g", at / 1000);
}

/* Calls draw() for every run that is shown, each in a group of its own; only the first is visible at first. */
static void each_run(struct chart *c, const struct timeline *t,
		     void (*draw)(struct chart *c, const struct page_run *run))
{
	bool first = true;
	for (size_t i = 0; i < t->results->n_runs; i++) {
		const struct page_run *run = &t->results->runs[i];
		if (!timeline_shows(t, run))
			continue;
		fprintf(c->out, "<g class=\"run%s\" data-run=\"%zu\" data-repetition=\"%u\">\n", first ? "" : " off", i,
			run->repetition);
		draw(c, run);
		fputs("</g>\n", c->out);
		first = false;
	}
}

static void draw_responses(struct chart *c, const struct page_run *run)
{
	for (size_t i = 0; i < run->n_throttled; i++)
		chart_box(c, "throttled", run->throttled[i].from_ms, c->y.low, run->throttled[i].to_ms, c->y.high);
	if (!isnan(run->limit_cpus)) {
		chart_path(c, "ticks");
		for (size_t i = 0; i < run->n_periods; i++) {
			chart_from(c, run->periods[i].to_ms, c->y.low);
			chart_to(c, run->periods[i].to_ms, c->y.high);
		}
		chart_path_end(c);
	}
	chart_path(c, "dots");
	for (size_t i = 0; i < run->n_requests; i++)
		chart_dot(c, run->requests[i].at_ms, run->requests[i].latency_ms);
	chart_path_end(c);
}

static void draw_periods(struct chart *c, const struct page_run *run)
{
	chart_path(c, "cpu");
	for (size_t i = 0; i < run->n_periods; i++) {
		const struct page_period *p = &run->periods[i];
		chart_from(c, p->from_ms, 0);
		chart_to(c, p->from_ms, p->cpu_ms);
		chart_to(c, p->to_ms, p->cpu_ms);
		chart_to(c, p->to_ms, 0);
	}
	chart_path_end(c);
	const double period_ms = LIMIT_PERIOD_USEC / 1000.0;
	if (!isnan(run->limit_cpus)) {
		chart_path(c, "budget");
		chart_from(c, 0, run->limit_cpus * period_ms);
		chart_to(c, c->x.high, run->limit_cpus * period_ms);
		chart_path_end(c);
	}
	chart_path(c, "mean");
	chart_from(c, 0, run->cpu_cores_mean * period_ms);
	chart_to(c, c->x.high, run->cpu_cores_mean * period_ms);
	chart_path_end(c);
}

static const struct page_run *first_run(const struct timeline *t)
{
	for (size_t i = 0; i < t->results->n_runs; i++)
		if (timeline_shows(t, &t->results->runs[i]))
			return &t->results->runs[i];
	return NULL;
}

static void put_responses(FILE *out, const struct timeline *t, const struct page_run *run)
{
	char label[256];
	struct chart c = {.out = out,
			  .x = {.high = t->length_ms, .bare = true},
			  .y = {.title = "response time (ms)", .high = t->top_ms},
			  .height_px = 150,
			  .plain_x = true,
			  .class = "zoomable",
			  .label = label};
	seconds_axis(&c.x, t->length_ms);
	snprintf(label, sizeof label,
		 "%s: response times over %.1f seconds: half of them at most %.1f ms, the longest %.1f ms, with %zu "
		 "throttled intervals",
		 t->title, t->length_ms / 1000, run->p50_ms, run->max_ms, run->n_throttled);
	chart_begin(&c);
	each_run(&c, t, draw_responses);
	chart_end(&c);
}

static void put_periods(FILE *out, const struct timeline *t, const struct page_run *run)
{
	char label[256];
	double budget_ms = run->limit_cpus * LIMIT_PERIOD_USEC / 1000.0;
	double mean_ms = run->cpu_cores_mean * LIMIT_PERIOD_USEC / 1000.0;
	struct chart c = {.out = out,
			  .x = {.high = t->length_ms, .title = "seconds from the first request"},
			  .y = {.title = "CPU used in each 100 ms (ms)", .high = t->top_cpu_ms},
			  .height_px = 84,
			  .plain_x = true,
			  .class = "zoomable",
			  .label = label};
	seconds_axis(&c.x, t->length_ms);
	if (isnan(budget_ms))
		snprintf(label, sizeof label, "%s: CPU time used in each 100 ms; %.1f ms on average, no budget",
			 t->title, mean_ms);
	else
		snprintf(label, sizeof label,
			 "%s: CPU time used in each period against the budget of %g ms; %.1f ms on average", t->title,
			 budget_ms, mean_ms);
	chart_begin(&c);
	each_run(&c, t, draw_periods);
	chart_note(&c, CHART_BESIDE_PLOT, c.x.high, mean_ms, "mean-note", "mean %.1f", mean_ms);
	if (!isnan(budget_ms))
		chart_note(&c, CHART_BESIDE_PLOT, c.x.high, budget_ms, "budget-note", "budget %g", budget_ms);
	chart_end(&c);
}

void chart_timeline(FILE *out, const struct timeline *t)
{
	const struct page_run *run = first_run(t);
	if (!run)
		return;
	fprintf(out, "<div class=\"panel\"><p class=\"panel-title\">");
	html_text(out, t->title);
	fputs("</p>\n", out);
	put_responses(out, t, run);
	put_periods(out, t, run);
	fputs("</div>\n", out);
}
