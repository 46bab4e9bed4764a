#include "limits.h"

#include "folder.h"
#include "limit_way.h"

#include <errno.h>
#include <math.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

const char *const limit_way_names[] = {"v2", "systemd", "v1", "docker", "inside", NULL};

static const struct limit_ops *const ways[LIMIT_WAYS] = {[LIMIT_V2] = &limit_v2_ops,
							 [LIMIT_SYSTEMD] = &limit_systemd_ops,
							 [LIMIT_V1] = &limit_v1_ops,
							 [LIMIT_DOCKER] = &limit_docker_ops,
							 [LIMIT_INSIDE] = &limit_inside_ops};

struct cpu_quota limit_quota(double cpus)
{
	struct cpu_quota q = {.quota_usec = QUOTA_NONE, .period_usec = LIMIT_PERIOD_USEC};
	if (cpus > LIMIT_NO_CPUS)
		q.quota_usec = (uint64_t)llround(cpus * LIMIT_PERIOD_USEC);
	return q;
}

/* ---- names ----------------------------------------------------------------------------------------------------------
 */

static const char name_pattern[] = "headroom-";

pid_t limit_name_pid(const char *name)
{
	char *end;
	if (strncmp(name, name_pattern, sizeof name_pattern - 1) != 0)
		return 0;
	const char *digits = name + sizeof name_pattern - 1;
	if (*digits < '1' || *digits > '9')
		return 0;
	errno = 0;
	long pid = strtol(digits, &end, 10);
	return errno == 0 && *end == '-' && end[1] && pid <= INT32_MAX ? (pid_t)pid : 0;
}

size_t limit_remove_stale(const char *folder)
{
	size_t removed = 0;
	CLEANUP_CLOSEDIR DIR *dir = opendir(folder);
	const struct dirent *entry;
	while (dir && (entry = readdir(dir))) {
		pid_t pid = limit_name_pid(entry->d_name);
		if (pid == 0 || kill(pid, 0) == 0 || errno != ESRCH)
			continue;
		CLEANUP_FREE char *path = folder_join(folder, entry->d_name);
		/* the kernel refuses while there is anything in it */
		if (path && rmdir(path) == 0)
			removed++;
	}
	return removed;
}

/* ---- groups ---------------------------------------------------------------------------------------------------------
 */

static int make_folder(struct limit_group *g, size_t i, struct fault *f)
{
	g->folders[i] = folder_join(g->limiter->parents[i], g->name);
	g->join[i] = g->folders[i] ? folder_join(g->folders[i], "cgroup.procs") : NULL;
	if (!g->join[i])
		return fault_set(f, ENOMEM, "cannot make the cgroup %s", g->name);
	if (mkdir(g->folders[i], 0755) < 0) {
		int rc = fault_set(f, errno, "cannot make the cgroup %s", g->folders[i]);
		/* what was not made here is not removed here */
		free(TAKE_PTR(g->folders[i]));
		return rc;
	}
	return 0;
}

int limit_open(struct limit_group *g, struct limiter *l, const char *label, struct fault *f)
{
	size_t joined = 0;
	int rc = 0;
	*g = (struct limit_group){.limiter = l};
	snprintf(g->name, sizeof g->name, "%s%d-%s", name_pattern, (int)getpid(), label);
	for (size_t i = 0; rc == 0 && i < LIMIT_FOLDERS; i++) {
		if (!l->parents[i])
			continue;
		rc = make_folder(g, i, f);
		g->procs[joined++] = g->join[i];
	}
	if (rc < 0)
		limit_close(g, NULL);
	return rc;
}

int limit_read(const struct limit_group *g, struct cpu_quota *out, struct fault *f)
{
	return ways[g->limiter->way]->read(g, out, f);
}

static int check_read_back(const struct limit_group *g, const struct cpu_quota *wanted, struct fault *f)
{
	struct cpu_quota got;
	int rc = limit_read(g, &got, f);
	if (rc < 0)
		return rc;
	if (cpu_quota_is_below(&got, wanted) || cpu_quota_is_below(wanted, &got))
		return fault_set(f, -EIO, "the limit of %s was set to %g CPUs, but the kernel has %g", g->name, g->cpus,
				 got.quota_usec == QUOTA_NONE ? LIMIT_NO_CPUS : cpu_quota_cpus(&got));
	return 0;
}

int limit_set(struct limit_group *g, double cpus, struct fault *f)
{
	struct cpu_quota q = limit_quota(cpus);
	/* the kernel takes no quota below 1 ms */
	if (cpus != LIMIT_NO_CPUS && (cpus < 0.01 || cpus > 100000))
		return fault_set(f, -ERANGE, "a limit of %g CPUs is out of range: at least 0.01", cpus);
	g->cpus = cpus;
	int rc = ways[g->limiter->way]->apply(g, &q, f);
	return rc == 0 && g->folders[0] ? check_read_back(g, &q, f) : rc;
}

void limit_prefer(struct limit_group *g)
{
	const struct limit_ops *ops = ways[g->limiter->way];
	g->preferred = true;
	if (ops->weight_file && g->folders[0] &&
	    folder_write(g->folders[0], ops->weight_file, ops->weight_value, NULL) < 0)
		g->preferred = false;
}

void limit_command_prefix(struct limit_group *g, const char *prefix[LIMIT_PREFIX_MAX])
{
	prefix[0] = NULL;
	if (ways[g->limiter->way]->prefix)
		ways[g->limiter->way]->prefix(g, prefix);
}

int limit_adopt(struct limit_group *g, pid_t pid, struct fault *f)
{
	struct cpu_quota wanted = limit_quota(g->cpus);
	const struct limit_ops *ops = ways[g->limiter->way];
	g->pid = pid;
	int rc = ops->locate ? ops->locate(g, pid, f) : 0;
	pid = g->pid;
	for (size_t i = 0; rc == 0 && i < LIMIT_FOLDERS; i++) {
		pid_t first = 0;
		int n = g->folders[i] ? folder_processes(g->folders[i], &first, f) : 0;
		if (n < 0)
			rc = n;
		else if (g->folders[i] && (n != 1 || first != pid))
			rc = fault_set(f, -ESRCH, "process %d is not alone in the cgroup %s: %d processes are in it",
				       (int)pid, g->folders[i], n);
	}
	return rc == 0 ? check_read_back(g, &wanted, f) : rc;
}

int limit_close(struct limit_group *g, struct fault *f)
{
	bool held = g->limiter && g->limiter->way < LIMIT_WAYS && ways[g->limiter->way]->close;
	int first_rc = held ? ways[g->limiter->way]->close(g, f) : 0;
	for (size_t i = 0; g->limiter && i < LIMIT_FOLDERS; i++) {
		int rc = g->folders[i] ? folder_remove_group(g->folders[i], first_rc ? NULL : f) : 0;
		first_rc = first_rc ? first_rc : rc;
		free(g->folders[i]);
		free(g->join[i]);
	}
	*g = LIMIT_GROUP_NONE;
	return first_rc;
}

/* ---- choosing -------------------------------------------------------------------------------------------------------
 */

int limiter_try(struct limiter *l, struct fault *f)
{
	struct limit_group g;
	for (size_t i = 0; i < LIMIT_FOLDERS; i++)
		if (l->parents[i])
			limit_remove_stale(l->parents[i]);
	int rc = limit_open(&g, l, "try", f);
	if (rc == 0)
		rc = limit_set(&g, 0.5, f);
	/* starting the probe moves it in there; without the right to do so the limit would be of no use */
	for (size_t i = 0; rc == 0 && g.procs[i]; i++)
		if (access(g.procs[i], W_OK) < 0)
			rc = fault_set(f, errno, "cannot move a process into %s", g.procs[i]);
	if (rc == 0 && folder_file_has_word(g.folders[0], "cgroup.type", "invalid"))
		rc = fault_set(f, -EOPNOTSUPP, "cgroups in %s cannot take processes: it is threaded", l->parents[0]);
	int close_rc = limit_close(&g, rc ? NULL : f);
	return rc ? rc : close_rc;
}

static void forget_parents(struct limiter *l)
{
	for (size_t i = 0; i < LIMIT_FOLDERS; i++)
		free(TAKE_PTR(l->parents[i]));
}

static int try_way(struct limiter *l, enum limit_way way, const struct cgroup_target *self,
		   const struct fault *self_fault, struct fault *f)
{
	if (f)
		*f = *self_fault;
	l->way = way;
	int rc = ways[way]->detect(l, self, f);
	if (rc < 0)
		forget_parents(l);
	return rc;
}

static int none_works(const char *reasons, enum limit_way forced, struct fault *f)
{
	const char *advice = "run headroom as root, or where cgroups are delegated to it (systemd-run --user --scope "
			     "-p Delegate=yes headroom demo), or in a container with --privileged";
	if (forced != LIMIT_WAYS)
		return fault_set(f, -EOPNOTSUPP, "a CPU limit by --limiter %s is not possible here: %s; %s",
				 limit_way_names[forced], reasons, advice);
	return fault_set(f, -EOPNOTSUPP, "no CPU limit can be made here (%s); %s", reasons, advice);
}

int limiter_choose(struct limiter *l, const char *root, enum limit_way forced, struct fault *f)
{
	CLEANUP_TREE struct tree tree = TREE_CLOSED;
	CLEANUP_CGROUP_TARGET struct cgroup_target self = CGROUP_TARGET_NONE;
	struct fault self_fault = {0};
	char reasons[440] = "";
	*l = (struct limiter){.way = LIMIT_WAYS, .root = strdup(root)};
	int self_rc = l->root ? tree_open(&tree, root, &self_fault) : fault_set(&self_fault, ENOMEM, "limiter");
	if (self_rc == 0)
		self_rc = cgroup_resolve_process(&self, &tree, "self", &self_fault);
	for (enum limit_way way = 0; way < LIMIT_WAYS; way++) {
		struct fault reason;
		if (forced == LIMIT_WAYS ? ways[way]->by_name_only : forced != way)
			continue;
		if (try_way(l, way, self_rc == 0 ? &self : NULL, &self_fault, &reason) == 0)
			return 0;
		size_t used = strlen(reasons);
		snprintf(reasons + used, sizeof reasons - used, "%s%s%s%.*s", used ? "; " : "",
			 forced == LIMIT_WAYS ? limit_way_names[way] : "", forced == LIMIT_WAYS ? ": " : "", 180,
			 fault_text(&reason));
	}
	l->way = LIMIT_WAYS;
	limiter_release(l);
	return none_works(reasons, forced, f);
}

void limiter_release(struct limiter *l)
{
	if (l->way < LIMIT_WAYS && ways[l->way]->release)
		ways[l->way]->release(l);
	forget_parents(l);
	free(l->own_group);
	free(l->root);
	*l = LIMITER_NONE;
}
