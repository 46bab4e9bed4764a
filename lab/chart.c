#include "chart.h"

#include "page_html.h"

#include <math.h>
#include <stdarg.h>

static const double units = 1000; /* of the plot area, in both directions */

void chart_name(struct chart_axis *a, double at, const char *fmt, ...)
{
	va_list args;
	if (a->n_names == CHART_NAMES_MAX)
		return;
	struct chart_name *name = &a->names[a->n_names++];
	name->at = at;
	va_start(args, fmt);
	vsnprintf(name->text, sizeof name->text, fmt, args);
	va_end(args);
}

double chart_round_up(double value)
{
	static const double round[] = {1, 2, 2.5, 5, 10};
	if (!(value > 0))
		return 1;
	double ten = pow(10, floor(log10(value)));
	for (size_t i = 0; i < ARRAY_LEN(round); i++)
		if (value <= ten * round[i] * 1.0000001)
			return ten * round[i];
	return ten * 10;
}

/* ---- scales ---------------------------------------------------------------------------------------------------------
 */

static double share(const struct chart_axis *a, double value)
{
	double low = a->log ? log10(a->low) : a->low;
	double high = a->log ? log10(a->high) : a->high;
	double at = a->log ? log10(fmax(value, 1e-9)) : value;
	return fmin(1, fmax(0, (at - low) / (high - low)));
}

double chart_x(const struct chart *c, double value)
{
	return share(&c->x, value) * (c->plain_x ? c->x.high : units);
}

double chart_y(const struct chart *c, double value)
{
	return (1 - share(&c->y, value)) * units;
}

static void linear_numbers(struct chart_axis *a)
{
	const double about = 5;
	double step = chart_round_up((a->high - a->low) / about);
	for (double k = ceil(a->low / step - 1e-9); k * step <= a->high * (1 + 1e-9); k++)
		chart_name(a, k * step, "%g", k * step + 0.0); /* no -0 */
}

static void log_numbers(struct chart_axis *a)
{
	static const double steps[] = {1, 2, 5};
	bool narrow = log10(a->high / a->low) < 2.5;
	for (double ten = pow(10, floor(log10(a->low))); ten <= a->high; ten *= 10)
		for (size_t i = 0; i < (narrow ? ARRAY_LEN(steps) : 1); i++)
			if (ten * steps[i] >= a->low * 0.999 && ten * steps[i] <= a->high * 1.001)
				chart_name(a, ten * steps[i], "%g", ten * steps[i]);
}

static void choose_numbers(struct chart_axis *a)
{
	if (a->n_names)
		return;
	if (a->log)
		log_numbers(a);
	else
		linear_numbers(a);
}

/* ---- frame ----------------------------------------------------------------------------------------------------------
 */

static void put_title(const struct chart *c, const char *class, const char *title)
{
	if (!title)
		return;
	fprintf(c->out, "<div class=\"%s\" aria-hidden=\"true\">", class);
	html_text(c->out, title);
	fputs("</div>", c->out);
}

static void put_names(const struct chart *c, const char *class, const char *property, const struct chart_axis *a,
		      bool reversed)
{
	fprintf(c->out, "<div class=\"%s\" aria-hidden=\"true\">", class);
	for (size_t i = 0; !a->bare && i < a->n_names; i++) {
		double at = share(a, a->names[i].at);
		fprintf(c->out, "<span style=\"%s:%.2f%%\">", property, 100 * (reversed ? 1 - at : at));
		html_text(c->out, a->names[i].text);
		fputs("</span>", c->out);
	}
	fputs("</div>", c->out);
}

static void put_grid(struct chart *c)
{
	double width = c->plain_x ? c->x.high : units;
	fputs("<path class=\"grid\" d=\"", c->out);
	for (size_t i = 0; i < c->y.n_names && !c->y.names_are_wide; i++)
		fprintf(c->out, "M0 %.1fH%.0f", chart_y(c, c->y.names[i].at), width);
	/* where the script zooms, it would have to move them */
	for (size_t i = 0; i < c->x.n_names && !c->plain_x; i++)
		fprintf(c->out, "M%.1f 0V%.0f", chart_x(c, c->x.names[i].at), units);
	fputs("\"/>\n", c->out);
}

void chart_begin(struct chart *c)
{
	choose_numbers(&c->x);
	choose_numbers(&c->y);
	fprintf(c->out, "<div class=\"chart%s%s%s\" style=\"--h:%upx\">", c->class ? " " : "", c->class ? c->class : "",
		c->y.names_are_wide ? " wide-names" : "", c->height_px);
	put_title(c, "yt", c->y.title);
	put_names(c, "ya", "top", &c->y, true);
	fprintf(c->out,
		"<div class=\"plot\"><svg viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\" role=\"img\" "
		"aria-label=\"",
		c->plain_x ? c->x.high : units, units);
	html_text(c->out, c->label);
	fputs("\">", c->out);
	put_grid(c);
}

/* From top to bottom, each at least a line below the one before. */
static void keep_apart(struct chart *c)
{
	const double line = 15 * units / c->height_px;
	struct chart_text *beside[CHART_NOTES_MAX];
	size_t n = 0;
	for (size_t i = 0; i < c->n_notes; i++) {
		size_t k = n;
		if (c->notes[i].side != CHART_BESIDE_PLOT)
			continue;
		for (; k > 0 && beside[k - 1]->y > c->notes[i].y; k--)
			beside[k] = beside[k - 1];
		beside[k] = &c->notes[i];
		n++;
	}
	for (size_t i = 1; i < n; i++)
		beside[i]->y = fmax(beside[i]->y, beside[i - 1]->y + line);
	/* too low: back up again */
	for (size_t i = n; i > 0; i--)
		beside[i - 1]->y = fmin(beside[i - 1]->y, units - line * (double)(n - i));
}

static size_t put_notes(const struct chart *c, bool beside)
{
	static const char *const classes[] = {"right", "left", "above", "middle", "beside"};
	size_t n = 0;
	for (size_t i = 0; i < c->n_notes; i++) {
		const struct chart_text *t = &c->notes[i];
		if ((t->side == CHART_BESIDE_PLOT) != beside)
			continue;
		if (n++ == 0 && beside)
			fputs("<div class=\"en\" aria-hidden=\"true\">", c->out);
		fprintf(c->out, "<span class=\"note %s %s\" style=\"left:%.2f%%;top:%.2f%%\"%s>", classes[t->side],
			t->class, beside ? 0 : t->x / 10, t->y / 10, beside ? "" : " aria-hidden=\"true\"");
		html_text(c->out, t->text);
		fputs("</span>", c->out);
	}
	if (n && beside)
		fputs("</div>", c->out);
	return n;
}

void chart_end(struct chart *c)
{
	fputs("</svg>", c->out);
	put_notes(c, false);
	fputs("</div>", c->out);
	keep_apart(c);
	put_notes(c, true);
	put_names(c, "xa", "left", &c->x, false);
	put_title(c, "xt", c->x.title);
	fputs("</div>\n", c->out);
}

/* ---- marks ----------------------------------------------------------------------------------------------------------
 */

void chart_path(struct chart *c, const char *class)
{
	fprintf(c->out, "<path class=\"%s\" d=\"", class);
}

static void put_point(struct chart *c, char command, double x, double y, const char *behind)
{
	if (!isnan(x) && !isnan(y))
		fprintf(c->out, "%c%.1f %.1f%s", command, chart_x(c, x), chart_y(c, y), behind);
}

void chart_from(struct chart *c, double x, double y)
{
	put_point(c, 'M', x, y, "");
}

void chart_to(struct chart *c, double x, double y)
{
	put_point(c, 'L', x, y, "");
}

void chart_dot(struct chart *c, double x, double y)
{
	put_point(c, 'M', x, y, "h.01");
}

void chart_path_end(struct chart *c)
{
	fputs("\"/>\n", c->out);
}

void chart_box(struct chart *c, const char *class, double x0, double y0, double x1, double y1)
{
	double left = fmin(chart_x(c, x0), chart_x(c, x1));
	double top = fmin(chart_y(c, y0), chart_y(c, y1));
	fprintf(c->out, "<rect class=\"%s\" x=\"%.1f\" y=\"%.1f\" width=\"%.1f\" height=\"%.1f\"/>\n", class, left, top,
		fabs(chart_x(c, x1) - chart_x(c, x0)), fabs(chart_y(c, y1) - chart_y(c, y0)));
}

void chart_note(struct chart *c, enum chart_side side, double x, double y, const char *class, const char *fmt, ...)
{
	va_list args;
	if (c->n_notes == CHART_NOTES_MAX || isnan(x) || isnan(y))
		return;
	struct chart_text *t = &c->notes[c->n_notes++];
	*t = (struct chart_text){.x = chart_x(c, x) * (c->plain_x ? units / c->x.high : 1),
				 .y = chart_y(c, y),
				 .side = side,
				 .class = class};
	va_start(args, fmt);
	vsnprintf(t->text, sizeof t->text, fmt, args);
	va_end(args);
}
