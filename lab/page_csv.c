#include "page_csv.h"

#include "files.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* Ends one field in place, without its quotes. Returns what stood behind it (',', '\n' or NUL); *at moves there. */
static char end_field(char **at, const char **field)
{
	char *p = *at;
	char *to = p;
	bool quoted = *p == '"';
	*field = p;
	for (p += quoted; *p && (quoted || (*p != ',' && *p != '\n')); p++) {
		if (quoted && *p == '"' && *++p != '"')
			break;
		*to++ = *p;
	}
	if (*p == '\r')
		p++;
	char behind = *p;
	*at = behind ? p + 1 : p;
	if (to > *field && to[-1] == '\r')
		to--;
	*to = '\0';
	return behind;
}

static int read_line(struct csv_file *c, char **at, size_t *used, struct fault *f)
{
	size_t first = *used;
	char behind;
	do {
		behind = end_field(at, &c->fields[(*used)++]);
	} while (behind == ',');
	size_t n = *used - first;
	size_t line = c->n_rows + (c->n_columns ? 2 : 1);
	if (behind != '\n')
		return fault_set(f, -EINVAL, "%s: line %zu has no end: the file was cut", c->path, line);
	if (c->n_columns && n != c->n_columns)
		return fault_set(f, -EINVAL, "%s: line %zu has %zu fields, its head %zu: the file was cut or changed",
				 c->path, line, n, c->n_columns);
	if (c->n_columns)
		c->n_rows++;
	else
		c->n_columns = n;
	return 0;
}

/* Every field ends with a comma or a newline, or with the file. */
static size_t count_fields(const char *text)
{
	size_t n = 1;
	for (; *text; text++)
		n += *text == ',' || *text == '\n';
	return n;
}

static int divide(struct csv_file *c, struct fault *f)
{
	size_t used = 0;
	int rc = 0;
	c->fields = calloc(count_fields(c->text), sizeof *c->fields);
	if (!c->fields)
		return fault_set(f, ENOMEM, "%s", c->path);
	if (!*c->text)
		return fault_set(f, -EINVAL, "%s is empty", c->path);
	for (char *at = c->text; rc == 0 && *at;)
		rc = read_line(c, &at, &used, f);
	return rc;
}

int csv_file_load(struct csv_file *c, const char *folder, const char *name, struct fault *f)
{
	*c = CSV_FILE_NONE;
	if (asprintf(&c->path, "%s/%s", folder, name) < 0) {
		c->path = NULL;
		return fault_set(f, ENOMEM, "%s", name);
	}
	int rc = file_load(c->path, &c->text, f);
	if (rc == 0)
		rc = divide(c, f);
	if (rc < 0)
		csv_file_release(c);
	return rc;
}

void csv_file_release(struct csv_file *c)
{
	free(c->path);
	free(c->text);
	free(c->fields);
	*c = CSV_FILE_NONE;
}

int csv_file_column(const struct csv_file *c, const char *name, struct fault *f)
{
	for (size_t i = 0; i < c->n_columns; i++)
		if (strcmp(c->fields[i], name) == 0)
			return (int)i;
	return fault_set(f, -EINVAL, "%s has no column %s: it is no file of this kind, or of another version", c->path,
			 name);
}

const char *csv_file_text(const struct csv_file *c, size_t row, int column)
{
	return column < 0 ? "" : c->fields[(row + 1) * c->n_columns + (size_t)column];
}

int csv_file_real(const struct csv_file *c, size_t row, int column, double *out, struct fault *f)
{
	const char *text = csv_file_text(c, row, column);
	char *end;
	*out = (double)NAN;
	if (!*text)
		return 0;
	double value = strtod(text, &end);
	if (*end || !isfinite(value))
		return fault_set(f, -EINVAL, "%s: line %zu: '%.40s' is no number of %s", c->path, row + 2, text,
				 c->fields[column]);
	*out = value;
	return 0;
}
