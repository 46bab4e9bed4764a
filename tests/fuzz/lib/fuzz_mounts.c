/* fuzz_mounts.c - /proc/PID/cgroup and /proc/PID/mountinfo, and how their paths fit together.
 * seeds: mountinfo cgroup
 */
#include "../fuzz.h"
#include "mounts.h"

static bool has_parent_component(const char *path)
{
	for (const char *p = path; *p; p++)
		if (strncmp(p, "/..", 3) == 0 && (p[3] == '/' || p[3] == '\0'))
			return true;
	return false;
}

/* What is below is the end of the path, begins at a component, and never goes up. */
static void check_below(const char *root, const char *path)
{
	const char *below = mounts_below(root, path);
	if (!below)
		return;
	FUZZ_HOLDS(below[0] == '\0' || (below >= path && below <= path + strlen(path)));
	FUZZ_HOLDS(below[0] == '\0' || below[0] == '/');
	FUZZ_HOLDS(!has_parent_component(below));
	FUZZ_HOLDS(strcmp(root, "/") == 0 || strncmp(path, root, strlen(root)) == 0);
}

static size_t check_lines(const char *text, const struct cgroup_mounts *mounts)
{
	const char *at = text;
	const char *end = text + strlen(text);
	struct cgroup_line line;
	size_t n = 0;
	while (mounts_next_cgroup_line(&at, &line)) {
		n++;
		FUZZ_HOLDS(line.path > text && line.path + line.path_len <= end && line.path_len > 0);
		FUZZ_HOLDS(line.path[0] == '/' && !memchr(line.path, '\n', line.path_len));
		FUZZ_HOLDS(line.controllers < 16 && !(line.is_v2 && line.controllers));
		CLEANUP_FREE char *path = fuzz_text(line.path, line.path_len);
		for (size_t i = 0; i < mounts->n && i < 16; i++)
			check_below(mounts->list[i].root, path);
	}
	FUZZ_HOLDS(at == end);
	return n;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = fuzz_text(data, size);
	struct fault f = {0};
	struct cgroup_mounts mounts;
	int rc = mounts_parse(text, &mounts, &f);
	fuzz_check_fault(rc, &f);
	FUZZ_HOLDS(rc == 0);
	for (size_t i = 0; i < mounts.n; i++) {
		const struct cgroup_mount *m = &mounts.list[i];
		FUZZ_HOLDS(m->root[0] == '/' && m->point[0] == '/');
		FUZZ_HOLDS(m->controllers < 16 && !(m->is_v2 && m->controllers));
		check_below(m->root, m->point);
	}
	check_lines(text, &mounts);
	mounts_release(&mounts);
	return 0;
}
