#include "chart_curves.h"

#include "chart.h"

#include <math.h>

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a;
	double y = *(const double *)b;
	return (x > y) - (x < y);
}

void curve_sort(double *ms, size_t n)
{
	qsort(ms, n, sizeof *ms, compare);
}

static void axes(struct chart *c, const struct curve *curves, size_t n)
{
	double low = INFINITY;
	double high = 0;
	size_t most = 2;
	for (size_t i = 0; i < n; i++) {
		if (!curves[i].n)
			continue;
		low = fmin(low, curves[i].ms[0]);
		high = fmax(high, curves[i].ms[curves[i].n - 1]);
		most = curves[i].n > most ? curves[i].n : most;
	}
	/* whole steps of 1, 2, 5 around them */
	c->y.high = chart_round_up(fmax(high, 0.002));
	c->y.low = c->y.high;
	while (c->y.low > fmax(low, c->y.high / 1e5))
		c->y.low /= 10;
	if (c->y.low * 5 <= low)
		c->y.low *= 5;
	else if (c->y.low * 2 <= low)
		c->y.low *= 2;
	c->x.low = 1;
	c->x.high = (double)most;
}

/* A point that would be drawn over the one before is left out. */
static void draw(struct chart *c, const struct curve *k)
{
	char class[64];
	double x = -10;
	double y = -10;
	snprintf(class, sizeof class, "line %s", k->class);
	chart_path(c, class);
	for (size_t i = 0; i < k->n; i++) {
		double at = (double)k->n / (double)(k->n - i);
		bool last = i + 1 == k->n;
		if (!last && fabs(chart_x(c, at) - x) < 1.5 && fabs(chart_y(c, k->ms[i]) - y) < 1.5)
			continue;
		x = chart_x(c, at);
		y = chart_y(c, k->ms[i]);
		if (i == 0)
			chart_from(c, at, k->ms[i]);
		else
			chart_to(c, at, k->ms[i]);
	}
	chart_path_end(c);
	if (k->n)
		chart_note(c, CHART_BESIDE_PLOT, c->x.high, k->ms[k->n - 1], k->class, "%s", k->name);
}

void chart_curves(FILE *out, const char *label, unsigned height_px, const struct curve *curves, size_t n)
{
	static const struct {
		double at;
		const char *text;
	} shares[] = {{1, "0%"}, {2, "50%"}, {10, "90%"}, {100, "99%"}, {1000, "99.9%"}, {10000, "99.99%"}};
	struct chart c = {.out = out,
			  .x = {.title = "share of the requests that were answered within this time", .log = true},
			  .y = {.title = "response time (ms)", .log = true},
			  .height_px = height_px,
			  .label = label};
	axes(&c, curves, n);
	for (size_t i = 0; i < ARRAY_LEN(shares) && shares[i].at <= c.x.high; i++)
		chart_name(&c.x, shares[i].at, "%s", shares[i].text);
	chart_begin(&c);
	for (size_t i = 0; i < n; i++)
		draw(&c, &curves[i]);
	chart_end(&c);
}
