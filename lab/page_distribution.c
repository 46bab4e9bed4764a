#include "page_distribution.h"

#include "chart_curves.h"
#include "page_study1.h"

#include <math.h>
#include <string.h>

static size_t count_requests(const struct page_results *r, const struct shown *s)
{
	size_t n = 0;
	for (size_t i = 0; i < r->n_runs; i++)
		if (conditions_match(s, &r->runs[i]))
			n += r->runs[i].n_requests;
	return n;
}

/* The answered requests of the valid runs; empty when memory runs out. Free ms. */
static void fill_curve(struct curve *k, const struct page_results *r, const struct shown *s)
{
	k->n = 0;
	k->ms = calloc(count_requests(r, s) + 1, sizeof *k->ms);
	for (size_t i = 0; k->ms && i < r->n_runs; i++) {
		const struct page_run *run = &r->runs[i];
		if (!run->valid || !conditions_match(s, run))
			continue;
		for (size_t q = 0; q < run->n_requests; q++)
			if (run->requests[q].ok && run->requests[q].latency_ms > 0)
				k->ms[k->n++] = run->requests[q].latency_ms;
	}
	if (k->n)
		curve_sort(k->ms, k->n);
}

static double at_share(const struct curve *k, double share)
{
	return k->n ? k->ms[(size_t)fmax(0, ceil((double)k->n * share) - 1)] : (double)NAN;
}

static void put_curves_table(FILE *out, const char *caption, const struct curve *curves, size_t n)
{
	static const char *const heads[] = {"which", "requests", "fastest (ms)", "50% within (ms)", "75%",
					    "90%",   "95%",      "99%",          "slowest (ms)",    NULL};
	static const double shares[] = {0, 0.5, 0.75, 0.9, 0.95, 0.99, 1};
	struct html_table t;
	html_table_begin(&t, out, HTML_TABLE_FOLDED, caption, heads);
	for (size_t i = 0; i < n; i++) {
		html_row(&t);
		html_cell(&t, "%s", curves[i].name);
		html_cell_number(&t, (double)curves[i].n, 0, "");
		for (size_t k = 0; k < ARRAY_LEN(shares); k++)
			html_cell_number(&t, at_share(&curves[i], shares[k]), 1, "");
	}
	html_table_end(&t, HTML_TABLE_FOLDED);
}

void page_distribution(const struct page_part *p, const struct conditions *c)
{
	struct curve curves[CONDITIONS_MAX] = {0};
	const struct shown *burst = conditions_find(c, "burst", 0.25);
	for (size_t i = 0; i < c->n; i++) {
		snprintf(curves[i].name, sizeof curves[i].name, "%s", c->list[i].name);
		snprintf(curves[i].class, sizeof curves[i].class, "%s", c->list[i].class);
		fill_curve(&curves[i], p->results, &c->list[i]);
	}
	page_section(p, "distribution", "How many requests are slow");
	if (burst)
		page_finding(
			p,
			"In bursts at 0.25 CPU half of the requests were answered within %.1f ms, but one in ten took at "
			"least %.1f ms and one in a hundred at least %.1f ms.",
			page_number(burst->json, "p50_ms"), page_number(burst->json, "p90_ms"),
			page_number(burst->json, "p99_ms"));
	chart_curves(
		p->out,
		"Distribution of the response times by condition, both axes on log scales; the table has the figures",
		320, curves, c->n);
	put_curves_table(p->out, "Response times by condition", curves, c->n);
	page_section_end(p);
	for (size_t i = 0; i < c->n; i++)
		free(curves[i].ms);
}

/* ---- several results ------------------------------------------------------------------------------------------------
 */

static void put_compare_table(const struct page_part *p, const struct conditions *first, const struct page_results *all,
			      size_t n)
{
	static const char *const heads[] = {"condition and results", "mean CPU", "of the limit", "p50 (ms)", "p99 (ms)",
					    "throttled periods",     NULL};
	struct html_table t;
	html_table_begin(&t, p->out, HTML_TABLE_OPEN, "The same condition in each of the results", heads);
	for (size_t i = 0; i < first->n; i++) {
		for (size_t k = 0; k < n; k++) {
			struct conditions other = conditions_take(&all[k]);
			const struct shown *s = NULL;
			for (size_t m = 0; m < other.n; m++)
				if (strcmp(other.list[m].name, first->list[i].name) == 0)
					s = &other.list[m];
			html_row(&t);
			html_cell(&t, "%s: %s", first->list[i].name, all[k].name);
			html_cell_number(&t, s ? page_number(s->json, "cpu_cores_mean") : (double)NAN, 3, "");
			html_cell_number(&t, s ? 100 * page_number(s->json, "of_limit") : (double)NAN, 1, "%");
			html_cell_number(&t, s ? page_number(s->json, "p50_ms") : (double)NAN, 1, "");
			html_cell_number(&t, s ? page_number(s->json, "p99_ms") : (double)NAN, 1, "");
			html_cell_number(&t, s ? page_number(s->json, "nr_throttled") : (double)NAN, 0, "");
		}
	}
	html_table_end(&t, HTML_TABLE_OPEN);
}

static void put_overlaid(const struct page_part *p, const struct shown *s, const struct page_results *all, size_t n)
{
	struct curve curves[CURVES_MAX] = {0};
	char label[160];
	size_t shown = n < CURVES_MAX ? n : CURVES_MAX;
	for (size_t i = 0; i < shown; i++) {
		snprintf(curves[i].name, sizeof curves[i].name, "%.60s", all[i].name);
		snprintf(curves[i].class, sizeof curves[i].class, "series-%zu", i % 6);
		fill_curve(&curves[i], &all[i], s);
	}
	snprintf(label, sizeof label, "%s: distribution of the response times in each of the results", s->name);
	fputs("<div class=\"panel\"><p class=\"panel-title\">", p->out);
	html_text(p->out, s->name);
	fputs("</p>\n", p->out);
	chart_curves(p->out, label, 220, curves, shown);
	put_curves_table(p->out, label, curves, shown);
	fputs("</div>\n", p->out);
	for (size_t i = 0; i < shown; i++)
		free(curves[i].ms);
}

void page_study1_compare(const struct page_part *p, const struct page_results *all, size_t n)
{
	struct conditions c = conditions_take(&all[0]);
	page_section(p, "compare", "Side by side");
	put_compare_table(p, &c, all, n);
	fputs("<div class=\"panels\">\n", p->out);
	for (size_t i = 0; i < c.n; i++)
		put_overlaid(p, &c.list[i], all, n);
	fputs("</div>\n", p->out);
	page_section_end(p);
}
