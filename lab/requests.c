#include "requests.h"

#include "units.h"

#include <errno.h>
#include <string.h>

enum { COLUMNS_MAX = 64, FIELD_MAX = 256 };

static const struct column {
	const char *name;
	size_t offset;
	bool demanded;
} columns[] = {
	{"planned_ns", offsetof(struct request, planned_ns), true},
	{"sent_ns", offsetof(struct request, sent_ns), true},
	{"done_ns", offsetof(struct request, done_ns), true},
	{"status", offsetof(struct request, status), true},
	{"first_byte_ns", offsetof(struct request, first_byte_ns), false},
	{"server_arrived_ns", offsetof(struct request, arrived_ns), false},
	{"server_started_ns", offsetof(struct request, started_ns), false},
	{"server_ended_ns", offsetof(struct request, ended_ns), false},
	{"server_queue_ns", offsetof(struct request, queue_ns), false},
	{"server_cpu_ns", offsetof(struct request, cpu_ns), false},
	{"server_runqueue_wait_ns", offsetof(struct request, runqueue_wait_ns), false},
	{"server_wait_ns", offsetof(struct request, wait_ns), false},
	{"server_disk_ns", offsetof(struct request, disk_ns), false},
	{"server_pool_wait_ns", offsetof(struct request, pool_wait_ns), false},
};

/* Which column of the file is which of ours: -1 = none of ours, -2 = the error. */
struct layout {
	int what[COLUMNS_MAX];
	size_t n;
};

bool request_ok(const struct request *r)
{
	return !r->failed && r->done_ns != REQUEST_ABSENT && r->status >= 200 && r->status <= 299;
}

int64_t request_latency_ns(const struct request *r)
{
	return r->done_ns - r->planned_ns;
}

/* One field of RFC 4180 into out (cut when too long); *at moves behind its comma. True while the line goes on. */
static bool next_field(const char **at, char out[FIELD_MAX])
{
	const char *p = *at;
	size_t n = 0;
	bool quoted = *p == '"';
	for (p += quoted; *p && (quoted || (*p != ',' && *p != '\n' && *p != '\r')); p++) {
		if (quoted && *p == '"' && *++p != '"')
			break;
		if (n + 1 < FIELD_MAX)
			out[n++] = *p;
	}
	out[n] = '\0';
	bool more = *p == ',';
	if (!more)
		p += strcspn(p, "\n");
	*at = p + (*p != '\0');
	return more;
}

static int which_column(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		if (strcmp(columns[i].name, name) == 0)
			return (int)i;
	return strcmp(name, "error") == 0 ? -2 : -1;
}

static int read_layout(const char **at, struct layout *l, struct fault *f)
{
	char field[FIELD_MAX];
	bool seen[ARRAY_LEN(columns)] = {false};
	bool more = true;
	l->n = 0;
	while (more) {
		more = next_field(at, field);
		if (l->n == COLUMNS_MAX)
			return fault_set(f, -EINVAL, "more than %d columns", COLUMNS_MAX);
		int what = which_column(field);
		if (what >= 0)
			seen[what] = true;
		l->what[l->n++] = what;
	}
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		if (columns[i].demanded && !seen[i])
			return fault_set(f, -EINVAL, "there is no column %s", columns[i].name);
	return 0;
}

static int take_field(struct request *r, int what, const char *text, struct fault *f)
{
	uint64_t number;
	if (what == -2)
		r->failed = text[0] != '\0';
	if (what < 0 || !text[0])
		return 0;
	int rc = units_parse_u64(text, &number, f);
	if (rc < 0 || number > INT64_MAX)
		return fault_set(f, -EINVAL, "'%.40s' is no number of %s", text, columns[what].name);
	*(int64_t *)(void *)((char *)r + columns[what].offset) = (int64_t)number;
	return 0;
}

static int read_row(const char **at, const struct layout *l, struct request *r, struct fault *f)
{
	char field[FIELD_MAX];
	bool more = true;
	*r = (struct request){.failed = false};
	for (size_t i = 0; i < ARRAY_LEN(columns); i++)
		*(int64_t *)(void *)((char *)r + columns[i].offset) = REQUEST_ABSENT;
	for (size_t i = 0; i < l->n; i++) {
		if (!more)
			return fault_set(f, -EINVAL, "%zu fields instead of %zu", i, l->n);
		more = next_field(at, field);
		int rc = take_field(r, l->what[i], field, f);
		if (rc < 0)
			return rc;
	}
	if (more)
		return fault_set(f, -EINVAL, "more than %zu fields", l->n);
	/* a closed loop has no plan */
	if (r->planned_ns == REQUEST_ABSENT)
		r->planned_ns = r->sent_ns;
	return r->planned_ns == REQUEST_ABSENT ? fault_set(f, -EINVAL, "planned_ns and sent_ns are empty") : 0;
}

static size_t count_lines(const char *text)
{
	size_t n = 0;
	for (; *text; text++)
		n += *text == '\n';
	return n;
}

int requests_parse(const char *csv, struct requests *out, struct fault *f)
{
	struct layout l;
	const char *at = csv;
	*out = (struct requests){.list = calloc(count_lines(csv) + 1, sizeof *out->list)};
	if (!out->list)
		return fault_set(f, ENOMEM, "requests");
	int rc = read_layout(&at, &l, f);
	while (rc == 0 && *at) {
		rc = read_row(&at, &l, &out->list[out->n], f);
		out->n += rc == 0;
	}
	if (rc < 0) {
		rc = fault_prefix(f, rc, "line %zu of the requests", out->n + 2);
		requests_release(out);
	}
	return rc;
}

void requests_release(struct requests *r)
{
	free(r->list);
	*r = REQUESTS_NONE;
}
