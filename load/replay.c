#include "replay.h"

#include "jsonl.h"
#include "when.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

void replay_free(struct replay *r)
{
	free(r->at_ns);
	free(r->whole_second);
	*r = (struct replay){0};
}

/* The unit of an epoch number is told by its size: 10^11 s would be the year 5138. */
static int from_number(double value, int64_t *at_ns)
{
	static const struct {
		double above, ns;
	} units[] = {{1e17, 1}, {1e14, 1e3}, {1e11, 1e6}, {0, 1e9}};
	if (!(value >= 0))
		return -EINVAL;
	for (size_t i = 0; i < ARRAY_LEN(units); i++) {
		if (value >= units[i].above) {
			double ns = value * units[i].ns;
			if (ns > 7.2e18)
				return -EINVAL;
			*at_ns = llround(ns);
			return 0;
		}
	}
	return -EINVAL;
}

static int from_json_value(const json_value *v, int64_t *at_ns)
{
	double number;
	const char *text = json_as_text(v);
	if (text)
		return when_parse(text, at_ns, NULL);
	return json_as_real(v, &number) ? from_number(number, at_ns) : -EINVAL;
}

static int from_json_line(const char *line, size_t len, const char *time_field, int64_t *at_ns)
{
	static const char *const usual[] = {"time", "timestamp", "ts", "@timestamp"};
	CLEANUP_JSON json_value *object = json_parse(line, len, NULL);
	if (!object)
		return -EINVAL;
	if (time_field)
		return from_json_value(json_get(object, time_field), at_ns);
	for (size_t i = 0; i < ARRAY_LEN(usual); i++)
		if (json_get(object, usual[i]))
			return from_json_value(json_get(object, usual[i]), at_ns);
	return -EINVAL;
}

/* host ident user [day/month/year:h:m:s zone] "request" ...: the first bracket that holds a time, since a user name may
 * hold brackets as well. */
static int from_access_log(const char *line, size_t len, int64_t *at_ns)
{
	const char *end = line + len;
	for (const char *open = memchr(line, '[', len); open; open = memchr(open + 1, '[', (size_t)(end - open - 1))) {
		const char *close = memchr(open, ']', (size_t)(end - open));
		if (close && when_parse_clf(open + 1, (size_t)(close - open - 1), at_ns) == 0)
			return 0;
	}
	return -EINVAL;
}

static size_t first_column(const char *line, size_t len)
{
	size_t n = 0;
	while (n < len && !strchr(",; \t", line[n]))
		n++;
	return n;
}

int replay_parse_line(const char *line, size_t len, const struct replay_config *config, int64_t *at_ns,
		      bool *whole_second)
{
	*whole_second = false;
	while (len > 0 && isspace((unsigned char)*line)) {
		line++;
		len--;
	}
	while (len > 0 && isspace((unsigned char)line[len - 1]))
		len--;
	if (len == 0 || memchr(line, '\0', len))
		return -EINVAL;
	if (*line == '{')
		return from_json_line(line, len, config->time_field, at_ns);
	if (when_parse_seconds(line, first_column(line, len), at_ns) == 0)
		return 0;
	*whole_second = true;
	return from_access_log(line, len, at_ns);
}

static int add(struct replay *r, int64_t at_ns, bool whole_second)
{
	if (r->n == r->room) {
		size_t room = r->room ? r->room * 2 : 1024;
		int64_t *times = realloc(r->at_ns, room * sizeof *times);
		if (!times)
			return -ENOMEM;
		r->at_ns = times;
		bool *flags = realloc(r->whole_second, room * sizeof *flags);
		if (!flags)
			return -ENOMEM;
		r->whole_second = flags;
		r->room = room;
	}
	r->at_ns[r->n] = at_ns;
	r->whole_second[r->n++] = whole_second;
	return 0;
}

static bool is_silent(const struct replay *r, const char *line, size_t len)
{
	size_t blank = 0;
	while (blank < len && isspace((unsigned char)line[blank]))
		blank++;
	if (blank == len || line[blank] == '#')
		return true;
	/* the head of a CSV: words in the very first line */
	return r->n == 0 && r->skipped == 0 && (isalpha((unsigned char)line[blank]) || line[blank] == '"') &&
	       !memchr(line, '[', len);
}

int replay_add_line(struct replay *r, const char *line, size_t len, const struct replay_config *config)
{
	int64_t at_ns;
	bool whole_second;
	if (replay_parse_line(line, len, config, &at_ns, &whole_second) == 0)
		return add(r, at_ns, whole_second);
	if (!is_silent(r, line, len))
		r->skipped++;
	return 0;
}

static int compare_times(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

/* Number j of the k requests of a second is put at j / k of it. Ascending before and after. */
static void spread_seconds(int64_t *at_ns, size_t n)
{
	for (size_t i = 0; i < n;) {
		size_t k = 1;
		while (i + k < n && at_ns[i + k] == at_ns[i])
			k++;
		for (size_t j = 1; j < k; j++)
			at_ns[i + j] += (int64_t)((double)j * 1e9 / (double)k);
		i += k;
	}
}

int replay_finish(struct replay *r, const struct replay_config *config, struct fault *f)
{
	bool whole = r->n > 0;
	if (r->n == 0 || r->skipped > r->n)
		return fault_set(
			f, -EINVAL,
			"%llu lines give a time and %llu do not: expected a column of seconds, an access log, or JSON lines with a time",
			(unsigned long long)r->n, (unsigned long long)r->skipped);
	qsort(r->at_ns, r->n, sizeof *r->at_ns, compare_times);
	for (size_t i = 0; i < r->n; i++)
		whole = whole && r->whole_second[i];
	if (whole && !config->together)
		spread_seconds(r->at_ns, r->n);
	return 0;
}

int replay_read(struct replay *r, const char *path, const struct replay_config *config, struct fault *f)
{
	bool from_stdin = strcmp(path, "-") == 0;
	CLEANUP_FREE char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int rc = 0;
	FILE *in = from_stdin ? stdin : fopen(path, "re");
	if (!in)
		return fault_set(f, errno, "cannot open %s", path);
	errno = 0;
	while (rc == 0 && (len = getline(&line, &room, in)) >= 0)
		rc = replay_add_line(r, line, (size_t)len, config);
	if (rc == 0 && ferror(in))
		rc = -(errno ? errno : EIO);
	if (!from_stdin)
		fclose(in);
	if (rc < 0)
		return fault_set(f, -rc, "cannot read %s", path);
	rc = replay_finish(r, config, f);
	return rc < 0 ? fault_prefix(f, rc, "%s", path) : 0;
}
