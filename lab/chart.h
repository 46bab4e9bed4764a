/* chart.h - the frame of a picture: a plot area in SVG that stretches to any width, with its axes and labels as text
 * beside it, which never scales.
 *
 *     struct chart c = {.out = out, .x = {...}, .y = {...}, .height_px = 200, .label = "..."};
 *     chart_begin(&c);
 *     chart_path(&c, "line burst"); chart_to(&c, x, y); ... chart_path_end(&c);
 *     chart_note(&c, x, y, "burst", "p99 %.1f ms", p99_ms);
 *     chart_end(&c);
 *
 * Strokes keep their width while the plot area is stretched. A dot is a very short line with round ends, which is
 * why it stays round. The picture is one image with a label for screen readers; its figures belong into a table
 * beside it (page_html.h). Classes are names of page.css.
 */
#ifndef HEADROOM_LAB_CHART_H
#define HEADROOM_LAB_CHART_H

#include "base.h"

enum { CHART_NAMES_MAX = 16, CHART_NOTES_MAX = 64, CHART_NOTE_SIZE = 96 };

struct chart_axis {
	const char *title; /* with the unit; NULL = none */
	double low, high;  /* values at its ends; low > high turns it round */
	bool log, bare;    /* bare: no numbers (those of the chart below count for both) */
	/* names at their places instead of numbers */
	struct chart_name {
		double at;
		char text[CHART_NOTE_SIZE];
	} names[CHART_NAMES_MAX];
	size_t n_names;
	bool names_are_wide; /* categories rather than numbers */
};

enum chart_side { CHART_RIGHT, CHART_LEFT, CHART_ABOVE, CHART_MIDDLE, CHART_BESIDE_PLOT };

struct chart {
	FILE *out;
	struct chart_axis x, y;
	unsigned height_px;
	bool plain_x;      /* coordinates are the values themselves, which the script needs to zoom; low must be 0 */
	const char *label; /* what is to be seen, in words */
	const char *class; /* of the frame, or NULL */
	/* written at the end */
	struct chart_text {
		double x, y; /* coordinates, 0 to 1000 */
		enum chart_side side;
		const char *class;
		char text[CHART_NOTE_SIZE];
	} notes[CHART_NOTES_MAX];
	size_t n_notes;
};

void chart_name(struct chart_axis *a, double at, const char *fmt, ...) PRINTF_LIKE(3, 4);

void chart_begin(struct chart *c);
void chart_end(struct chart *c);

/* Values to coordinates; beyond an axis they are held at its end. */
double chart_x(const struct chart *c, double value);
double chart_y(const struct chart *c, double value);

/* A path: its points may begin with a move (chart_from) or are dots. NAN points are left out. */
void chart_path(struct chart *c, const char *class);
void chart_from(struct chart *c, double x, double y);
void chart_to(struct chart *c, double x, double y);
void chart_dot(struct chart *c, double x, double y);
void chart_path_end(struct chart *c);

/* Between two values on each axis, filled. */
void chart_box(struct chart *c, const char *class, double x0, double y0, double x1, double y1);

/* Text at a place of the plot area; CHART_BESIDE_PLOT: at the right of it, at the height of y, kept apart from others.
 */
void chart_note(struct chart *c, enum chart_side side, double x, double y, const char *class, const char *fmt, ...)
	PRINTF_LIKE(6, 7);

/* The next larger round number: 1, 2, 2.5 or 5 times a power of ten. Of 0 or less: 1. */
double chart_round_up(double value);

#endif
