#include "finder.h"

#include "clock.h"
#include "events.h"
#include "node.h"
#include "units.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

enum { LOOK_AGAIN_LOST_MS = 1000, LOOK_AGAIN_MS = 5000, THREADS_PER_WATCH = 128 };

/* ---- the fleet ---- */

static struct watch *add_watch(struct fleet *fleet, const struct identity *who)
{
	struct watch **list = realloc(fleet->watches, (fleet->n + 1) * sizeof *list);
	if (!list)
		return NULL;
	fleet->watches = list;
	struct watch *w = watch_new();
	if (!w)
		return NULL;
	w->who = *who;
	list[fleet->n++] = w;
	return w;
}

static struct watch *find_watch(const struct fleet *fleet, const struct identity *who)
{
	for (size_t i = 0; i < fleet->n; i++)
		if (fleet->watches[i]->who.scope == who->scope && strcmp(fleet->watches[i]->who.id, who->id) == 0 &&
		    (who->scope != SCOPE_POD || strcmp(fleet->watches[i]->who.pod_uid, who->pod_uid) == 0))
			return fleet->watches[i];
	return NULL;
}

static void remove_unseen(struct fleet *fleet, const char *why)
{
	size_t kept = 0;
	for (size_t i = 0; i < fleet->n; i++) {
		struct watch *w = fleet->watches[i];
		if (w->seen) {
			fleet->watches[kept++] = w;
			continue;
		}
		if (w->open || w->denied)
			event_target_lost(fleet, w, why);
		watch_delete(w);
	}
	fleet->n = kept;
}

static void watch_processes(struct watch *w, const struct tree *t)
{
	if (w->processes)
		return;
	w->processes = malloc(sizeof *w->processes);
	if (w->processes && processes_open(w->processes, t, THREADS_PER_WATCH, NULL) < 0) {
		free(w->processes);
		w->processes = NULL;
	}
}

/* Not ourselves: the sidecar in its own cgroup knows what it is. */
static void look_at_program(struct finder *x, struct watch *w, const char *proc_name)
{
	char pid[16] = "";
	if (!proc_name || x->way == WAY_CGROUP)
		program_first_pid(&w->target, pid);
	else if (strcmp(proc_name, "self") != 0)
		snprintf(pid, sizeof pid, "%s", proc_name);
	w->program = (struct guess){0};
	if (pid[0])
		program_guess(&w->program, x->tree, pid);
}

/* Opens a watch on a target that was just resolved, and says what that means. */
static int open_watch(struct finder *x, struct fleet *fleet, struct watch *w, struct cgroup_target *target,
		      const char *proc_name)
{
	struct cpu_counts cpus;
	bool was_lost = w->lost;
	cpus_read(&cpus, x->tree, proc_name, target);
	/* a node's containers are in other PID namespaces: none of their threads is visible */
	if (x->way != WAY_NODE)
		watch_processes(w, x->tree);
	int rc = watch_open(w, target, &cpus, &w->why);
	if (rc < 0)
		return rc;
	look_at_program(x, w, proc_name);
	if (was_lost) {
		w->restarts++;
		event_restarted(fleet, w);
	} else {
		event_target_found(fleet, w);
	}
	event_mismatch(fleet, w);
	return 0;
}

/* A newly opened watch begins with all witnesses: without them its first windows would have none. */
static void begin_watch(const struct fleet *fleet, struct watch *w)
{
	fleet_take_witnesses(fleet, w);
	watch_mark_all(w);
}

/* Says it once; after a loss that has been said already. */
static void failed_watch(struct fleet *fleet, struct watch *w)
{
	bool news = !w->complained && !w->lost;
	w->denied = true;
	w->complained = true;
	if (news)
		event_unreadable(fleet, w);
}

/* ---- one target ---- */

static void name_single(struct watch *w, const struct target_query *q)
{
	if (q->cgroup)
		snprintf(w->who.container, sizeof w->who.container, "%s", q->cgroup);
	else if (q->pid)
		snprintf(w->who.container, sizeof w->who.container, "pid %s", q->pid);
	else
		snprintf(w->who.container, sizeof w->who.container, "self");
}

/* Its cgroup is denied, so its other processes are not known: the run-queue wait of the one that was named is. */
static void watch_pid_alone(struct finder *x, struct watch *w)
{
	uint64_t pid;
	if (!x->query->pid || units_parse_u64(x->query->pid, &pid, NULL) < 0 || pid > INT32_MAX)
		return;
	watch_processes(w, x->tree);
	if (w->processes)
		processes_refresh(w->processes, &(int32_t){(int32_t)pid}, 1, 1);
}

static void look_single(struct finder *x, struct fleet *fleet)
{
	struct identity who = {.scope = SCOPE_CONTAINER};
	struct watch *w = fleet->n ? fleet->watches[0] : add_watch(fleet, &who);
	if (!w)
		return;
	if (w->open) {
		if (w->processes)
			(void)processes_refresh_cgroup(w->processes, &w->target, NULL);
		return;
	}
	if (!w->who.container[0])
		name_single(w, x->query);
	struct target target;
	int rc = target_resolve(&target, x->tree, x->query, &w->why);
	if (rc == 0)
		rc = open_watch(x, fleet, w, &target.cgroup, target.proc_name ? target.proc_name : "self");
	if (rc == 0 && w->processes)
		(void)processes_refresh_cgroup(w->processes, &w->target, NULL);
	target_release(&target);
	if (rc < 0) {
		watch_pid_alone(x, w);
		failed_watch(fleet, w);
	} else {
		begin_watch(fleet, w);
	}
}

/* ---- host view ---- */

static void look_at_host_cgroup(struct finder *x, struct fleet *fleet, const struct hostview *v,
				const struct identity *who, const char *below)
{
	struct watch *w = find_watch(fleet, who);
	if (!w)
		w = add_watch(fleet, who);
	if (!w)
		return;
	w->seen = true;
	if (w->open)
		return;
	struct cgroup_target target;
	int rc = hostview_target(&target, v, x->tree, below, &w->why);
	if (rc == 0)
		rc = open_watch(x, fleet, w, &target, NULL);
	if (rc < 0)
		failed_watch(fleet, w);
	else
		begin_watch(fleet, w);
}

static void look_at_pod(struct finder *x, struct fleet *fleet, const struct hostview *v, const struct host_pod *pod)
{
	struct identity who = {.scope = SCOPE_POD, .container = "pod"};
	const struct host_container *one = host_pod_container(pod, x->query->container_id);
	if (x->query->pod_uid)
		snprintf(who.pod_uid, sizeof who.pod_uid, "%s", x->query->pod_uid);
	if (pod->below && !x->query->container_id)
		look_at_host_cgroup(x, fleet, v, &who, pod->below);
	who.scope = SCOPE_CONTAINER;
	for (size_t i = 0; i < pod->n; i++) {
		const struct host_container *c = &pod->containers[i];
		if (x->query->container_id && c != one)
			continue;
		memcpy(who.id, c->id, sizeof who.id);
		snprintf(who.container, sizeof who.container, "%.12s", c->id);
		look_at_host_cgroup(x, fleet, v, &who, c->below);
	}
}

static void forget_all(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n; i++)
		fleet->watches[i]->seen = false;
}

static void look_host(struct finder *x, struct fleet *fleet)
{
	struct hostview view;
	struct host_pod pod = {0};
	struct fault f = {0};
	int rc = hostview_open(&view, x->tree, x->query->host_cgroup, &f);
	if (rc == 0)
		rc = hostview_find(&pod, &view, x->tree, x->query->pod_uid, x->query->container_id, &f);
	forget_all(fleet);
	if (rc == 0)
		look_at_pod(x, fleet, &view, &pod);
	remove_unseen(fleet, rc < 0 ? fault_text(&f) : "its cgroup is not in the host's tree any more");
	host_pod_release(&pod);
	hostview_close(&view);
}

/* ---- node ---- */

/* A container keeps about a dozen files open, and the usual soft limit is 1,024. */
static void allow_many_files(void)
{
	struct rlimit limit;
	if (getrlimit(RLIMIT_NOFILE, &limit) == 0 && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		(void)setrlimit(RLIMIT_NOFILE, &limit);
	}
}

static void look_at_entry(struct finder *x, struct fleet *fleet, const struct hostview *v, const struct node_entry *e)
{
	struct identity who = {.scope = e->id[0] ? SCOPE_CONTAINER : SCOPE_POD};
	memcpy(who.id, e->id, sizeof who.id);
	snprintf(who.pod_uid, sizeof who.pod_uid, "%s", e->uid);
	snprintf(who.namespace_name, sizeof who.namespace_name, "%s", e->namespace_name);
	/* a pod without a name is still one of many: its uid tells it from the others */
	snprintf(who.pod, sizeof who.pod, "%s", e->pod[0] ? e->pod : e->uid);
	if (!e->id[0])
		snprintf(who.container, sizeof who.container, "pod");
	else if (e->container[0])
		snprintf(who.container, sizeof who.container, "%s", e->container);
	else
		snprintf(who.container, sizeof who.container, "%.12s", e->id);
	struct watch *w = find_watch(fleet, &who);
	/* logs, and with them names, can come after the cgroup */
	if (w)
		w->who = who;
	look_at_host_cgroup(x, fleet, v, &who, e->below);
}

static void look_node(struct finder *x, struct fleet *fleet)
{
	struct hostview view;
	struct node_list list = {.n = 0};
	struct fault f = {0};
	int rc = hostview_open(&view, x->tree, x->query->host_cgroup, &f);
	if (rc == 0)
		rc = node_walk(&list, &view, x->tree, x->query->pod_logs, x->query->container_logs, &f);
	forget_all(fleet);
	for (size_t i = 0; rc == 0 && i < list.n; i++)
		look_at_entry(x, fleet, &view, &list.entries[i]);
	remove_unseen(fleet, rc < 0 ? fault_text(&f) : "its cgroup is not in the host's tree any more");
	node_list_release(&list);
	hostview_close(&view);
}

/* ---- shared PID namespace ---- */

static int resolve_neighbour(struct finder *x, struct watch *w, const struct neighbour *n, struct cgroup_target *target,
			     char proc_name[16])
{
	int rc = -ESRCH;
	for (unsigned i = 0; i < n->n_pids && rc < 0; i++) {
		if (i)
			cgroup_target_release(target);
		snprintf(proc_name, 16, "%d", (int)n->pids[i]);
		rc = cgroup_resolve_process(target, x->tree, proc_name, &w->why);
		if (rc == 0 && !neighbour_owns(n, target))
			rc = fault_set(&w->why, -ESRCH, "process %s belongs to another container by now", proc_name);
	}
	return rc;
}

static void look_at_neighbour(struct finder *x, struct fleet *fleet, const struct neighbour *n)
{
	struct identity who = {.scope = SCOPE_CONTAINER};
	char label[NEIGHBOUR_NAME_SIZE];
	int32_t pids[PROCESSES_THREADS_MAX];
	memcpy(who.id, n->id, sizeof who.id);
	snprintf(who.container, sizeof who.container, "%s", neighbour_label(n, label));
	snprintf(who.pod_uid, sizeof who.pod_uid, "%s", n->pod_uid);
	struct watch *w = find_watch(fleet, &who);
	if (!w)
		w = add_watch(fleet, &who);
	if (!w)
		return;
	w->seen = true;
	watch_processes(w, x->tree);
	bool was_open = w->open;
	if (!was_open) {
		struct cgroup_target target = CGROUP_TARGET_NONE;
		char proc_name[16];
		int rc = resolve_neighbour(x, w, n, &target, proc_name);
		if (rc == 0)
			rc = open_watch(x, fleet, w, &target, proc_name);
		else
			cgroup_target_release(&target);
		if (rc < 0)
			failed_watch(fleet, w);
	}
	if (w->processes)
		processes_refresh(w->processes, pids, discovery_pids(&x->discovery, n->id, pids, ARRAY_LEN(pids)),
				  n->n_processes);
	if (w->open && !was_open)
		begin_watch(fleet, w);
}

enum { SCAN_BUDGET_MS = 2 };

/* In steps: with 10,000 processes a whole scan takes 100 ms of CPU. */
static void look_shared(struct finder *x, struct fleet *fleet, int64_t now_ns)
{
	int rc = discovery_step(&x->discovery, SCAN_BUDGET_MS * NSEC_PER_MSEC, NULL);
	x->next_look_ns = rc == DISCOVERY_MORE ? now_ns : now_ns + discovery_pause_ns(&x->discovery);
	if (rc == DISCOVERY_MORE || rc < 0)
		return;
	forget_all(fleet);
	for (size_t i = 0; i < x->discovery.n; i++)
		look_at_neighbour(x, fleet, &x->discovery.list[i]);
	remove_unseen(fleet, "no process of it is visible any more");
}

/* ---- which way ---- */

static int decide_way(struct finder *x, struct fault *f)
{
	const struct target_query *q = x->query;
	x->way = q->cgroup        ? WAY_CGROUP
		 : q->pid         ? WAY_PID
		 : q->node        ? WAY_NODE
		 : q->host_cgroup ? WAY_HOST_VIEW
				  : WAY_OWN_CGROUP;
	if (x->way == WAY_NODE)
		allow_many_files();
	if (x->way != WAY_OWN_CGROUP)
		return 0;
	int rc = discovery_open(&x->discovery, x->tree, q->container, f);
	/* without a /proc there are no neighbours; the own cgroup then says so itself */
	if (rc == -EINVAL)
		return rc;
	if (rc == 0 && discovery_scan(&x->discovery, NULL) >= 0 && x->discovery.way == DISCOVERY_SHARED)
		x->way = WAY_SHARED_PIDS;
	else if (q->container)
		return fault_set(
			f, -ENOENT,
			"--container %s: no other container is visible: set shareProcessNamespace (docker: --pid)",
			q->container);
	return 0;
}

int finder_open(struct finder *x, const struct tree *t, const struct target_query *q, struct fleet *fleet,
		struct fault *f)
{
	*x = (struct finder){.query = q, .tree = t, .discovery = DISCOVERY_CLOSED};
	int rc = decide_way(x, f);
	fleet->way = target_way_name(x->way);
	return rc;
}

static void look_for_pressure(struct fleet *fleet)
{
	for (size_t i = 0; i < fleet->n; i++)
		if (fleet->watches[i]->open)
			reader_reopen_pressure(&fleet->watches[i]->reader, &fleet->watches[i]->target,
					       &fleet->watches[i]->now.snap);
}

void finder_look(struct finder *x, struct fleet *fleet, int64_t now_ns, bool force)
{
	if (!force && now_ns < x->next_look_ns)
		return;
	x->next_look_ns = now_ns + LOOK_AGAIN_MS * NSEC_PER_MSEC;
	switch (x->way) {
	case WAY_HOST_VIEW:
		look_host(x, fleet);
		break;
	case WAY_NODE:
		look_node(x, fleet);
		break;
	case WAY_SHARED_PIDS:
		look_shared(x, fleet, now_ns);
		break;
	default:
		look_single(x, fleet);
	}
	look_for_pressure(fleet);
}

void finder_lost(struct finder *x, struct fleet *fleet, struct watch *w, const struct fault *why)
{
	int64_t soon_ns = clock_mono_ns() + LOOK_AGAIN_LOST_MS * NSEC_PER_MSEC;
	w->why = *why;
	watch_close(w);
	w->denied = w->lost = true;
	event_target_lost(fleet, w, fault_text(why));
	if (x->next_look_ns > soon_ns)
		x->next_look_ns = soon_ns;
}

void finder_close(struct finder *x)
{
	if (x->discovery.state)
		discovery_close(&x->discovery);
}
