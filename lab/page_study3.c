#include "page_study3.h"

#include "chart_growth.h"

#include <math.h>
#include <string.h>

static const char *text_of(const json_value *o, const char *key)
{
	const char *text = json_get_text(o, key);
	return text ? text : "";
}

/* Points with both figures; each divided. */
static void take_points(struct growth_series *s, const json_value *points, const char *key, double unit_x,
			double unit_y)
{
	s->n = 0;
	for (size_t i = 0; i < json_length(points) && s->n < GROWTH_POINTS_MAX; i++) {
		double x = page_number(json_at(points, i), "threads") / unit_x;
		double y = page_number(json_at(points, i), key) / unit_y;
		if (!isfinite(x) || !isfinite(y))
			continue;
		s->x[s->n] = x;
		s->y[s->n++] = y;
	}
}

static double most(const json_value *points, const char *key)
{
	double high = (double)NAN;
	for (size_t i = 0; i < json_length(points); i++)
		high = fmax(high, page_number(json_at(points, i), key));
	return high;
}

/* ---- one case -------------------------------------------------------------------------------------------------------
 */

static void begin_panel(FILE *out, const char *title)
{
	fputs("<div class=\"panel\"><p class=\"panel-title\">", out);
	html_text(out, title);
	fputs("</p>\n", out);
}

static void put_growth(FILE *out, const json_value *c, const char *key, const char *title, const char *y_title)
{
	char label[256];
	struct growth_series here = {.class = "even"};
	struct growth g = {.label = label,
			   .x_title = "threads",
			   .y_title = y_title,
			   .height_px = 190,
			   .law = page_number(c, "law_threads"),
			   .knee = page_number(c, "knee_threads"),
			   .series = &here,
			   .n = 1};
	take_points(&here, json_get(c, "points"), key, 1, 1);
	snprintf(label, sizeof label,
		 "%.80s, %s over the number of threads; the law says %.3g, the measured knee is at %.3g",
		 text_of(c, "text"), title, g.law, g.knee);
	begin_panel(out, title);
	chart_growth(out, &g);
	fputs("</div>\n", out);
}

/* The published study had other CPUs: on both axes what counts is the share. Its law is that of what was asked for,
 * with 2 CPUs. */
static void put_shape(FILE *out, const json_value *c)
{
	const double published_cpus = 2;
	const json_value *points = json_get(c, "points");
	const json_value *published = json_get(c, "published");
	double cpu_ms = page_number(c, "cpu_ms");
	double published_law = (cpu_ms + page_number(c, "wait_ms")) / cpu_ms * published_cpus;
	struct growth_series series[] = {{.class = "even", .name = "here"}, {.class = "other", .name = "published"}};
	struct growth g = {.label = "The same beside the published study, as shares of the law's N and of the highest "
				    "throughput; the table has the figures",
			   .x_title = "threads / the law's N",
			   .y_title = "throughput / the highest",
			   .height_px = 190,
			   .law = 1,
			   .knee = (double)NAN,
			   .series = series,
			   .n = 2};
	if (!json_length(published))
		return;
	take_points(&series[0], points, "requests_per_s", page_number(c, "law_threads"),
		    most(points, "requests_per_s"));
	take_points(&series[1], published, "requests_per_s", published_law, most(published, "requests_per_s"));
	begin_panel(out, "the shape, beside the published one");
	chart_growth(out, &g);
	fputs("</div>\n", out);
}

static void put_points_table(FILE *out, const json_value *c)
{
	static const char *const heads[] = {"threads",           "valid runs",
					    "requests/s",        "mean response (ms)",
					    "p99 (ms)",          "mean CPU (CPUs)",
					    "of the limit",      "CPU of a request (ms)",
					    "throttled periods", NULL};
	static const struct {
		const char *key;
		int decimals;
		double unit;
		const char *behind;
	} columns[] = {{"runs", 0, 1, ""},
		       {"requests_per_s", 1, 1, ""},
		       {"mean_ms", 1, 1, ""},
		       {"p99_ms", 1, 1, ""},
		       {"cpu_cores_mean", 3, 1, ""},
		       {"of_limit", 1, 100, "%"},
		       {"cpu_ms_per_request", 2, 1, ""},
		       {"nr_throttled", 0, 1, ""}};
	const json_value *points = json_get(c, "points");
	char caption[160];
	struct html_table t;
	snprintf(caption, sizeof caption, "Every number of threads: %.120s", text_of(c, "text"));
	html_table_begin(&t, out, HTML_TABLE_FOLDED, caption, heads);
	for (size_t i = 0; i < json_length(points); i++) {
		html_row(&t);
		html_cell(&t, "%.0f", page_number(json_at(points, i), "threads"));
		for (size_t k = 0; k < ARRAY_LEN(columns); k++)
			html_cell_number(&t, page_number(json_at(points, i), columns[k].key) * columns[k].unit,
					 columns[k].decimals, columns[k].behind);
	}
	html_table_end(&t, HTML_TABLE_FOLDED);
}

static void put_published_table(FILE *out, const json_value *c)
{
	const json_value *points = json_get(c, "published");
	struct html_table t;
	if (!json_length(points))
		return;
	html_table_begin(&t, out, HTML_TABLE_FOLDED, "Published, with 2 CPUs",
			 (const char *const[]){"threads", "requests/s", "mean response (ms)", NULL});
	for (size_t i = 0; i < json_length(points); i++) {
		html_row(&t);
		html_cell(&t, "%.0f", page_number(json_at(points, i), "threads"));
		html_cell_number(&t, page_number(json_at(points, i), "requests_per_s"), 1, "");
		html_cell_number(&t, page_number(json_at(points, i), "mean_ms"), 0, "");
	}
	html_table_end(&t, HTML_TABLE_FOLDED);
}

static void put_case(const struct page_part *p, const json_value *c, size_t number)
{
	static const char *const key[] = {"k-line law", "what the concurrency law says", "k-line knee",
					  "where throughput was seen to stop growing", NULL};
	char id[32];
	char title[160];
	snprintf(id, sizeof id, "case-%zu", number);
	snprintf(title, sizeof title, "A request of %.120s", text_of(c, "text"));
	page_section(p, id, title);
	page_finding(p, "%s", text_of(c, "sentence"));
	if (most(json_get(c, "points"), "requests_per_s") > 0) {
		page_key(p->out, key);
		fputs("<div class=\"panels\">\n", p->out);
		put_growth(p->out, c, "requests_per_s", "throughput", "requests/s");
		put_growth(p->out, c, "mean_ms", "response time", "mean response (ms)");
		put_shape(p->out, c);
		fputs("</div>\n", p->out);
	} else {
		page_remark(p, "No number of threads has a valid run.");
	}
	put_points_table(p->out, c);
	put_published_table(p->out, c);
	page_section_end(p);
}

/* ---- the law --------------------------------------------------------------------------------------------------------
 */

static void put_law_row(struct html_table *t, const char *name, const json_value *c)
{
	html_row(t);
	html_cell(t, "%s", name);
	html_cell_number(t, page_number(c, "measured_cpu_ms"), 2, "");
	html_cell_number(t, page_number(c, "measured_wait_ms"), 1, "");
	html_cell_number(t, page_number(c, "law_threads"), 2, "");
	html_cell_number(t, page_number(c, "knee_threads"), 2, "");
	html_cell_number(t, page_number(c, "difference") * 100, 1, "%");
	html_cell_number(t, most(json_get(c, "points"), "requests_per_s"), 1, "");
}

static const char *const law_heads[] = {"case",
					"CPU of a request, measured (ms)",
					"its wait, measured (ms)",
					"threads by the law",
					"knee, measured",
					"knee against law",
					"highest requests/s",
					NULL};

static void put_law(const struct page_part *p)
{
	const json_value *cases = json_get(p->results->summary, "cases");
	struct html_table t;
	page_section(p, "law", "The law and what was measured");
	page_finding(p, "More threads than the law says bring no more throughput, only longer response times.");
	if (page_number(p->results->summary, "limit_cpus") > 0)
		page_remark(
			p,
			"The CPUs of the law are those that the container may use, %g here; not nproc, which says %g.",
			page_number(p->results->summary, "limit_cpus"), page_number(p->results->summary, "nproc"));
	html_table_begin(&t, p->out, HTML_TABLE_OPEN, "threads = (CPU time + wait time) / CPU time x CPUs", law_heads);
	for (size_t i = 0; i < json_length(cases); i++)
		put_law_row(&t, text_of(json_at(cases, i), "text"), json_at(cases, i));
	html_table_end(&t, HTML_TABLE_OPEN);
	page_section_end(p);
}

void page_study3(const struct page_part *p)
{
	const json_value *cases = json_get(p->results->summary, "cases");
	if (!json_length(cases))
		return;
	put_law(p);
	for (size_t i = 0; i < json_length(cases); i++)
		put_case(p, json_at(cases, i), i + 1);
}

/* ---- several results ------------------------------------------------------------------------------------------------
 */

static const json_value *case_of(const struct page_results *r, const char *name)
{
	const json_value *cases = json_get(r->summary, "cases");
	for (size_t i = 0; i < json_length(cases); i++)
		if (strcmp(text_of(json_at(cases, i), "name"), name) == 0)
			return json_at(cases, i);
	return NULL;
}

static void put_overlaid(FILE *out, const json_value *c, const struct page_results *all, size_t n)
{
	static const char *const classes[] = {"series-0", "series-1", "series-2", "series-3", "series-4", "series-5"};
	struct growth_series series[GROWTH_SERIES_MAX] = {0};
	struct growth g = {.label = "Throughput over the number of threads in each of the results",
			   .x_title = "threads",
			   .y_title = "requests/s",
			   .height_px = 220,
			   .law = (double)NAN,
			   .knee = (double)NAN,
			   .series = series,
			   .n = n < GROWTH_SERIES_MAX ? n : GROWTH_SERIES_MAX};
	for (size_t i = 0; i < g.n; i++) {
		series[i].class = classes[i % ARRAY_LEN(classes)];
		snprintf(series[i].name, sizeof series[i].name, "%.60s", all[i].name);
		take_points(&series[i], json_get(case_of(&all[i], text_of(c, "name")), "points"), "requests_per_s", 1,
			    1);
	}
	begin_panel(out, text_of(c, "text"));
	chart_growth(out, &g);
	fputs("</div>\n", out);
}

void page_study3_compare(const struct page_part *p, const struct page_results *all, size_t n)
{
	const json_value *cases = json_get(all[0].summary, "cases");
	struct html_table t;
	page_section(p, "compare", "Side by side");
	html_table_begin(&t, p->out, HTML_TABLE_OPEN, "The same case in each of the results", law_heads);
	for (size_t i = 0; i < json_length(cases); i++)
		for (size_t k = 0; k < n; k++) {
			char name[160];
			snprintf(name, sizeof name, "%.80s: %.60s", text_of(json_at(cases, i), "text"), all[k].name);
			put_law_row(&t, name, case_of(&all[k], text_of(json_at(cases, i), "name")));
		}
	html_table_end(&t, HTML_TABLE_OPEN);
	fputs("<div class=\"panels\">\n", p->out);
	for (size_t i = 0; i < json_length(cases); i++)
		put_overlaid(p->out, json_at(cases, i), all, n);
	fputs("</div>\n", p->out);
	page_section_end(p);
}
