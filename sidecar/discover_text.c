#include "discover_text.h"

#include "mounts.h"

#include <ctype.h>
#include <limits.h>
#include <string.h>

/* ---- which container: /proc/PID/cgroup ---- */

/* A path cut at its slashes; empty components are passed over. */
struct components {
	const char *at, *end;
};

static bool next_component(struct components *c, const char **name, size_t *len)
{
	while (c->at < c->end && *c->at == '/')
		c->at++;
	*name = c->at;
	while (c->at < c->end && *c->at != '/')
		c->at++;
	*len = (size_t)(c->at - *name);
	return *len > 0;
}

/* The first one is the container: what stands below it was made inside of it (systemd, crun, Docker in Docker). */
static bool first_id(struct components c, char id[CONTAINER_ID_LEN + 1])
{
	const char *name;
	size_t len;
	while (next_component(&c, &name, &len)) {
		char folder[NAME_MAX + 1];
		if (len < CONTAINER_ID_LEN || len >= sizeof folder)
			continue;
		memcpy(folder, name, len);
		folder[len] = '\0';
		if (hostview_container_id(folder, id))
			return true;
	}
	return false;
}

static bool is_dotdot(const char *name, size_t len)
{
	return len == 2 && memcmp(name, "..", 2) == 0;
}

static void skip_dotdots(struct components *c)
{
	struct components ahead = *c;
	const char *name;
	size_t len;
	while (next_component(&ahead, &name, &len) && is_dotdot(name, len))
		*c = ahead;
}

/* What both paths begin with belongs to what both containers run in (a kind node, for one). */
static void skip_common(struct components *own, struct components *other)
{
	struct components a = *own;
	struct components b = *other;
	const char *name_a;
	const char *name_b;
	size_t len_a;
	size_t len_b;
	while (next_component(&a, &name_a, &len_a) && next_component(&b, &name_b, &len_b) && len_a == len_b &&
	       memcmp(name_a, name_b, len_a) == 0) {
		*own = a;
		*other = b;
	}
}

static const char *line_start(const char *text, const char *at)
{
	while (at > text && at[-1] != '\n')
		at--;
	return at;
}

/* The line of the same hierarchy, which is named by all that stands before the path. */
static bool find_own_line(const char *own_text, const char *text, const struct cgroup_line *line,
			  struct cgroup_line *own)
{
	const char *start = line_start(text, line->path);
	ptrdiff_t len = line->path - start;
	const char *at = own_text;
	while (mounts_next_cgroup_line(&at, own)) {
		const char *own_start = line_start(own_text, own->path);
		if (own->path - own_start == len && memcmp(own_start, start, (size_t)len) == 0)
			return true;
	}
	return false;
}

static struct components path_of(const struct cgroup_line *line)
{
	return (struct components){line->path, line->path + line->path_len};
}

static bool container_of_line(const struct cgroup_line *own_line, const struct cgroup_line *line,
			      char id[CONTAINER_ID_LEN + 1], bool *relative)
{
	char own_id[CONTAINER_ID_LEN + 1];
	struct components c = path_of(line);
	struct components own = path_of(own_line);
	struct components rest = c;
	skip_dotdots(&rest);
	if (rest.at != c.at) {
		*relative = true;
		return first_id(rest, id);
	}
	/* on a bare host the containers are no neighbours of ours */
	if (!first_id(own, own_id))
		return false;
	skip_common(&own, &c);
	return first_id(c, id);
}

bool discovery_has_id(const char *own_text)
{
	char id[CONTAINER_ID_LEN + 1];
	struct cgroup_line line;
	while (mounts_next_cgroup_line(&own_text, &line))
		if (first_id(path_of(&line), id))
			return true;
	return false;
}

/* Most lines of most processes are about nobody: they are told apart before anything is compared. */
static bool may_be_of_a_neighbour(const struct cgroup_line *line)
{
	return !line->deleted && (line->path_len > CONTAINER_ID_LEN || strncmp(line->path, "/..", 3) == 0);
}

bool discovery_container_of(const char *own_text, const char *text, char id[CONTAINER_ID_LEN + 1], bool *relative)
{
	const char *at = text;
	struct cgroup_line line;
	while (mounts_next_cgroup_line(&at, &line)) {
		struct cgroup_line own;
		if (may_be_of_a_neighbour(&line) && find_own_line(own_text, text, &line, &own) &&
		    container_of_line(&own, &line, id, relative))
			return true;
	}
	return false;
}

/* ---- its name: /proc/PID/mountinfo ---- */

/* What stands between two slashes, if it holds nothing but letters, digits and '-' and fits. Returns what is behind the
 * second slash, or NULL. */
static const char *take_word(const char *p, const char *end, char *out, size_t size)
{
	size_t len = 0;
	while (p + len < end && (isalnum((unsigned char)p[len]) || p[len] == '-'))
		len++;
	if (len == 0 || len >= size || p + len >= end || p[len] != '/')
		return NULL;
	memcpy(out, p, len);
	out[len] = '\0';
	return p + len + 1;
}

static const char *skip_prefix(const char *p, const char *end, const char *prefix)
{
	size_t len = strlen(prefix);
	return (size_t)(end - p) >= len && memcmp(p, prefix, len) == 0 ? p + len : NULL;
}

static bool is_8_hex(const char *p, const char *end)
{
	size_t len = 0;
	while (p + len < end && isxdigit((unsigned char)p[len]))
		len++;
	return len == 8 && p + len == end;
}

/* "<pod uid>/containers/<name>/<8 hex>" or "<pod uid>/etc-hosts". No other folder of the pod will do: the host's own
 * table of mounts, which a container has while it is being set up, is full of other pods' volumes. */
static bool read_pod_path(const char *p, const char *end, char uid[POD_UID_SIZE], char name[NEIGHBOUR_NAME_SIZE])
{
	name[0] = '\0';
	p = take_word(p, end, uid, POD_UID_SIZE);
	if (!p)
		return false;
	const char *hosts = skip_prefix(p, end, "etc-hosts");
	if (hosts && hosts == end)
		return true;
	p = skip_prefix(p, end, "containers/");
	p = p ? take_word(p, end, name, NEIGHBOUR_NAME_SIZE) : NULL;
	return p && is_8_hex(p, end);
}

/* The fourth field: the path of what is mounted, in its own file system. */
static const char *root_field(const char *line, const char *end, size_t *len)
{
	for (int i = 0; i < 3; i++) {
		line = memchr(line, ' ', (size_t)(end - line));
		if (!line)
			return NULL;
		line++;
	}
	const char *blank = memchr(line, ' ', (size_t)(end - line));
	*len = blank ? (size_t)(blank - line) : 0;
	return blank ? line : NULL;
}

bool discovery_read_mount(const char *line, size_t len, char pod_uid[POD_UID_SIZE], char name[NEIGHBOUR_NAME_SIZE])
{
	static const char pods[] = "/pods/";
	const char *p = root_field(line, line + len, &len);
	const char *end = p ? p + len : NULL;
	while (p && (p = memmem(p, (size_t)(end - p), pods, sizeof pods - 1))) {
		char uid[POD_UID_SIZE];
		char found[NEIGHBOUR_NAME_SIZE];
		p += sizeof pods - 1;
		if (!read_pod_path(p, end, uid, found))
			continue;
		if (!pod_uid[0])
			memcpy(pod_uid, uid, sizeof uid);
		if (!name[0])
			memcpy(name, found, sizeof found);
		return found[0] != '\0';
	}
	return false;
}
