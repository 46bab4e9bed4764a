#include "cgroup.h"

#include "kv.h"

#include <errno.h>
#include <string.h>

enum {
	/* a node with 500 containers has about 2 MB of mounts */
	MOUNTINFO_MAX = 16 << 20,
	CGROUP_FILE_MAX = 1 << 16,
};

const char *cgroup_version_name(enum cgroup_version v)
{
	static const char *const names[] = {"none", "v1", "v2", "hybrid"};
	return names[v];
}

const char *hierarchy_name(enum hierarchy h)
{
	static const char *const names[] = {"none", "v1", "v2"};
	return names[h];
}

static enum cgroup_version version_of(const struct cgroup_mounts *mounts)
{
	bool v1 = false;
	bool v1_named = false;
	bool v2 = false;
	for (size_t i = 0; i < mounts->n; i++) {
		const struct cgroup_mount *m = &mounts->list[i];
		v2 |= m->is_v2;
		v1 |= m->controllers != 0;
		v1_named |= !m->is_v2 && m->controllers == 0;
	}
	if (v2)
		return v1 || v1_named ? CGROUP_HYBRID : CGROUP_V2;
	return v1 ? CGROUP_V1 : CGROUP_NO_VERSION;
}

/* ---- places ---- */

static char *join(const char *top, const char *below)
{
	char *joined = NULL;
	if (strcmp(top, "/") == 0)
		top = "";
	if (asprintf(&joined, "%s%s%s", top, below, *top || *below ? "" : "/") < 0)
		return NULL;
	return joined;
}

int cgroup_place_make(struct cgroup_place *out, enum hierarchy h, const char *mount_root, const char *mount_point,
		      const char *below)
{
	struct cgroup_place p = {
		.hierarchy = h,
		.name = join(mount_root, below),
		.folder = join(mount_point, below),
		.top_len = strcmp(mount_point, "/") == 0 ? 0 : strlen(mount_point),
	};
	if (!p.name || !p.folder) {
		cgroup_place_release(&p);
		return -ENOMEM;
	}
	*out = p;
	return 0;
}

void cgroup_place_release(struct cgroup_place *p)
{
	free(p->name);
	free(p->folder);
	*p = (struct cgroup_place){0};
}

int cgroup_place_open(const struct cgroup_place *p, const struct tree *t, struct fault *f)
{
	CLEANUP_CLOSE int fd = tree_open_folder(t, p->folder, f);
	if (fd == -ENOENT)
		return fault_set(f, -ENOENT, "the cgroup %s is not there (any more)", p->name);
	if (fd < 0)
		return fault_prefix(f, fd, "cgroup %s", p->name);
	int64_t wanted = p->hierarchy == HIERARCHY_V2 ? FS_TYPE_CGROUP2 : FS_TYPE_CGROUP1;
	if (t->live && textfile_fs_type(fd) != wanted)
		return fault_set(f, -EXDEV, "%s is not on a cgroup file system: its figures cannot be trusted",
				 p->folder);
	return TAKE_FD(fd);
}

void cgroup_target_release(struct cgroup_target *t)
{
	cgroup_place_release(&t->cpu);
	cgroup_place_release(&t->cpuacct);
	cgroup_place_release(&t->cpuset);
	cgroup_place_release(&t->v2);
	tree_close(&t->tree);
	*t = CGROUP_TARGET_NONE;
}

/* ---- from the lines of /proc/PID/cgroup ---- */

struct memberships {
	char *text; /* the file; what the lines point into */
	struct cgroup_line v2, cpu, cpuacct, cpuset;
	bool has_v2, has_cpu, has_cpuacct, has_cpuset;
	bool any;
};

/* The kernel lists every hierarchy once: two answers to one question are none. */
static bool take_once(struct cgroup_line *into, bool *has, const struct cgroup_line *line)
{
	if (*has)
		return false;
	*into = *line;
	*has = true;
	return true;
}

static bool take_line(struct memberships *m, const struct cgroup_line *line)
{
	m->any = true;
	return (!line->is_v2 || take_once(&m->v2, &m->has_v2, line)) &&
	       (!(line->controllers & CONTROLLER_CPU) || take_once(&m->cpu, &m->has_cpu, line)) &&
	       (!(line->controllers & CONTROLLER_CPUACCT) || take_once(&m->cpuacct, &m->has_cpuacct, line)) &&
	       (!(line->controllers & CONTROLLER_CPUSET) || take_once(&m->cpuset, &m->has_cpuset, line));
}

static int read_memberships(struct memberships *m, const struct tree *t, const char *proc_name, struct fault *f)
{
	char path[64];
	*m = (struct memberships){0};
	snprintf(path, sizeof path, "proc/%s/cgroup", proc_name);
	int rc = textfile_load_tree(t, path, CGROUP_FILE_MAX, &m->text, f);
	if (rc < 0)
		return fault_prefix(f, rc, "no cgroup information");
	const char *at = m->text;
	struct cgroup_line line;
	while (mounts_next_cgroup_line(&at, &line)) {
		if (line.path_len >= HEADROOM_PATH_MAX)
			return fault_set(f, ENAMETOOLONG, "/%s names a cgroup of %zu bytes", path, line.path_len);
		if (!take_line(m, &line))
			return fault_set(f, -EINVAL, "/%s names one hierarchy twice", path);
	}
	if (!m->any)
		return fault_set(f, -EINVAL, "/%s is malformed: no line has the form id:controllers:/path", path);
	return 0;
}

/* Of several mounts of one hierarchy, the one with the shortest root shows the most ancestors. */
static int find_place(struct cgroup_place *out, const struct cgroup_mounts *mounts, const struct cgroup_line *line,
		      unsigned controller)
{
	const struct cgroup_mount *best = NULL;
	const char *best_below = NULL;
	CLEANUP_FREE char *path = strndup(line->path, line->path_len);
	if (!path)
		return -ENOMEM;
	for (size_t i = 0; i < mounts->n; i++) {
		const struct cgroup_mount *m = &mounts->list[i];
		bool wanted = line->is_v2 ? m->is_v2 : (m->controllers & controller) != 0;
		const char *below = wanted ? mounts_below(m->root, path) : NULL;
		if (!below || (best && strlen(m->root) >= strlen(best->root)))
			continue;
		best = m;
		best_below = below;
	}
	if (!best)
		return -EXDEV;
	return cgroup_place_make(out, line->is_v2 ? HIERARCHY_V2 : HIERARCHY_V1, best->root, best->point, best_below);
}

static bool has_mount(const struct cgroup_mounts *mounts, bool v2, unsigned controller)
{
	for (size_t i = 0; i < mounts->n; i++)
		if (v2 ? mounts->list[i].is_v2 : (mounts->list[i].controllers & controller) != 0)
			return true;
	return false;
}

static int fail_without_place(const struct cgroup_line *line, const struct cgroup_mounts *mounts, struct fault *f)
{
	if (!has_mount(mounts, line->is_v2, CONTROLLER_CPU))
		return fault_set(
			f, -ENOENT,
			"the cgroup %s file system with the cpu controller is not mounted here: mount it read-only",
			line->is_v2 ? "v2" : "v1");
	return fault_set(
		f, -EXDEV,
		"the cgroup %.*s is outside of what is mounted here: share its cgroup namespace, or mount the host's "
		"/sys/fs/cgroup and use --host-cgroup",
		(int)line->path_len, line->path);
}

/* One view of the hierarchies: the target's memberships against one table of mounts. */
static int place_all(struct cgroup_target *out, const struct memberships *m, const struct cgroup_mounts *mounts,
		     struct fault *f)
{
	const struct cgroup_line *cpu = m->has_cpu ? &m->cpu : m->has_v2 ? &m->v2 : NULL;
	out->version = version_of(mounts);
	if (!cpu || (cpu->is_v2 && !has_mount(mounts, true, 0))) {
		out->cpu_controller = HIERARCHY_NONE;
		return fault_set(f, -ENOENT, "no cgroup mount with a cpu controller is visible in the table of mounts");
	}
	out->cpu_controller = cpu->is_v2 ? HIERARCHY_V2 : HIERARCHY_V1;
	if (cpu->deleted)
		return fault_set(f, -ENOENT, "the cgroup %.*s was removed", (int)cpu->path_len, cpu->path);
	int rc = find_place(&out->cpu, mounts, cpu, CONTROLLER_CPU);
	if (rc < 0)
		return rc == -ENOMEM ? fault_set(f, ENOMEM, "cgroup") : fail_without_place(cpu, mounts, f);
	/* the others are nice to have: what cannot be found stays HIERARCHY_NONE */
	if (m->has_cpuacct)
		(void)find_place(&out->cpuacct, mounts, &m->cpuacct, CONTROLLER_CPUACCT);
	if (m->has_cpuset)
		(void)find_place(&out->cpuset, mounts, &m->cpuset, CONTROLLER_CPUSET);
	if (m->has_v2 && !m->v2.deleted)
		(void)find_place(&out->v2, mounts, &m->v2, 0);
	if (!m->has_cpuset && m->has_v2)
		(void)find_place(&out->cpuset, mounts, &m->v2, 0);
	return 0;
}

static int read_mounts(struct cgroup_mounts *out, const struct tree *t, const char *proc_name, struct fault *f)
{
	char path[64];
	CLEANUP_FREE char *text = NULL;
	*out = (struct cgroup_mounts){0};
	snprintf(path, sizeof path, "proc/%s/mountinfo", proc_name);
	int rc = textfile_load_tree(t, path, MOUNTINFO_MAX, &text, f);
	return rc < 0 ? rc : mounts_parse(text, out, f);
}

static void release_places(struct cgroup_target *t)
{
	cgroup_place_release(&t->cpu);
	cgroup_place_release(&t->cpuacct);
	cgroup_place_release(&t->cpuset);
	cgroup_place_release(&t->v2);
}

/* The folder must be there, too: a path that matches a mount by its text only is no answer. */
static int check_cpu_folder(const struct cgroup_target *target, const struct tree *t, struct fault *f)
{
	CLEANUP_CLOSE int fd = cgroup_place_open(&target->cpu, t, f);
	return fd < 0 ? fd : 0;
}

static int keep_tree(struct cgroup_target *out, const struct tree *t, struct fault *f)
{
	int fd = dup(t->fd);
	if (fd < 0)
		return fault_set(f, errno, "cannot keep the root folder");
	out->tree = (struct tree){.fd = fd, .live = t->live};
	return 0;
}

static int resolve_through(struct cgroup_target *out, const struct tree *t, const struct memberships *m,
			   const struct cgroup_mounts *mounts, struct fault *f)
{
	release_places(out);
	int rc = place_all(out, m, mounts, f);
	if (rc == 0)
		rc = check_cpu_folder(out, t, f);
	return rc == 0 ? keep_tree(out, t, f) : rc;
}

/* ---- a neighbour, through its own root ---- */

static int explain_denied(const struct tree *t, const char *proc_name, struct fault *f)
{
	char path[64];
	char status[8192];
	char uid[64] = "";
	char gid[64] = "";
	snprintf(path, sizeof path, "proc/%s/status", proc_name);
	if (textfile_read_tree(t, path, status, sizeof status, NULL) > 0) {
		if (kv_status_field(status, "Uid", uid, sizeof uid, NULL) < 0 ||
		    kv_status_field(status, "Gid", gid, sizeof gid, NULL) < 0)
			uid[0] = '\0';
	}
	/* real, effective, saved, file system id: the first is what a manifest sets */
	uid[strcspn(uid, " \t")] = '\0';
	gid[strcspn(gid, " \t")] = '\0';
	if (!uid[0])
		return fault_set(f, -EACCES, "may not look into process %s", proc_name);
	return fault_set(
		f, -EACCES,
		"may not look into process %s: it runs as %s:%s, this program as %u:%u: set runAsUser %s and runAsGroup %s "
		"(docker: --user %s:%s), or give it root with SYS_PTRACE",
		proc_name, uid, gid, geteuid(), getegid(), uid, gid, uid, gid);
}

static int resolve_through_its_root(struct cgroup_target *out, const struct tree *t, const char *proc_name,
				    const struct memberships *m, struct fault *f)
{
	struct cgroup_mounts mounts;
	int rc = read_mounts(&mounts, t, proc_name, f);
	if (rc < 0)
		return rc;
	CLEANUP_TREE struct tree its_root = TREE_CLOSED;
	rc = tree_open_process_root(&its_root, t, proc_name, f);
	if (rc == -EACCES || rc == -EPERM) {
		struct fault unused;
		/* its table of mounts is readable all the same: say what kind of host this is */
		(void)place_all(out, m, &mounts, &unused);
		rc = explain_denied(t, proc_name, f);
	} else if (rc == -ENOENT) {
		/* nothing of it can be read, but what is mounted there is known */
		rc = place_all(out, m, &mounts, f);
		if (rc == 0)
			rc = fault_set(f, -ENOENT, "the root folder of process %s is gone", proc_name);
	} else if (rc == 0) {
		rc = resolve_through(out, &its_root, m, &mounts, f);
	}
	mounts_release(&mounts);
	return rc;
}

static int resolve_memberships(struct cgroup_target *out, const struct tree *t, const char *proc_name,
			       const struct memberships *m, struct fault *f)
{
	struct cgroup_mounts own;
	struct fault own_fault = {0};
	bool is_self = strcmp(proc_name, "self") == 0;
	int rc = read_mounts(&own, t, "self", &own_fault);
	if (rc == 0)
		rc = resolve_through(out, t, m, &own, &own_fault);
	mounts_release(&own);
	if (rc == 0)
		return 0;
	int other_rc = is_self ? -ENOENT : resolve_through_its_root(out, t, proc_name, m, f);
	if (other_rc == 0)
		return 0;
	/* a removed cgroup is the better explanation than a mount table that cannot be read any more */
	bool gone = m->has_v2 && m->v2.deleted && !m->has_cpu;
	if (f && (is_self || gone))
		*f = own_fault;
	return is_self || gone ? rc : other_rc;
}

int cgroup_resolve_process(struct cgroup_target *out, const struct tree *t, const char *proc_name, struct fault *f)
{
	struct memberships m;
	*out = CGROUP_TARGET_NONE;
	int rc = read_memberships(&m, t, proc_name, f);
	if (rc < 0) {
		struct cgroup_mounts own;
		if (read_mounts(&own, t, "self", NULL) == 0)
			out->version = version_of(&own);
		mounts_release(&own);
	} else {
		rc = resolve_memberships(out, t, proc_name, &m, f);
	}
	free(m.text);
	if (rc < 0)
		release_places(out);
	return rc;
}

/* ---- an explicit path ---- */

/* The path below the cgroup mount that holds it, or the path itself when it is a name. */
static const char *below_any_mount(const struct cgroup_mounts *mounts, const char *path)
{
	const char *best = NULL;
	for (size_t i = 0; i < mounts->n; i++) {
		const char *below = mounts_below(mounts->list[i].point, path);
		if (below && (!best || below > best))
			best = below;
	}
	return best ? best : path;
}

static int place_below(struct cgroup_target *out, const struct tree *t, const struct cgroup_mounts *mounts,
		       const char *below)
{
	for (size_t i = 0; i < mounts->n; i++) {
		const struct cgroup_mount *m = &mounts->list[i];
		struct cgroup_place p;
		enum hierarchy h = m->is_v2 ? HIERARCHY_V2 : HIERARCHY_V1;
		if (cgroup_place_make(&p, h, m->root, m->point, below) < 0)
			return -ENOMEM;
		CLEANUP_CLOSE int fd = cgroup_place_open(&p, t, NULL);
		const struct {
			bool fits;
			struct cgroup_place *into;
		} uses[] = {
			{m->is_v2, &out->v2},
			{(m->controllers & CONTROLLER_CPU) != 0, &out->cpu},
			{(m->controllers & CONTROLLER_CPUACCT) != 0, &out->cpuacct},
			{(m->controllers & CONTROLLER_CPUSET) != 0, &out->cpuset},
		};
		for (size_t u = 0; fd >= 0 && u < ARRAY_LEN(uses); u++)
			if (uses[u].fits && uses[u].into->hierarchy == HIERARCHY_NONE &&
			    cgroup_place_make(uses[u].into, h, m->root, m->point, below) < 0)
				fd = -1;
		cgroup_place_release(&p);
	}
	return 0;
}

int cgroup_resolve_path(struct cgroup_target *out, const struct tree *t, const char *path, struct fault *f)
{
	struct cgroup_mounts mounts;
	*out = CGROUP_TARGET_NONE;
	if (path[0] != '/')
		return fault_set(f, -EINVAL, "the cgroup '%s' must be an absolute path", path);
	int rc = read_mounts(&mounts, t, "self", f);
	if (rc < 0)
		return rc;
	out->version = version_of(&mounts);
	const char *below = mounts_below("/", below_any_mount(&mounts, path));
	bool cpu_is_v1 = has_mount(&mounts, false, CONTROLLER_CPU);
	out->cpu_controller = cpu_is_v1 ? HIERARCHY_V1 : has_mount(&mounts, true, 0) ? HIERARCHY_V2 : HIERARCHY_NONE;
	rc = below ? place_below(out, t, &mounts, below) : -EINVAL;
	if (rc == 0 && !cpu_is_v1 && out->v2.hierarchy == HIERARCHY_V2)
		rc = cgroup_place_make(&out->cpu, HIERARCHY_V2, out->v2.name, out->v2.folder, "");
	if (rc == 0 && out->cpu.hierarchy == HIERARCHY_V2)
		out->cpu.top_len = out->v2.top_len;
	if (rc == 0 && out->cpuset.hierarchy == HIERARCHY_NONE && out->v2.hierarchy == HIERARCHY_V2) {
		rc = cgroup_place_make(&out->cpuset, HIERARCHY_V2, out->v2.name, out->v2.folder, "");
		out->cpuset.top_len = out->v2.top_len;
	}
	mounts_release(&mounts);
	if (rc == 0 && out->cpu.hierarchy == HIERARCHY_NONE)
		rc = fault_set(f, -ENOENT, "there is no cgroup %s in the hierarchy of the cpu controller", path);
	else if (rc < 0)
		fault_set(f, rc == -ENOMEM ? ENOMEM : -EINVAL, "cgroup path %s", path);
	return rc == 0 ? keep_tree(out, t, f) : rc;
}
