#include "commands.h"

#include "clock.h"
#include "demand.h"
#include "describe.h"
#include "kv.h"
#include "mismatch.h"
#include "opts.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <string.h>

enum { BUSY_MAX = 256, SAMPLE_MS = 10 };

static const char *const output_names[] = {"text", "json", NULL};

static struct {
	int64_t seconds_ns;
	uint64_t busy;
	int output;
	const char *root;
	const char *cgroup;
	const char *pid;
} options = {.seconds_ns = 5 * NSEC_PER_SEC, .root = "/"};

static const struct opt table[] = {
	{"seconds", 0, OPT_DURATION, &options.seconds_ns, "TIME", "how long to look (default 5s)", NULL, 100000000,
	 3600 * UINT64_C(1000000000), NULL},
	{"busy", 0, OPT_U64, &options.busy, "N", "make the load itself: N threads that compute", NULL, 0, BUSY_MAX,
	 NULL},
	{"output", 'o', OPT_CHOICE, &options.output, "text|json", "form of the answer (default text)", output_names, 0,
	 0, NULL},
	{"cgroup", 0, OPT_TEXT, &options.cgroup, "PATH", "look at this cgroup instead of its own", NULL, 0, 0, NULL},
	{"pid", 0, OPT_TEXT, &options.pid, "N", "look at the cgroup of this process", NULL, 0, 0, NULL},
	{"root", 0, OPT_TEXT, &options.root, "DIR", "read /proc and /sys below this folder (default /)", NULL, 0, 0,
	 NULL},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL, NULL, 0, 0, NULL},
};

static const struct opts_spec spec = {
	.program = "headroom check",
	.usage = "[options]",
	.summary = "What am I limited to, and does it hurt now?",
	.examples = "  headroom check                 look for 5 s at what this container does anyway\n"
		    "  headroom check --busy 4        with 4 threads that compute, in this container\n"
		    "  docker run --rm --cpus=0.3 headroom check --busy 1\n",
	.table = table,
	.notes = "Exit: 0 answered, 1 the cgroup could not be read, 2 usage.\n",
};

/* Everything that is seen during one look. */
struct look {
	struct tree tree;
	struct cgroup_target target;
	struct cpu_counts cpus;
	struct reader reader;
	struct snapshot from, to;
	struct cpu_ticks ticks_from, ticks_to;
	bool have_ticks;
	struct demand demand;
	struct window window;
	struct verdict verdict;
	struct limit_view limit;
};

/* ---- the load ---- */

static atomic_bool busy_stop;

static void *compute(void *unused)
{
	volatile uint64_t x = 88172645463325252;
	(void)unused;
	while (!atomic_load_explicit(&busy_stop, memory_order_relaxed))
		for (int i = 0; i < 10000; i++)
			x = x * 6364136223846793005 + 1442695040888963407;
	return NULL;
}

static unsigned start_load(pthread_t *threads)
{
	unsigned n = 0;
	while (n < options.busy && pthread_create(&threads[n], NULL, compute, NULL) == 0)
		n++;
	if (n < options.busy)
		fprintf(stderr, "headroom check: only %u of %" PRIu64 " busy threads could be started\n", n,
			options.busy);
	return n;
}

static void end_load(const pthread_t *threads, unsigned n)
{
	atomic_store(&busy_stop, true);
	for (unsigned i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
}

/* ---- looking ---- */

static volatile int interrupted;

static void on_interrupt(int signal_number)
{
	interrupted = signal_number;
}

static bool read_ticks(const struct tree *t, struct cpu_ticks *out)
{
	/* one line for each CPU and each interrupt: large nodes have more than a page */
	char text[65536];
	return textfile_read_tree(t, "proc/stat", text, sizeof text, NULL) > 0 &&
	       kv_read_cpu_ticks(text, out, NULL) == 0;
}

static int open_look(struct look *l, struct fault *f)
{
	int rc = tree_open(&l->tree, options.root, f);
	if (rc < 0)
		return rc;
	const char *proc_name = options.pid ? options.pid : "self";
	rc = options.cgroup ? cgroup_resolve_path(&l->target, &l->tree, options.cgroup, f)
			    : cgroup_resolve_process(&l->target, &l->tree, proc_name, f);
	if (rc == 0)
		rc = reader_open(&l->reader, &l->target, f);
	if (rc < 0)
		return rc;
	cpus_read(&l->cpus, &l->tree, proc_name, &l->target);
	demand_init(&l->demand);
	return reader_take(&l->reader, SNAPSHOT_FULL, &l->from, f);
}

static void take_demand(struct look *l)
{
	struct limit limit = limit_of(&l->to);
	const struct counters *own = &l->to.levels[0].counters;
	const struct counters *binding = &l->to.levels[limit.level].counters;
	struct cpu_quota quota = {.quota_usec = QUOTA_NONE, .period_usec = CPU_PERIOD_DEFAULT_USEC};
	if (limit.status == LIMIT_SET)
		quota = limit.quota;
	if (counters_have(own, COUNTER_USAGE))
		demand_take(&l->demand, l->to.mono_ns, own->value[COUNTER_USAGE], &quota,
			    binding->value[COUNTER_NR_PERIODS]);
}

static int watch(struct look *l, struct fault *f)
{
	int64_t at_ns = clock_mono_ns();
	int64_t end_ns = at_ns + options.seconds_ns;
	l->to = l->from;
	l->have_ticks = read_ticks(&l->tree, &l->ticks_from);
	while (at_ns < end_ns && !interrupted) {
		at_ns += SAMPLE_MS * NSEC_PER_MSEC;
		if (clock_sleep_until_ns(at_ns, &interrupted) < 0)
			break;
		int rc = reader_take(&l->reader, SNAPSHOT_LIMITS, &l->to, f);
		if (rc < 0)
			return rc;
		take_demand(l);
	}
	l->have_ticks = l->have_ticks && read_ticks(&l->tree, &l->ticks_to);
	return reader_take(&l->reader, SNAPSHOT_FULL, &l->to, f);
}

static void judge(struct look *l)
{
	window_between(&l->window, &l->from, &l->to);
	l->limit = limit_view_of(&l->reader, &l->to, &l->cpus);
	struct verdict_input in = {
		.window = &l->window,
		.limit = l->limit.limit,
		.ancestors_hidden = l->reader.ancestors_hidden,
		.nproc = l->cpus.have_nproc ? (double)l->cpus.nproc : NAN,
		.have_ticks = l->have_ticks && l->ticks_to.total > l->ticks_from.total,
		.ticks =
			{
				.total = l->ticks_to.total - l->ticks_from.total,
				.idle = l->ticks_to.idle - l->ticks_from.idle,
				.iowait = l->ticks_to.iowait - l->ticks_from.iowait,
				.steal = l->ticks_to.steal - l->ticks_from.steal,
			},
	};
	verdict_judge(&in, &verdict_default_thresholds, &l->verdict);
}

/* ---- telling ---- */

static void print_limit(const struct look *l, FILE *out)
{
	const struct limit_view *v = &l->limit;
	double effective = cpus_effective(&v->cpus, &v->limit);
	if (v->limit.status == LIMIT_SET)
		fprintf(out, "limit      %.4g CPUs: %" PRIu64 " us of each %" PRIu64 " us, set at cgroup %s\n",
			cpu_quota_cpus(&v->limit.quota), v->limit.quota.quota_usec, v->limit.quota.period_usec,
			v->binding_cgroup);
	else
		fprintf(out, "limit      %s\n",
			v->ancestors_hidden ? "none that is visible; a cgroup above, outside of this view, may have one"
					    : "none");
	if (!v->cpus.have_nproc)
		return;
	fprintf(out, "nproc      %u", v->cpus.nproc);
	if (effective < v->cpus.nproc)
		fprintf(out, ", but only %.4g may be used: a pool of nproc threads has %.3g for each", effective,
			v->cpus.nproc / effective);
	fputc('\n', out);
}

static void print_throttling(const struct look *l, FILE *out)
{
	size_t level = l->limit.limit.status == LIMIT_SET ? l->limit.limit.level : 0;
	uint64_t throttled = window_count(&l->window, level, COUNTER_NR_THROTTLED);
	uint64_t periods = window_count(&l->window, level, COUNTER_NR_PERIODS);
	double stop_ms = (double)window_count(&l->window, level, COUNTER_THROTTLED) / 1e3;
	if (l->limit.limit.status != LIMIT_SET)
		return;
	fprintf(out, "throttled  %" PRIu64 " of %" PRIu64 " active periods", throttled, periods);
	if (throttled)
		fprintf(out, ", %.0f ms of stop in all (summed over CPUs), %.1f ms for each", stop_ms,
			stop_ms / (double)throttled);
	fputc('\n', out);
	if (l->demand.exhausted)
		fprintf(out, "           the budget of a period was spent after %.0f ms on average\n",
			demand_exhausted_at_ms(&l->demand));
}

static void print_pressure(const struct look *l, FILE *out)
{
	static const char *const names[PSI_RESOURCES] = {"CPU", "I/O", "memory"};
	fputs("pressure  ", out);
	for (enum psi_resource i = 0; i < PSI_RESOURCES; i++) {
		double share = window_psi_share(&l->window, i);
		if (isnan(share))
			fprintf(out, " %s %s%s", names[i], psi_status_name(l->to.psi_status[i]),
				i + 1 < PSI_RESOURCES ? "," : "");
		else
			fprintf(out, " %s %.1f%%%s", names[i], share * 100, i + 1 < PSI_RESOURCES ? "," : "");
	}
	fputs(" of the time some task waited\n", out);
}

static void print_text(const struct look *l, FILE *out)
{
	char settings[MISMATCH_SETTINGS_SIZE];
	double cores = window_cores(&l->window);
	print_limit(l, out);
	fprintf(out, "looked     %.1f s", (double)l->window.duration_ns / 1e9);
	if (options.busy)
		fprintf(out, ", with %" PRIu64 " busy thread%s made here", options.busy, options.busy == 1 ? "" : "s");
	fprintf(out, "\nused       %.3f CPUs", cores);
	if (l->limit.limit.status == LIMIT_SET)
		fprintf(out, ", %.0f%% of the limit", 100 * cores / cpu_quota_cpus(&l->limit.limit.quota));
	fputc('\n', out);
	print_throttling(l, out);
	print_pressure(l, out);
	fprintf(out, "\nverdict    %s: %s\nnext       %s\nwrong if   %s\n", cause_id(l->verdict.cause),
		l->verdict.words.sentence, l->verdict.words.next, l->verdict.words.disproof);
	mismatch_settings(&l->to, &l->cpus, l->reader.hierarchy, settings);
	if (settings[0])
		fprintf(out, "settings   %s\n", settings);
}

static json_value *as_json(const struct look *l)
{
	json_value *o = json_new_object();
	json_set_u64(o, "schema_version", 1);
	json_set_text(o, "cgroup_version", cgroup_version_name(l->target.version));
	json_set_text(o, "cgroup", l->reader.levels[0].name);
	json_set_u64(o, "busy_threads", options.busy);
	describe_limit(o, &l->limit);
	describe_window(o, &l->window, &l->limit.limit);
	json_set_real(o, "exhausted_at_ms", demand_exhausted_at_ms(&l->demand));
	describe_verdict(o, &l->verdict);
	json_set_value(o, "evidence", describe_evidence(&l->verdict));
	json_set_value(o, "runtimes", mismatch_runtimes(&l->to, &l->cpus, l->reader.hierarchy));
	json_set_bool(o, "interrupted", interrupted != 0);
	return o;
}

static int tell(const struct look *l)
{
	if (options.output == 0) {
		print_text(l, stdout);
		return fflush(stdout) == 0 ? 0 : 1;
	}
	CLEANUP_JSON json_value *o = as_json(l);
	return json_write(o, stdout, 0) == 0 ? 0 : 1;
}

int command_check(int argc, char **argv)
{
	static struct look l = {.target = {.tree = {.fd = -1}}};
	struct fault f = {0};
	pthread_t threads[BUSY_MAX];
	int status = opts_begin(&spec, &argc, argv, stdout, stderr);
	if (status >= 0)
		return status;
	if (argc > 1) {
		fprintf(stderr, "headroom check: '%.60s' is not understood: it takes options only\n", argv[1]);
		return 2;
	}
	struct sigaction on = {.sa_handler = on_interrupt};
	sigaction(SIGINT, &on, NULL);
	sigaction(SIGTERM, &on, NULL);
	int rc = open_look(&l, &f);
	if (rc == 0) {
		unsigned n = start_load(threads);
		rc = watch(&l, &f);
		end_load(threads, n);
	}
	if (rc == 0) {
		judge(&l);
		status = tell(&l);
	} else {
		fprintf(stderr, "headroom check: %s\n", fault_text(&f));
		status = 1;
	}
	reader_close(&l.reader);
	cgroup_target_release(&l.target);
	tree_close(&l.tree);
	return interrupted ? 128 + interrupted : status;
}
