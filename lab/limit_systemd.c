#include "cgroup.h"
#include "child.h"
#include "folder.h"
#include "limit_way.h"

#include <errno.h>
#include <string.h>

/* A scope of the user's systemd: systemd-run asks for it, moves itself into it and becomes the command, so the pid that
 * was started is the pid of the command. The scope ends with its last process. */

static void quota_property(const struct cpu_quota *q, char *out, size_t size)
{
	if (q->quota_usec == QUOTA_NONE)
		snprintf(out, size, "CPUQuota=");
	else
		snprintf(out, size, "CPUQuota=%.10g%%", cpu_quota_cpus(q) * 100);
}

static void prefix(struct limit_group *g, const char *words[LIMIT_PREFIX_MAX])
{
	size_t n = 0;
	words[n++] = "systemd-run";
	words[n++] = "--user";
	words[n++] = "--scope";
	words[n++] = "--quiet";
	words[n++] = "--collect";
	words[n++] = "--unit";
	words[n++] = g->name;
	words[n++] = "--property";
	words[n++] = "CPUAccounting=yes";
	words[n++] = "--property";
	words[n++] = "CPUQuotaPeriodSec=100ms";
	words[n++] = "--property";
	words[n++] = g->quota_text;
	if (g->preferred) {
		words[n++] = "--property";
		words[n++] = "CPUWeight=10000";
	}
	words[n++] = "--";
	words[n] = NULL;
}

/* Runs a command to its end without output; its exit code or a negative errno. */
static int run_quietly(const char *const *argv, struct fault *f)
{
	struct child c;
	struct child_spec spec = {
		.argv = argv, .stdin_fd = CHILD_NULL, .stdout_fd = CHILD_NULL, .stderr_fd = CHILD_NULL};
	int rc = child_start(&c, &spec, f);
	if (rc < 0)
		return rc;
	rc = child_wait(&c, 10 * NSEC_PER_SEC);
	int code = child_exit_code(&c);
	child_end(&c, NSEC_PER_SEC, NULL);
	return rc < 0 ? fault_set(f, ETIMEDOUT, "%s", argv[0]) : code;
}

/* Before the scope exists the limit is a word of the command that makes it. */
static int apply(struct limit_group *g, const struct cpu_quota *q, struct fault *f)
{
	char unit[LIMIT_NAME_SIZE + 8];
	const char *const argv[] = {"systemctl", "--user", "set-property", "--runtime", unit, g->quota_text, NULL};
	quota_property(q, g->quota_text, sizeof g->quota_text);
	if (!g->pid)
		return 0;
	snprintf(unit, sizeof unit, "%s.scope", g->name);
	int code = run_quietly(argv, f);
	return code <= 0 ? code : fault_set(f, -EIO, "systemctl could not change the limit of %s", unit);
}

static int read_back(const struct limit_group *g, struct cpu_quota *out, struct fault *f)
{
	char text[64];
	ssize_t n = folder_read(g->folders[0], "cpu.max", text, sizeof text, f);
	return n < 0 ? (int)n : kv_read_cpu_max(text, out, f);
}

static int locate(struct limit_group *g, pid_t pid, struct fault *f)
{
	CLEANUP_TREE struct tree tree = TREE_CLOSED;
	CLEANUP_CGROUP_TARGET struct cgroup_target target = CGROUP_TARGET_NONE;
	char proc_name[16];
	snprintf(proc_name, sizeof proc_name, "%d", (int)pid);
	int rc = tree_open(&tree, g->limiter->root, f);
	if (rc == 0)
		rc = cgroup_resolve_process(&target, &tree, proc_name, f);
	if (rc < 0)
		return rc;
	if (target.cpu.hierarchy != HIERARCHY_V2 || !strstr(target.cpu.name, g->name))
		return fault_set(f, -EIO, "systemd-run did not put process %d into a scope of its own under cgroup v2",
				 (int)pid);
	g->folders[0] = folder_join(g->limiter->root, target.cpu.folder);
	return g->folders[0] ? 0 : fault_set(f, ENOMEM, "systemd scope");
}

/* A short command in a scope with a limit; that the limit is really there is checked when the probe is adopted. */
static int detect(struct limiter *l, const struct cgroup_target *self, struct fault *f)
{
	struct limit_group g = {.limiter = l, .cpus = 0.5};
	struct cpu_quota q = limit_quota(g.cpus);
	const char *argv[LIMIT_PREFIX_MAX + 2];
	if (self && self->cpu_controller == HIERARCHY_V1)
		return fault_set(f, -ENOENT, "the cpu controller of this host belongs to cgroup v1");
	snprintf(g.name, sizeof g.name, "headroom-%d-try", (int)getpid());
	quota_property(&q, g.quota_text, sizeof g.quota_text);
	prefix(&g, argv);
	size_t n = 0;
	while (argv[n])
		n++;
	argv[n++] = "true";
	argv[n] = NULL;
	int code = run_quietly(argv, f);
	if (code > 0)
		return fault_set(f, -EOPNOTSUPP, "systemd-run --user --scope fails with status %d: no user session",
				 code);
	if (code == 0)
		snprintf(l->text, sizeof l->text, "a scope of the user's systemd (systemd-run --user)");
	return code;
}

const struct limit_ops limit_systemd_ops = {
	.detect = detect, .apply = apply, .read = read_back, .prefix = prefix, .locate = locate};
