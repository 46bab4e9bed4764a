#include "chart_ranges.h"

#include "chart.h"

#include <math.h>

/* fmin() and fmax() pass over NAN */
static void stretch(struct chart_axis *a, const struct range *r)
{
	a->low = fmin(a->low, fmin(r->low, r->at));
	a->high = fmax(a->high, fmax(r->high, r->at));
}

static void draw_span(struct chart *c, const char *class, const struct range *r, double y)
{
	if (isnan(r->low) || isnan(r->high))
		return;
	chart_path(c, class);
	chart_from(c, r->low, y);
	chart_to(c, r->high, y);
	chart_path_end(c);
}

static void draw_dot(struct chart *c, const char *class, double x, double y)
{
	if (isnan(x))
		return;
	chart_path(c, class);
	chart_dot(c, x, y);
	chart_path_end(c);
}

static void draw_row(struct chart *c, const struct range_row *r, double row)
{
	const double here = row + 0.38;
	const double published = row + 0.7;
	draw_span(c, "span predicted", &r->predicted, here);
	if (!isnan(r->predicted.at)) {
		chart_path(c, "tick predicted");
		chart_from(c, r->predicted.at, here - 0.2);
		chart_to(c, r->predicted.at, here + 0.2);
		chart_path_end(c);
	}
	draw_span(c, "span here", &r->here, here);
	draw_dot(c, "dot here", r->here.at, here);
	draw_span(c, "span published", &r->published, published);
	draw_dot(c, "dot published", r->published.at, published);
	draw_dot(c, "dot hole", r->published.at, published);
	double behind = fmax(fmax(r->here.at, r->here.high), fmax(r->predicted.at, r->predicted.high));
	if (!isnan(r->here.at))
		chart_note(c, CHART_RIGHT, behind, here, "total", "%.1f", r->here.at);
}

void chart_ranges(FILE *out, const char *label, const char *title, const struct range_row *rows, size_t n)
{
	struct chart c = {.out = out,
			  .x = {.title = title, .low = INFINITY, .high = 0, .log = true},
			  .y = {.low = (double)n, .names_are_wide = true},
			  .height_px = (unsigned)(44 * n),
			  .label = label};
	for (size_t i = 0; i < n; i++) {
		stretch(&c.x, &rows[i].here);
		stretch(&c.x, &rows[i].published);
		stretch(&c.x, &rows[i].predicted);
		chart_name(&c.y, (double)i + 0.5, "%s", rows[i].name);
	}
	if (!(c.x.high > 0))
		return;
	c.x.low = c.x.low / 1.4;
	c.x.high = c.x.high * 1.8;
	chart_begin(&c);
	for (size_t i = 0; i < n; i++)
		draw_row(&c, &rows[i], (double)i);
	chart_end(&c);
}
