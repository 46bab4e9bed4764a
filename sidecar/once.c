#include "once.h"

#include "describe.h"
#include "discover.h"
#include "mismatch.h"
#include "snapshot.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { SCHEMA_VERSION = 1 };

/* Everything that one report is made of; what could not be had stays empty. */
struct findings {
	struct target target;
	struct cpu_counts cpus;
	struct reader reader;
	struct snapshot snap;
	struct limit_view view;
	bool have_snapshot;
	struct fault fault; /* why the limit is unknown, else empty */
};

static void look(struct findings *w, const struct tree *t, const struct target_query *q)
{
	int rc = target_resolve(&w->target, t, q, &w->fault);
	cpus_read(&w->cpus, t,
		  w->target.is_host_view ? NULL
		  : w->target.proc_name  ? w->target.proc_name
					 : "self",
		  &w->target.cgroup);
	w->view.cpus = w->cpus;
	if (rc < 0 || reader_open(&w->reader, &w->target.cgroup, &w->fault) < 0)
		return;
	if (reader_take(&w->reader, SNAPSHOT_FULL, &w->snap, &w->fault) < 0)
		return;
	w->have_snapshot = true;
	w->view = limit_view_of(&w->reader, &w->snap, &w->cpus);
	/* a pressure or counter file that cannot be read is no reason to doubt the limit */
	if (w->view.limit.status != LIMIT_UNKNOWN)
		w->fault.err = 0;
}

/* ---- the parts of the object ---- */

static void put_stats(json_value *o, const struct findings *w)
{
	if (!w->have_snapshot) {
		json_set_null(o, "cpu_stat");
		json_set_null(o, "throttle_stat");
		return;
	}
	json_value *own = json_new_object();
	describe_counters(own, &w->snap.levels[0].counters, COUNTER_USAGE, COUNTER_BURST);
	json_set_value(o, "cpu_stat", own);
	if (w->view.limit.status != LIMIT_SET) {
		json_set_null(o, "throttle_stat");
		return;
	}
	json_value *binding = json_new_object();
	json_set_text(binding, "cgroup", w->reader.levels[w->view.limit.level].name);
	describe_counters(binding, &w->snap.levels[w->view.limit.level].counters, COUNTER_NR_PERIODS,
			  COUNTER_THROTTLED);
	json_set_value(o, "throttle_stat", binding);
}

static json_value *psi_line(const struct psi_line *line)
{
	json_value *o = json_new_object();
	json_set_real(o, "avg10", line->avg10);
	json_set_real(o, "avg60", line->avg60);
	json_set_real(o, "avg300", line->avg300);
	json_set_u64(o, "total", line->total_usec);
	return o;
}

static void put_pressure(json_value *o, const struct findings *w)
{
	static const char *const keys[PSI_RESOURCES][2] = {
		{"psi_cpu", "psi_cpu_status"}, {"psi_io", "psi_io_status"}, {"psi_memory", "psi_memory_status"}};
	for (size_t i = 0; i < PSI_RESOURCES; i++) {
		enum psi_status status = w->have_snapshot ? w->snap.psi_status[i] : PSI_ABSENT;
		json_value *psi = NULL;
		if (status == PSI_OK) {
			psi = json_new_object();
			json_set_value(psi, "some", psi_line(&w->snap.psi[i].some));
			if (w->snap.psi[i].has_full)
				json_set_value(psi, "full", psi_line(&w->snap.psi[i].full));
			else
				json_set_null(psi, "full");
			json_set_value(o, keys[i][0], psi);
		} else {
			json_set_null(o, keys[i][0]);
		}
		json_set_text(o, keys[i][1], psi_status_name(status));
	}
}

/* One container of a pod in the host view: its own quota and what is left of it below the pod's. */
static json_value *container_object(const struct findings *w, const struct tree *t, const struct host_container *c)
{
	CLEANUP_CGROUP_TARGET struct cgroup_target target = CGROUP_TARGET_NONE;
	struct reader reader;
	struct snapshot snap = {0};
	json_value *o = json_new_object();
	json_set_text(o, "id", c->id);
	if (hostview_target(&target, &w->target.host, t, c->below, NULL) < 0 || reader_open(&reader, &target, NULL) < 0)
		return o;
	if (reader_take(&reader, SNAPSHOT_FULL, &snap, NULL) == 0) {
		const struct level_figures *own = &snap.levels[0];
		struct limit limit = limit_of(&snap);
		bool has_own = own->state == QUOTA_READ && own->quota.quota_usec != QUOTA_NONE;
		json_set_real(o, "quota_cpus", has_own ? cpu_quota_cpus(&own->quota) : NAN);
		json_set_real(o, "effective_quota_cpus",
			      limit.status == LIMIT_SET ? cpu_quota_cpus(&limit.quota) : NAN);
	}
	reader_close(&reader);
	return o;
}

static void put_containers(json_value *o, const struct findings *w, const struct tree *t)
{
	if (!w->target.is_host_view)
		return;
	json_value *list = json_new_array();
	for (size_t i = 0; i < w->target.pod.n; i++)
		json_add_value(list, container_object(w, t, &w->target.pod.containers[i]));
	json_set_value(o, "containers", list);
}

static void put_scope(json_value *o, const struct findings *w)
{
	bool is_pod = w->have_snapshot && w->target.is_host_view && w->target.pod.below &&
		      strcmp(w->reader.levels[0].name, w->target.pod.below) == 0;
	json_set_text(o, "scope", is_pod ? "pod" : "container");
	json_set_text(o, "cgroup", w->have_snapshot ? w->reader.levels[0].name : NULL);
}

static json_value *once_report(const struct tree *t, const struct target_query *q, bool *failed)
{
	struct findings w = {.view = {.limit = {.status = LIMIT_UNKNOWN}}};
	look(&w, t, q);
	json_value *o = json_new_object();
	json_set_u64(o, "schema_version", SCHEMA_VERSION);
	json_set_text(o, "cgroup_version", cgroup_version_name(w.target.cgroup.version));
	json_set_text(o, "cpu_controller", hierarchy_name(w.target.cgroup.cpu_controller));
	put_scope(o, &w);
	describe_limit(o, &w.view);
	put_stats(o, &w);
	put_pressure(o, &w);
	json_set_value(o, "runtimes",
		       w.have_snapshot ? mismatch_runtimes(&w.snap, &w.cpus, w.reader.hierarchy) : json_new_array());
	put_containers(o, &w, t);
	*failed = w.view.limit.status == LIMIT_UNKNOWN;
	json_set_text(o, "error", *failed ? fault_text(&w.fault) : NULL);
	reader_close(&w.reader);
	target_release(&w.target);
	return o;
}

/* ---- for people ---- */

static void print_limit(const json_value *r, FILE *out)
{
	const char *status = json_get_text(r, "quota_status");
	bool hidden = false;
	double cpus = NAN;
	json_get_bool(r, "ancestors_hidden", &hidden);
	if (json_get_real(r, "quota_cpus", &cpus)) {
		int64_t quota = 0;
		int64_t period = 0;
		json_get_i64(r, "quota_usec", &quota);
		json_get_i64(r, "period_usec", &period);
		fprintf(out, "limit       %g CPUs (%" PRId64 " us per %" PRId64 " us), set at cgroup %s\n", cpus, quota,
			period, json_get_text(r, "binding_cgroup"));
	} else if (status && *status == 'u' && status[2] == 'l') {
		fprintf(out, "limit       %s\n",
			hidden ? "none is visible; a cgroup above, outside of this view, may have one" : "none");
	} else {
		fprintf(out, "limit       unknown: %s\n", json_get_text(r, "error"));
	}
}

static void print_cpus(const json_value *r, FILE *out)
{
	int64_t nproc = 0;
	double effective = 0;
	bool mismatch = false;
	if (json_get_i64(r, "nproc", &nproc))
		fprintf(out, "nproc       %" PRId64 "\n", nproc);
	if (json_get_real(r, "effective_cpus", &effective))
		fprintf(out, "effective   %g CPUs\n", effective);
	if (json_get_bool(r, "mismatch", &mismatch) && mismatch)
		fprintf(out,
			"            a program that sizes its thread pool by nproc starts %.3g threads for each CPU it may use\n",
			(double)nproc / effective);
}

static void print_throttling(const json_value *r, FILE *out)
{
	const json_value *t = json_get(r, "throttle_stat");
	uint64_t periods;
	uint64_t throttled;
	uint64_t usec;
	if (!json_get_u64(t, "nr_periods", &periods) || !json_get_u64(t, "nr_throttled", &throttled) ||
	    !json_get_u64(t, "throttled_usec", &usec))
		return;
	fprintf(out,
		"throttled   %" PRIu64 " of %" PRIu64
		" active periods since the cgroup was made, %.1f ms (summed over CPUs)\n",
		throttled, periods, (double)usec / 1000);
}

static void once_print_text(const json_value *r, FILE *out)
{
	static const char *const psi[][2] = {{"psi_cpu", "cpu"}, {"psi_io", "io"}, {"psi_memory", "memory"}};
	fprintf(out, "cgroup      %s (cgroup %s, cpu controller on %s)\n",
		json_get_text(r, "cgroup") ? json_get_text(r, "cgroup") : "?", json_get_text(r, "cgroup_version"),
		json_get_text(r, "cpu_controller"));
	print_limit(r, out);
	print_cpus(r, out);
	print_throttling(r, out);
	for (size_t i = 0; i < ARRAY_LEN(psi); i++) {
		double avg10;
		const json_value *some = json_get(json_get(r, psi[i][0]), "some");
		if (json_get_real(some, "avg10", &avg10))
			fprintf(out, "%s pressure%*s%.2f%% of the last 10 s some task waited\n", psi[i][1],
				i == 0   ? 1
				: i == 1 ? 2
					 : 1,
				"", avg10);
	}
}

/* ---- one target or several ---- */

struct job {
	const struct tree *tree;
	FILE *out;
	bool text;
	struct fault *f;
};

static int print_one(const struct job *job, const struct target_query *q, const struct neighbour *n)
{
	bool failed;
	char label[NEIGHBOUR_NAME_SIZE];
	CLEANUP_JSON json_value *report = once_report(job->tree, q, &failed);
	if (n) {
		json_set_text(report, "container", neighbour_label(n, label));
		json_set_text(report, "container_id", n->id);
		if (n->pod_uid[0])
			json_set_text(report, "pod_uid", n->pod_uid);
	}
	if (job->text) {
		if (n)
			fprintf(job->out, "container   %s\n", neighbour_label(n, label));
		once_print_text(report, job->out);
	}
	int rc = job->text ? (fflush(job->out) == 0 ? 0 : -EIO) : json_write(report, job->out, 0);
	if (rc < 0)
		fault_set(job->f, -rc, "cannot write the report");
	return rc < 0 || failed;
}

static int print_neighbour(const struct job *job, const struct target_query *q, const struct neighbour *n)
{
	char pid[16];
	struct target_query one = *q;
	snprintf(pid, sizeof pid, "%d", (int)n->pids[0]);
	one.pid = pid;
	return print_one(job, &one, n);
}

int once_run(const struct tree *t, const struct target_query *q, FILE *out, bool text, struct fault *f)
{
	const struct job job = {.tree = t, .out = out, .text = text, .f = f};
	struct discovery d = DISCOVERY_CLOSED;
	int status = 0;
	if (q->pid || q->cgroup || q->host_cgroup)
		return print_one(&job, q, NULL);
	int rc = discovery_open(&d, t, q->container, f);
	if (rc == -EINVAL)
		return rc;
	bool shared = rc == 0 && discovery_scan(&d, NULL) >= 0 && d.way == DISCOVERY_SHARED && d.n > 0;
	for (size_t i = 0; shared && i < d.n; i++)
		status |= print_neighbour(&job, q, &d.list[i]);
	if (!shared && q->container)
		status = fault_set(
			f, -ENOENT,
			"--container %s: no such container is visible: set shareProcessNamespace (docker: --pid)",
			q->container);
	else if (!shared)
		status = print_one(&job, q, NULL);
	if (d.state)
		discovery_close(&d);
	return status;
}
