/* headroom-sidecar: watches one container, a pod or a node. */
#include "once.h"
#include "opts.h"
#include "target.h"

static const char *const output_names[] = {"json", "text", NULL};

static struct {
	struct target_query query;
	bool once;
	int output;
} options = {.query = {.root = "/"}};

static const struct opt table[] = {
	{"once", 0, OPT_FLAG, &options.once, NULL, "print one report and end: 0, or 1 with `error` set", NULL, 0, 0,
	 NULL},
	{"output", 'o', OPT_CHOICE, &options.output, "json|text", "form of the report", output_names, 0, 0, NULL},
	{"pid", 0, OPT_TEXT, &options.query.pid, "N", "watch the cgroup of this process (shared PID namespace)", NULL,
	 0, 0, NULL},
	{"cgroup", 0, OPT_TEXT, &options.query.cgroup, "PATH", "watch this cgroup", NULL, 0, 0, NULL},
	{"host-cgroup", 0, OPT_TEXT, &options.query.host_cgroup, "PATH", "mount of the host's /sys/fs/cgroup", NULL, 0,
	 0, NULL},
	{"pod-uid", 0, OPT_TEXT, &options.query.pod_uid, "UID", "watch this pod (with --host-cgroup)", NULL, 0, 0,
	 NULL},
	{"container-id", 0, OPT_TEXT, &options.query.container_id, "ID", "watch this container (with --host-cgroup)",
	 NULL, 0, 0, NULL},
	{"root", 0, OPT_TEXT, &options.query.root, "DIR", "read /proc and /sys below this folder (default /)", NULL, 0,
	 0, NULL},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL, NULL, 0, 0, NULL},
};

static const struct opts_spec spec = {
	.program = "headroom-sidecar",
	.usage = "[options]",
	.summary = "Says what the container beside it is limited to, and what it is waiting for.",
	.examples = "  headroom-sidecar --once -o text\n",
	.table = table,
};

static int run_once(const struct tree *t)
{
	bool failed;
	CLEANUP_JSON json_value *report = once_report(t, &options.query, &failed);
	if (options.output == 0) {
		int rc = json_write(report, stdout, 0);
		if (rc < 0) {
			fprintf(stderr, "headroom-sidecar: cannot write the report\n");
			return 1;
		}
	} else {
		once_print_text(report, stdout);
	}
	return failed ? 1 : 0;
}

int main(int argc, char **argv)
{
	struct fault f = {0};
	CLEANUP_TREE struct tree t = TREE_CLOSED;
	int status = opts_begin(&spec, &argc, argv, stdout, stderr);
	if (status >= 0)
		return status;
	if (target_check_query(&options.query, &f) < 0) {
		fprintf(stderr, "headroom-sidecar: %s\n", fault_text(&f));
		return 2;
	}
	if (tree_open(&t, options.query.root, &f) < 0) {
		fprintf(stderr, "headroom-sidecar: %s\n", fault_text(&f));
		return 1;
	}
	return run_once(&t);
}
