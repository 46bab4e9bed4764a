#include "cpus.h"

#include "cpulist.h"
#include "kv.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum {
	LIST_TEXT_MAX = 16384,
	/* a process can be in 65,536 groups, which are all listed */
	STATUS_MAX = 1 << 20,
};

static bool read_online(const struct tree *t, struct cpulist *out)
{
	char text[LIST_TEXT_MAX];
	return textfile_read_tree(t, "sys/devices/system/cpu/online", text, sizeof text, NULL) > 0 &&
	       cpulist_parse(text, out, NULL) == 0;
}

static bool read_affinity(const struct tree *t, const char *proc_name, struct cpulist *out)
{
	char path[64];
	char list[LIST_TEXT_MAX];
	CLEANUP_FREE char *status = NULL;
	snprintf(path, sizeof path, "proc/%s/status", proc_name);
	return textfile_load_tree(t, path, STATUS_MAX, &status, NULL) == 0 &&
	       kv_status_field(status, "Cpus_allowed_list", list, sizeof list, NULL) == 0 &&
	       cpulist_parse(list, out, NULL) == 0;
}

/* The effective list; v1 calls it cpuset.effective_cpus, and cpuset.cpus is the same there unless CPUs went away.
 * 0, -ENOENT when this level has none, or what is wrong with it. */
static int read_cpuset_file(int folder_fd, enum hierarchy h, struct cpulist *out)
{
	static const char *const v1_names[] = {"cpuset.effective_cpus", "cpuset.cpus"};
	static const char *const v2_names[] = {"cpuset.cpus.effective"};
	const char *const *names = h == HIERARCHY_V1 ? v1_names : v2_names;
	size_t n = h == HIERARCHY_V1 ? ARRAY_LEN(v1_names) : ARRAY_LEN(v2_names);
	for (size_t i = 0; i < n; i++) {
		char text[LIST_TEXT_MAX];
		ssize_t len = textfile_read_at(folder_fd, names[i], text, sizeof text, NULL);
		if (len == -ENOENT)
			continue;
		int rc = len < 0 ? (int)len : cpulist_parse(text, out, NULL);
		if (rc < 0 || cpulist_count(out) > 0)
			return rc;
	}
	return -ENOENT;
}

/* The nearest level that has one: the controller can end above the target. One that cannot be read or understood is
 * unknown, since those above it allow more. */
static bool read_cpuset(const struct cgroup_target *target, struct cpulist *out)
{
	const struct cgroup_place *p = &target->cpuset;
	CLEANUP_FREE char *folder = p->hierarchy == HIERARCHY_NONE ? NULL : strdup(p->folder);
	while (folder) {
		struct cgroup_place at = {.hierarchy = p->hierarchy, .folder = folder, .name = p->name};
		CLEANUP_CLOSE int fd = cgroup_place_open(&at, &target->tree, NULL);
		int rc = fd < 0 ? fd : read_cpuset_file(fd, p->hierarchy, out);
		char *slash = strrchr(folder, '/');
		if (fd < 0 || rc != -ENOENT || strlen(folder) <= p->top_len || !slash)
			return rc == 0;
		*slash = '\0';
	}
	return false;
}

void cpus_read(struct cpu_counts *out, const struct tree *t, const char *proc_name, const struct cgroup_target *target)
{
	struct cpulist online;
	struct cpulist allowed;
	struct cpulist cpuset;
	*out = (struct cpu_counts){0};
	out->have_online = read_online(t, &online);
	if (out->have_online)
		out->online = cpulist_count(&online);
	out->have_cpuset = read_cpuset(target, &cpuset);
	if (out->have_cpuset)
		out->cpuset = cpulist_count(&cpuset);
	out->have_nproc = proc_name ? read_affinity(t, proc_name, &allowed) : out->have_cpuset;
	if (!proc_name && out->have_cpuset)
		allowed = cpuset;
	if (!out->have_nproc)
		return;
	if (out->have_online)
		cpulist_intersect(&allowed, &online);
	out->nproc = cpulist_count(&allowed);
}

double cpus_effective(const struct cpu_counts *c, const struct limit *limit)
{
	double least = NAN;
	if (limit->status == LIMIT_UNKNOWN)
		return NAN;
	if (limit->status == LIMIT_SET)
		least = cpu_quota_cpus(&limit->quota);
	/* fmin gives the other one when one is NaN */
	if (c->have_nproc)
		least = fmin(least, c->nproc);
	if (c->have_cpuset)
		least = fmin(least, c->cpuset);
	return least;
}
