#include "folder.h"
#include "limit_way.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/stat.h>

static int apply(struct limit_group *g, const struct cpu_quota *q, struct fault *f)
{
	char text[64];
	if (q->quota_usec == QUOTA_NONE)
		snprintf(text, sizeof text, "max %" PRIu64, q->period_usec);
	else
		snprintf(text, sizeof text, "%" PRIu64 " %" PRIu64, q->quota_usec, q->period_usec);
	return folder_write(g->folders[0], "cpu.max", text, f);
}

static int read_back(const struct limit_group *g, struct cpu_quota *out, struct fault *f)
{
	char text[64];
	ssize_t n = folder_read(g->folders[0], "cpu.max", text, sizeof text, f);
	return n < 0 ? (int)n : kv_read_cpu_max(text, out, f);
}

/* ---- where groups can be made ---------------------------------------------------------------------------------------
 */

struct search {
	struct limiter *l;
	struct fault *f;
};

/* The root of the hierarchy, unlike that of a cgroup namespace, has no type. */
static bool is_root(const char *folder)
{
	char text[64];
	return folder_read(folder, "cgroup.type", text, sizeof text, NULL) < 0;
}

/* A cgroup other than the root may not hold processes and have limited children at once. For the cpu controller the
 * kernel does not say EBUSY: it makes the cgroup a threaded one, and refuses processes in its children later. If nobody
 * but us is in it, we can make room by moving into a child. */
static int make_room(struct limiter *l, const char *parent, struct fault *f)
{
	char name[64];
	pid_t first = 0;
	int n = folder_processes(parent, &first, f);
	if (n <= 0)
		return n;
	if (n != 1 || first != getpid())
		return fault_set(f, -EBUSY,
				 "%s holds %d processes, so the cpu controller cannot be given to groups below it: "
				 "start headroom alone in a cgroup",
				 parent, n);
	snprintf(name, sizeof name, "headroom-%d-self", (int)getpid());
	l->own_group = folder_join(parent, name);
	if (!l->own_group || mkdir(l->own_group, 0755) < 0)
		return fault_set(f, errno, "cannot make a cgroup in %s", parent);
	return folder_write(l->own_group, "cgroup.procs", "0", f);
}

static int enable_cpu(struct limiter *l, const char *parent, struct fault *f)
{
	if (!folder_file_has_word(parent, "cgroup.controllers", "cpu"))
		return fault_set(f, -ENOENT, "the cpu controller is not available in %s", parent);
	int rc = is_root(parent) ? 0 : make_room(l, parent, f);
	if (rc < 0 || folder_file_has_word(parent, "cgroup.subtree_control", "cpu"))
		return rc;
	return folder_write(parent, "cgroup.subtree_control", "+cpu", f);
}

static void release(struct limiter *l)
{
	if (!l->own_group || !l->parents[0])
		return;
	int rc = folder_write(l->parents[0], "cgroup.subtree_control", "-cpu", NULL);
	if (rc == 0)
		rc = folder_write(l->parents[0], "cgroup.procs", "0", NULL);
	/* not folder_remove_group(): if moving back failed, the process in there is this one */
	if (rc == 0)
		(void)rmdir(l->own_group);
	free(TAKE_PTR(l->own_group));
}

static int try_level(const char *path, void *arg)
{
	struct search *s = arg;
	struct limiter *l = s->l;
	free(l->parents[0]);
	l->parents[0] = folder_join(l->root, path);
	int rc = l->parents[0] ? enable_cpu(l, l->parents[0], s->f) : fault_set(s->f, ENOMEM, "limiter");
	if (rc == 0)
		rc = limiter_try(l, s->f);
	if (rc < 0)
		release(l);
	return rc;
}

static int detect(struct limiter *l, const struct cgroup_target *self, struct fault *f)
{
	struct search s = {.l = l, .f = f};
	if (!self)
		return f && f->err ? -f->err : -ENOENT;
	if (self->v2.hierarchy != HIERARCHY_V2)
		return fault_set(f, -ENOENT, "no cgroup2 mount shows our own cgroup");
	if (self->cpu_controller == HIERARCHY_V1)
		return fault_set(f, -ENOENT, "the cpu controller of this host belongs to cgroup v1");
	int rc = folder_each_level(self->v2.folder, self->v2.top_len, try_level, &s);
	if (rc == 0)
		snprintf(l->text, sizeof l->text, "cgroup v2 at %s", l->parents[0]);
	return rc;
}

const struct limit_ops limit_v2_ops = {.detect = detect,
				       .apply = apply,
				       .read = read_back,
				       .release = release,
				       .weight_file = "cpu.weight",
				       .weight_value = "10000"};
