#include "tables.h"

#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <string.h>

static const char bold[] = "\033[1m";
static const char plain[] = "\033[0m";

void table_init(struct table *t, const struct table_column *columns, size_t n)
{
	*t = (struct table){.columns = columns, .n_columns = n};
}

void table_cell(struct table *t, const char *fmt, ...)
{
	va_list args;
	if (t->filled == t->room && t->n_columns) {
		size_t room = t->room ? 2 * t->room : 8 * t->n_columns;
		char(*cells)[TABLE_CELL_MAX] = reallocarray(t->cells, room, sizeof *cells);
		if (!cells) {
			t->n_columns = 0;
			return;
		}
		t->cells = cells;
		t->room = room;
	}
	if (!t->n_columns)
		return;
	va_start(args, fmt);
	vsnprintf(t->cells[t->filled++], TABLE_CELL_MAX, fmt, args);
	va_end(args);
	t->n_rows = t->filled / t->n_columns;
}

void table_number(struct table *t, double value, int decimals, const char *unit)
{
	if (isnan(value))
		table_cell(t, "-");
	else
		table_cell(t, "%.*f%s", decimals, value, unit);
}

static size_t longer(size_t a, size_t b)
{
	return a > b ? a : b;
}

static bool same_group(const struct table *t, size_t a, size_t b)
{
	const char *x = t->columns[a].group;
	const char *y = t->columns[b].group;
	return x && y && *x && strcmp(x, y) == 0;
}

/* One past the last column of the group that begins at c. */
static size_t group_end(const struct table *t, size_t c)
{
	size_t end = c + 1;
	while (end < t->n_columns && same_group(t, c, end))
		end++;
	return end;
}

enum { GAP = 2 };

static void measure(const struct table *t, size_t width[TABLE_COLUMNS_MAX])
{
	for (size_t c = 0; c < t->n_columns; c++) {
		width[c] = strlen(t->columns[c].head);
		for (size_t r = 0; r < t->n_rows; r++)
			width[c] = longer(width[c], strlen(t->cells[r * t->n_columns + c]));
	}
	for (size_t c = 0, end; c < t->n_columns; c = end) {
		size_t have = 0;
		end = group_end(t, c);
		for (size_t k = c; k < end; k++)
			have += width[k] + (k > c ? GAP : 0);
		size_t need = t->columns[c].group ? strlen(t->columns[c].group) : 0;
		if (need > have)
			width[end - 1] += need - have;
	}
}

static void put(FILE *out, const char *text, size_t width, bool left, bool last)
{
	if (left && last)
		fputs(text, out);
	else
		fprintf(out, "%*s", left ? -(int)width : (int)width, text);
	fprintf(out, "%*s", last ? 0 : GAP, "");
}

/* Groups over more than one column are ruled, so that one sees what belongs together. */
static void write_groups(const struct table *t, FILE *out, const size_t *width)
{
	size_t blanks = 0;
	for (size_t c = 0, end; c < t->n_columns; c = end) {
		size_t span = 0;
		const char *text = t->columns[c].group ? t->columns[c].group : "";
		size_t len = strlen(text);
		end = group_end(t, c);
		for (size_t k = c; k < end; k++)
			span += width[k] + (k > c ? GAP : 0);
		if (len) {
			fprintf(out, "%*s%s", (int)blanks, "", text);
			for (size_t i = len; i < span; i++)
				fputc(i == len ? ' ' : '-', out);
			blanks = 0;
		}
		blanks += (len ? 0 : span) + GAP;
	}
	fputc('\n', out);
}

static bool has_groups(const struct table *t)
{
	for (size_t c = 0; c < t->n_columns; c++)
		if (t->columns[c].group && *t->columns[c].group)
			return true;
	return false;
}

int table_write(const struct table *t, FILE *out, bool color)
{
	size_t width[TABLE_COLUMNS_MAX] = {0};
	if (!t->n_columns)
		return -ENOMEM;
	measure(t, width);
	fputs(color ? bold : "", out);
	if (has_groups(t))
		write_groups(t, out, width);
	for (size_t c = 0; c < t->n_columns; c++)
		put(out, t->columns[c].head, width[c], t->columns[c].left, c + 1 == t->n_columns);
	fputs(color ? plain : "", out);
	fputc('\n', out);
	for (size_t i = 0; i < t->n_rows * t->n_columns; i++) {
		size_t c = i % t->n_columns;
		put(out, t->cells[i], width[c], t->columns[c].left, c + 1 == t->n_columns);
		if (c + 1 == t->n_columns)
			fputc('\n', out);
	}
	fputc('\n', out);
	return 0;
}

void table_release(struct table *t)
{
	free(t->cells);
	*t = (struct table){.columns = NULL};
}

bool tables_use_color(FILE *out)
{
	const char *no_color = getenv("NO_COLOR");
	const char *term = getenv("TERM");
	return isatty(fileno(out)) && !(no_color && *no_color) && term && *term && strcmp(term, "dumb") != 0;
}

void tables_wrap(FILE *out, const char *label, const char *text, size_t indent, size_t width)
{
	size_t column = indent;
	fprintf(out, "%-*s", (int)indent, label);
	while (*text) {
		size_t word = strcspn(text, " ");
		if (column > indent && column + 1 + word > width) {
			fprintf(out, "\n%*s", (int)indent, "");
			column = indent;
		}
		column += (size_t)fprintf(out, "%s%.*s", column > indent ? " " : "", (int)word, text);
		text += word;
		text += strspn(text, " ");
	}
	fputc('\n', out);
}

void tables_style(FILE *out, const char *style, bool color)
{
	if (color)
		fputs(style, out);
}
