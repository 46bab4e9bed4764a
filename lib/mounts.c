#include "mounts.h"

#include <errno.h>
#include <string.h>

static bool is_word(const char *word, size_t len, const char *expected)
{
	return strlen(expected) == len && memcmp(word, expected, len) == 0;
}

static bool is_same(const char *a, size_t a_len, const char *b, size_t b_len)
{
	return a_len == b_len && memcmp(a, b, a_len) == 0;
}

unsigned mounts_controllers(const char *list, size_t len)
{
	/* every resource controller there is or was; "rw", "xattr", "name=systemd" are none */
	static const struct {
		const char *name;
		enum controller bit;
	} known[] = {
		{"cpu", CONTROLLER_CPU},       {"cpuacct", CONTROLLER_CPUACCT}, {"cpuset", CONTROLLER_CPUSET},
		{"memory", CONTROLLER_OTHER},  {"blkio", CONTROLLER_OTHER},     {"io", CONTROLLER_OTHER},
		{"pids", CONTROLLER_OTHER},    {"devices", CONTROLLER_OTHER},   {"freezer", CONTROLLER_OTHER},
		{"net_cls", CONTROLLER_OTHER}, {"net_prio", CONTROLLER_OTHER},  {"perf_event", CONTROLLER_OTHER},
		{"hugetlb", CONTROLLER_OTHER}, {"rdma", CONTROLLER_OTHER},      {"misc", CONTROLLER_OTHER},
	};
	unsigned set = 0;
	for (const char *end = list + len; list < end;) {
		size_t word = 0;
		while (list + word < end && list[word] != ',')
			word++;
		for (size_t i = 0; i < ARRAY_LEN(known); i++)
			if (is_word(list, word, known[i].name))
				set |= known[i].bit;
		list += word + 1;
	}
	return set;
}

static bool parse_cgroup_line(const char *line, size_t len, struct cgroup_line *out)
{
	static const char gone[] = " (deleted)";
	const size_t gone_len = sizeof gone - 1;
	const char *end = line + len;
	const char *first = memchr(line, ':', len);
	const char *second = first ? memchr(first + 1, ':', (size_t)(end - first - 1)) : NULL;
	if (!second || first == line || second + 1 == end || second[1] != '/')
		return false;
	for (const char *p = line; p < first; p++)
		if (*p < '0' || *p > '9')
			return false;
	out->is_v2 = is_word(line, (size_t)(first - line), "0") && second == first + 1;
	out->controllers = mounts_controllers(first + 1, (size_t)(second - first - 1));
	out->path = second + 1;
	out->path_len = (size_t)(end - out->path);
	out->deleted = out->path_len > gone_len && memcmp(end - gone_len, gone, gone_len) == 0;
	if (out->deleted)
		out->path_len -= gone_len;
	return true;
}

bool mounts_next_cgroup_line(const char **text, struct cgroup_line *out)
{
	while (**text) {
		const char *line = *text;
		size_t len = strcspn(line, "\n");
		*text = line + len + (line[len] == '\n');
		if (parse_cgroup_line(line, len, out))
			return true;
	}
	return false;
}

/* A copy of a field with \040 and the like turned back. */
static char *unescape(const char *field, size_t len)
{
	char *out = malloc(len + 1);
	char *w = out;
	for (size_t i = 0; out && i < len; i++) {
		bool octal = field[i] == '\\' && i + 3 < len && field[i + 1] >= '0' && field[i + 1] <= '3';
		for (size_t k = 2; octal && k <= 3; k++)
			octal = field[i + k] >= '0' && field[i + k] <= '7';
		if (octal) {
			*w++ = (char)((field[i + 1] - '0') * 64 + (field[i + 2] - '0') * 8 + (field[i + 3] - '0'));
			i += 3;
		} else {
			*w++ = field[i];
		}
	}
	if (out)
		*w = '\0';
	return out;
}

/* One line cut at its single blanks. */
struct mount_fields {
	const char *id, *parent, *root, *point, *type, *options;
	size_t id_len, parent_len, root_len, point_len, type_len, options_len;
};

static const char *take_field(const char *p, const char *end, const char **field, size_t *len)
{
	const char *stop = p;
	while (stop < end && *stop != ' ')
		stop++;
	*field = p;
	*len = (size_t)(stop - p);
	return stop < end ? stop + 1 : end;
}

static bool split_mount_line(const char *line, size_t len, struct mount_fields *m)
{
	const char *end = line + len;
	const char *skipped;
	size_t skipped_len;
	const char *p = take_field(line, end, &m->id, &m->id_len);
	p = take_field(p, end, &m->parent, &m->parent_len);
	p = take_field(p, end, &skipped, &skipped_len);
	p = take_field(p, end, &m->root, &m->root_len);
	p = take_field(p, end, &m->point, &m->point_len);
	p = take_field(p, end, &skipped, &skipped_len); /* mount options */
	/* optional fields, up to the separator: a field of its own that is exactly "-" */
	do {
		if (p >= end)
			return false;
		p = take_field(p, end, &skipped, &skipped_len);
	} while (!is_word(skipped, skipped_len, "-"));
	p = take_field(p, end, &m->type, &m->type_len);
	p = take_field(p, end, &skipped, &skipped_len); /* source: may say anything */
	take_field(p, end, &m->options, &m->options_len);
	return m->root_len > 0 && m->root[0] == '/' && m->point_len > 0 && m->point[0] == '/' && m->type_len > 0;
}

/* ---- which mounts are hidden by others
 * ------------------------------------------------------------------------------- */

/* The well-formed lines of a table of mounts, and two orders of them: a hostile table of 16 MB must not cost the square
 * of its lines. */
struct mount_table {
	struct mount_fields *lines;
	size_t n;
	const struct mount_fields **by_id;    /* equal ones in the order of their lines */
	const struct mount_fields **by_point; /* likewise */
};

static void release_table(struct mount_table *t)
{
	free(t->lines);
	free(t->by_id);
	free(t->by_point);
	*t = (struct mount_table){0};
}

static int compare_words(const char *a, size_t a_len, const char *b, size_t b_len)
{
	int order = memcmp(a, b, a_len < b_len ? a_len : b_len);
	return order ? order : (a_len > b_len) - (a_len < b_len);
}

static int compare_ids(const void *a, const void *b)
{
	const struct mount_fields *x = *(const struct mount_fields *const *)a;
	const struct mount_fields *y = *(const struct mount_fields *const *)b;
	int order = compare_words(x->id, x->id_len, y->id, y->id_len);
	return order ? order : (x > y) - (x < y);
}

static int compare_points(const void *a, const void *b)
{
	const struct mount_fields *x = *(const struct mount_fields *const *)a;
	const struct mount_fields *y = *(const struct mount_fields *const *)b;
	int order = compare_words(x->point, x->point_len, y->point, y->point_len);
	return order ? order : (x > y) - (x < y);
}

static int make_table(struct mount_table *t, const char *text)
{
	size_t lines = 1;
	for (const char *p = text; (p = strchr(p, '\n')); p++)
		lines++;
	*t = (struct mount_table){
		.lines = calloc(lines, sizeof *t->lines),
		.by_id = calloc(lines, sizeof *t->by_id),
		.by_point = calloc(lines, sizeof *t->by_point),
	};
	if (!t->lines || !t->by_id || !t->by_point)
		return -ENOMEM;
	while (*text) {
		size_t len = strcspn(text, "\n");
		if (split_mount_line(text, len, &t->lines[t->n]))
			t->n++;
		text += len + (text[len] == '\n');
	}
	for (size_t i = 0; i < t->n; i++)
		t->by_id[i] = t->by_point[i] = &t->lines[i];
	qsort(t->by_id, t->n, sizeof(void *), compare_ids);
	qsort(t->by_point, t->n, sizeof(void *), compare_points);
	return 0;
}

/* The first mount with this id, or NULL. */
static const struct mount_fields *find_id(const struct mount_table *t, const char *id, size_t len)
{
	size_t low = 0;
	size_t high = t->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare_words(t->by_id[middle]->id, t->by_id[middle]->id_len, id, len) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low < t->n && t->by_id[low]->id_len == len && memcmp(t->by_id[low]->id, id, len) == 0 ? t->by_id[low]
												     : NULL;
}

/* How many of by_point are not behind this point. */
static size_t end_of_point(const struct mount_table *t, const char *point, size_t len)
{
	size_t low = 0;
	size_t high = t->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (compare_words(t->by_point[middle]->point, t->by_point[middle]->point_len, point, len) <= 0)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* Parents can stand behind their children: the root often does. */
static bool is_mounted_on(const struct mount_table *t, const struct mount_fields *m, const struct mount_fields *above)
{
	enum { DEPTH_MAX = 64 };
	for (int depth = 0; m && depth < DEPTH_MAX; depth++) {
		if (is_same(m->parent, m->parent_len, above->id, above->id_len))
			return true;
		m = find_id(t, m->parent, m->parent_len);
	}
	return false;
}

/* Is one of the later mounts at the first `len` bytes of m's point something else than what m is mounted on? */
static bool is_hidden_at(const struct mount_table *t, const struct mount_fields *m, size_t len)
{
	for (size_t i = end_of_point(t, m->point, len); i > 0; i--) {
		const struct mount_fields *later = t->by_point[i - 1];
		if (later <= m || !is_same(later->point, later->point_len, m->point, len))
			return false;
		if (!is_mounted_on(t, m, later))
			return true;
	}
	return false;
}

/* A later mount at or above the same point hides this one, unless it is what this one is mounted on. */
static bool is_hidden(const struct mount_table *t, const struct mount_fields *m)
{
	if (is_hidden_at(t, m, 1) || is_hidden_at(t, m, m->point_len))
		return true;
	for (size_t len = 2; len < m->point_len; len++)
		if (m->point[len] == '/' && is_hidden_at(t, m, len))
			return true;
	return false;
}

static int add_mount(struct cgroup_mounts *all, const struct mount_fields *m)
{
	/* full whenever the number is a power of two: the room doubles */
	if ((all->n & (all->n - 1)) == 0) {
		struct cgroup_mount *list = realloc(all->list, (all->n ? 2 * all->n : 1) * sizeof *list);
		if (!list)
			return -ENOMEM;
		all->list = list;
	}
	struct cgroup_mount *entry = &all->list[all->n];
	*entry = (struct cgroup_mount){
		.is_v2 = m->type_len == 7,
		.controllers = m->type_len == 7 ? 0 : mounts_controllers(m->options, m->options_len),
		.root = unescape(m->root, m->root_len),
		.point = unescape(m->point, m->point_len),
	};
	all->n++;
	return entry->root && entry->point ? 0 : -ENOMEM;
}

int mounts_parse(const char *mountinfo, struct cgroup_mounts *out, struct fault *f)
{
	struct cgroup_mounts all = {0};
	struct mount_table t;
	int rc = make_table(&t, mountinfo);
	for (size_t i = 0; rc == 0 && i < t.n; i++) {
		const struct mount_fields *m = &t.lines[i];
		bool wanted = is_word(m->type, m->type_len, "cgroup") || is_word(m->type, m->type_len, "cgroup2");
		if (wanted && !is_hidden(&t, m))
			rc = add_mount(&all, m);
	}
	release_table(&t);
	if (rc < 0) {
		mounts_release(&all);
		return fault_set(f, ENOMEM, "cannot keep the list of mounts");
	}
	*out = all;
	return 0;
}

void mounts_release(struct cgroup_mounts *m)
{
	for (size_t i = 0; i < m->n; i++) {
		free(m->list[i].root);
		free(m->list[i].point);
	}
	free(m->list);
	*m = (struct cgroup_mounts){0};
}

static bool has_dotdot(const char *path)
{
	for (const char *p = path; (p = strstr(p, "/..")); p += 3)
		if (p[3] == '/' || p[3] == '\0')
			return true;
	return false;
}

const char *mounts_below(const char *root, const char *path)
{
	size_t root_len = strcmp(root, "/") == 0 ? 0 : strlen(root);
	if (strncmp(path, root, root_len) != 0 || (path[root_len] != '/' && path[root_len] != '\0'))
		return NULL;
	const char *rest = path + root_len;
	if (has_dotdot(rest))
		return NULL;
	return strcmp(rest, "/") == 0 ? "" : rest;
}
