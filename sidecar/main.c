/* headroom-sidecar: watches one container or a pod, and says what it waits for. */
#include "health.h"
#include "install.h"
#include "once.h"
#include "opts.h"
#include "sampler.h"
#include "target.h"

#include <string.h>

enum output { OUTPUT_AUTO, OUTPUT_JSON, OUTPUT_TEXT };
static const char *const output_names[] = {"auto", "json", "text", NULL};
static const char *const log_key_names[] = {"default", "gcp", "ecs", NULL};

static struct {
	struct target_query query;
	struct sampler_options sampler;
	bool once;
	int output, log_keys;
} options = {
	.query = {.root = "/"},
	.sampler = {.interval_ns = 10 * NSEC_PER_MSEC,
		    .log_every_ns = 60 * NSEC_PER_SEC,
		    .event_window_ns = 10 * NSEC_PER_SEC},
};

#define MS UINT64_C(1000000)
#define TEXT(name, into, arg, help)                                                                                    \
	{                                                                                                              \
		name, 0, OPT_TEXT, into, arg, help, NULL, 0, 0, NULL                                                   \
	}
#define DURATION(name, into, least, help)                                                                              \
	{                                                                                                              \
		name, 0, OPT_DURATION, into, "TIME", help, NULL, least, 0, NULL                                        \
	}

static const struct opt table[] = {
	{"once", 0, OPT_FLAG, &options.once, NULL, "print one report and end: 0, or 1 with `error` set", NULL, 0, 0,
	 NULL},
	{"output", 'o', OPT_CHOICE, &options.output, "json|text",
	 "form of report and log (default: text on a terminal)", output_names, 0, 0, NULL},
	TEXT("pid", &options.query.pid, "N", "watch the cgroup of this process (shared PID namespace)"),
	TEXT("cgroup", &options.query.cgroup, "PATH", "watch this cgroup: a folder or its name"),
	TEXT("container", &options.query.container, "NAME",
	     "in a shared PID namespace, only this container (name or id)"),
	TEXT("host-cgroup", &options.query.host_cgroup, "PATH", "the host's cgroup tree is mounted there"),
	TEXT("pod-uid", &options.query.pod_uid, "UID", "watch this pod (with --host-cgroup)"),
	TEXT("container-id", &options.query.container_id, "ID", "watch this container only (with --host-cgroup)"),
	{"node", 0, OPT_FLAG, &options.query.node, NULL, "watch every pod of the node (with --host-cgroup)", NULL, 0, 0,
	 NULL},
	TEXT("pod-logs", &options.query.pod_logs, "DIR", "the node's /var/log/pods: names for --node"),
	TEXT("container-logs", &options.query.container_logs, "DIR",
	     "the node's /var/log/containers: names for --node"),
	TEXT("root", &options.query.root, "DIR", "read /proc and /sys below this folder (default /)"),
	DURATION("interval", &options.sampler.interval_ns, 1 * MS, "time between samples (default 10ms)"),
	DURATION("log-every", &options.sampler.log_every_ns, 100 * MS, "time between summaries (default 60s)"),
	DURATION("event-window", &options.sampler.event_window_ns, 500 * MS,
		 "time over which a warning is judged (default 10s)"),
	TEXT("listen", &options.sampler.listen, "ADDR:PORT",
	     "serve /metrics, /report, /healthz, /livez (default: off)"),
	{"log-keys", 0, OPT_CHOICE, &options.log_keys, "default|gcp|ecs", "names of time, level and message",
	 log_key_names, 0, 0, NULL},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL, NULL, 0, 0, NULL},
};

static const struct opts_spec spec = {
	.program = "headroom-sidecar",
	.usage = "[options] [exec -- COMMAND... | install DIR | health]",
	.summary = "Says what the container beside it is limited to, and what it is waiting for.",
	.examples = "  headroom-sidecar --once -o text            what am I limited to?\n"
		    "  headroom-sidecar --listen 0.0.0.0:9464     watch, warn in JSON lines, serve /metrics\n"
		    "  headroom-sidecar --host-cgroup /host/sys/fs/cgroup --pod-uid $POD_UID\n"
		    "  headroom-sidecar --host-cgroup /host/sys/fs/cgroup --node --interval 1s\n"
		    "  headroom-sidecar exec -- ./server          run a command and watch it\n"
		    "  headroom-sidecar install /shared           copy this binary (scratch images have no cp)\n"
		    "  headroom-sidecar health                    does the one at --listen (127.0.0.1:9464) answer?\n",
	.table = table,
	.notes = "Which target: --cgroup or --pid, else --host-cgroup, else the other containers of a shared PID\n"
		 "namespace, else its own cgroup. The first log line says which.\n"
		 "Exit: 0 ended by SIGTERM or SIGINT, 1 failure, 2 usage; exec: the status of the command.\n",
};

static int fail(int status, const struct fault *f)
{
	fprintf(stderr, "headroom-sidecar: %s\n", fault_text(f));
	return status;
}

static bool wants_text(void)
{
	return options.output == OUTPUT_TEXT || (options.output == OUTPUT_AUTO && isatty(STDOUT_FILENO));
}

static int run_once(const struct tree *t)
{
	struct fault f = {0};
	int status = once_run(t, &options.query, stdout, wants_text(), &f);
	return f.err ? fail(1, &f) : status;
}

static int run_sampler(const struct tree *t, char *const *command)
{
	struct fault f = {0};
	struct log log = {
		.fd = STDOUT_FILENO,
		.keys = (enum log_keys)options.log_keys,
		.text = wants_text(),
	};
	/* the command owns stdout: what is said about it goes to stderr */
	if (command)
		log.fd = STDERR_FILENO;
	options.sampler.command = command;
	int status = sampler_run(t, &options.query, &options.sampler, &log, &f);
	return f.err ? fail(status, &f) : status;
}

/* What stands behind the options: nothing, or a sub-command. */
static int check_words(int argc, char **argv, struct fault *f)
{
	if (argc > 1 && strcmp(argv[1], "exec") == 0)
		return argc > 2 ? 0 : fault_set(f, -22, "exec needs a command: headroom-sidecar exec -- COMMAND...");
	if (argc > 1 && strcmp(argv[1], "install") == 0)
		return argc == 3 ? 0 : fault_set(f, -22, "install needs one folder: headroom-sidecar install DIR");
	if (argc > 1 && strcmp(argv[1], "health") == 0)
		return argc == 2 ? 0
				 : fault_set(f, -22,
					     "health takes options only: headroom-sidecar health --listen ADDR:PORT");
	return argc == 1 ? 0
			 : fault_set(f, -22, "'%s' is not understood: the sub-commands are exec, install and health",
				     argv[1]);
}

int main(int argc, char **argv)
{
	struct fault f = {0};
	CLEANUP_TREE struct tree t = TREE_CLOSED;
	int status = opts_begin(&spec, &argc, argv, stdout, stderr);
	if (status >= 0)
		return status;
	if (check_words(argc, argv, &f) < 0 || target_check_query(&options.query, &f) < 0)
		return fail(2, &f);
	if (argc > 1 && strcmp(argv[1], "install") == 0)
		return install_self(argv[2], &f) < 0 ? fail(1, &f) : 0;
	if (argc > 1 && strcmp(argv[1], "health") == 0)
		return health_check(options.sampler.listen ? options.sampler.listen : HEALTH_DEFAULT_LISTEN, &f) < 0
			       ? fail(1, &f)
			       : 0;
	if (options.once && options.query.node) {
		(void)fault_set(&f, -22, "--once looks at one target: --node watches all");
		return fail(2, &f);
	}
	if (tree_open(&t, options.query.root, &f) < 0)
		return fail(1, &f);
	return options.once ? run_once(&t) : run_sampler(&t, argc > 1 ? argv + 2 : NULL);
}
