#include "chart_bars.h"

#include "chart.h"

#include <math.h>

static const double thickness = 0.66;

static void draw(struct chart *c, const struct bar *b, double row, const char *const classes[], size_t n_parts)
{
	const double readable = 0.09; /* of the width: room for a number */
	double at = 0;
	for (size_t p = 0; p < n_parts; p++) {
		char class[48];
		if (!(b->parts[p] > 0))
			continue;
		snprintf(class, sizeof class, "bar %s", classes[p]);
		chart_box(c, class, at, row + 0.5 - thickness / 2, at + b->parts[p], row + 0.5 + thickness / 2);
		if (b->parts[p] > readable * c->x.high)
			chart_note(c, CHART_MIDDLE, at + b->parts[p] / 2, row + 0.5, "on-bar", "%.1f", b->parts[p]);
		at += b->parts[p];
	}
	if (at > 0)
		chart_note(c, CHART_RIGHT, at, row + 0.5, "total", "%.1f", b->total);
}

void chart_bars(FILE *out, const char *label, const char *title, const char *const classes[], size_t n_parts,
		const struct bar *bars, size_t n)
{
	double most = 0;
	for (size_t i = 0; i < n; i++)
		most = fmax(most, bars[i].total);
	struct chart c = {.out = out,
			  .x = {.title = title, .high = most * 1.12},
			  .y = {.low = (double)n, .names_are_wide = true},
			  .height_px = (unsigned)(34 * n),
			  .label = label};
	if (!(most > 0))
		return;
	for (size_t i = 0; i < n; i++)
		chart_name(&c.y, (double)i + 0.5, "%s", bars[i].name);
	chart_begin(&c);
	for (size_t i = 0; i < n; i++)
		draw(&c, &bars[i], (double)i, classes, n_parts);
	chart_end(&c);
}
