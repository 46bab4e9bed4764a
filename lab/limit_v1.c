#include "folder.h"
#include "limit_way.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

/* The parents by role: the limit, the CPU use, the pressure. */
enum { V1_CPU, V1_CPUACCT, V1_PRESSURE };

static int apply(struct limit_group *g, const struct cpu_quota *q, struct fault *f)
{
	char text[32];
	snprintf(text, sizeof text, "%" PRIu64, q->period_usec);
	int rc = folder_write(g->folders[V1_CPU], "cpu.cfs_period_us", text, f);
	if (rc < 0)
		return rc;
	if (q->quota_usec == QUOTA_NONE)
		snprintf(text, sizeof text, "-1");
	else
		snprintf(text, sizeof text, "%" PRIu64, q->quota_usec);
	return folder_write(g->folders[V1_CPU], "cpu.cfs_quota_us", text, f);
}

static int read_back(const struct limit_group *g, struct cpu_quota *out, struct fault *f)
{
	char quota[64];
	char period[64];
	ssize_t n = folder_read(g->folders[V1_CPU], "cpu.cfs_quota_us", quota, sizeof quota, f);
	if (n >= 0)
		n = folder_read(g->folders[V1_CPU], "cpu.cfs_period_us", period, sizeof period, f);
	return n < 0 ? (int)n : kv_read_cfs_quota(quota, period, out, f);
}

/* ---- where groups can be made ---------------------------------------------------------------------------------------
 */

struct search {
	struct limiter *l;
	size_t role;
	struct fault *f;
};

static int try_level(const char *path, void *arg)
{
	struct search *s = arg;
	free(s->l->parents[s->role]);
	s->l->parents[s->role] = folder_join(s->l->root, path);
	if (!s->l->parents[s->role])
		return fault_set(s->f, ENOMEM, "limiter");
	/* the other roles, when they fail, must not spoil this one */
	struct limiter only = {.way = LIMIT_V1};
	only.parents[V1_CPU] = s->l->parents[V1_CPU];
	only.parents[s->role] = s->l->parents[s->role];
	return limiter_try(&only, s->f);
}

/* Groups go as far up as we may write: the fewer levels above, the fewer limits that are not ours. */
static int find_parent(struct limiter *l, size_t role, const struct cgroup_place *place, struct fault *f)
{
	struct search s = {.l = l, .role = role, .f = f};
	int rc = place->hierarchy == HIERARCHY_NONE ? fault_set(f, -ENOENT, "not mounted")
						    : folder_each_level(place->folder, place->top_len, try_level, &s);
	if (rc < 0)
		free(TAKE_PTR(l->parents[role]));
	return rc;
}

static void describe(struct limiter *l)
{
	snprintf(l->text, sizeof l->text, "cgroup v1 cpu hierarchy at %s%s%s%s", l->parents[V1_CPU],
		 l->parents[V1_PRESSURE] ? ", pressure from cgroup v2 at " : "",
		 l->parents[V1_PRESSURE] ? l->parents[V1_PRESSURE] : ", no pressure (PSI)",
		 l->parents[V1_PRESSURE] ? "" : " per cgroup");
}

static int detect(struct limiter *l, const struct cgroup_target *self, struct fault *f)
{
	if (!self)
		return f && f->err ? -f->err : -ENOENT;
	if (self->cpu.hierarchy != HIERARCHY_V1)
		return fault_set(f, -ENOENT, "there is no v1 hierarchy with the cpu controller");
	int rc = find_parent(l, V1_CPU, &self->cpu, f);
	bool same = self->cpuacct.hierarchy != HIERARCHY_NONE &&
		    strncmp(self->cpuacct.folder, self->cpu.folder, self->cpu.top_len + 1) == 0 &&
		    self->cpuacct.top_len == self->cpu.top_len;
	if (rc == 0 && !same) {
		rc = find_parent(l, V1_CPUACCT, &self->cpuacct, f);
		if (rc < 0)
			fault_prefix(f, rc, "no CPU use without the cpuacct hierarchy");
	}
	/* pressure is good to have: without it its columns stay empty */
	if (rc == 0)
		(void)find_parent(l, V1_PRESSURE, &self->v2, NULL);
	if (rc == 0)
		describe(l);
	return rc;
}

const struct limit_ops limit_v1_ops = {
	.detect = detect, .apply = apply, .read = read_back, .weight_file = "cpu.shares", .weight_value = "262144"};
