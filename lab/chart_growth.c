#include "chart_growth.h"

#include "chart.h"

#include <math.h>

static void draw_place(struct chart *c, const char *class, double x)
{
	if (isnan(x))
		return;
	chart_path(c, class);
	chart_from(c, x, c->y.low);
	chart_to(c, x, c->y.high);
	chart_path_end(c);
}

/* The two are often close: the smaller one has its name at the left. */
static void name_places(struct chart *c, const struct growth *g)
{
	bool law_is_right = !(g->law < g->knee);
	double height = c->y.high * 0.05;
	chart_note(c, law_is_right ? CHART_RIGHT : CHART_LEFT, g->law, height, "law-note", "law %.3g", g->law);
	chart_note(c, law_is_right ? CHART_LEFT : CHART_RIGHT, g->knee, height, "knee-note", "knee %.3g", g->knee);
}

static void draw_series(struct chart *c, const struct growth_series *s)
{
	char class[64];
	snprintf(class, sizeof class, "line %s", s->class);
	chart_path(c, class);
	for (size_t i = 0; i < s->n; i++)
		if (i == 0)
			chart_from(c, s->x[i], s->y[i]);
		else
			chart_to(c, s->x[i], s->y[i]);
	chart_path_end(c);
	snprintf(class, sizeof class, "point %s", s->class);
	chart_path(c, class);
	for (size_t i = 0; i < s->n; i++)
		chart_dot(c, s->x[i], s->y[i]);
	chart_path_end(c);
	if (s->n && s->name[0])
		chart_note(c, CHART_BESIDE_PLOT, s->x[s->n - 1], s->y[s->n - 1], s->class, "%s", s->name);
}

void chart_growth(FILE *out, const struct growth *g)
{
	struct chart c = {.out = out,
			  .x = {.title = g->x_title},
			  .y = {.title = g->y_title},
			  .height_px = g->height_px,
			  .label = g->label};
	c.x.high = fmax(0, fmax(g->law, g->knee));
	for (size_t i = 0; i < g->n; i++)
		for (size_t k = 0; k < g->series[i].n; k++) {
			c.x.high = fmax(c.x.high, g->series[i].x[k]);
			c.y.high = fmax(c.y.high, g->series[i].y[k]);
		}
	if (!(c.y.high > 0) || !(c.x.high > 0))
		return;
	c.x.high *= 1.04;
	c.y.high *= 1.12;
	chart_begin(&c);
	draw_place(&c, "law", g->law);
	draw_place(&c, "knee", g->knee);
	for (size_t i = 0; i < g->n; i++)
		draw_series(&c, &g->series[i]);
	name_places(&c, g);
	chart_end(&c);
}
