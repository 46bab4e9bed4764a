#include "commands.h"

#include "clock.h"
#include "concurrency.h"
#include "cpus.h"
#include "host.h"
#include "http.h"
#include "program.h"
#include "remote_reading.h"
#include "sender.h"
#include "session.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct options {
	double cpu_ms, wait_ms, cpus;
	bool cpu_given, wait_given, cpus_given;
	const char *url, *report, *container;
	double seconds;
	int output;
};

static const char examples[] =
	"  headroom concurrency --cpu-ms 7 --wait-ms 100 --cpus 2\n"
	"  headroom concurrency --url http://localhost:8080/work             a headroom-probe tells its CPU itself\n"
	"  headroom concurrency --url http://app:8080/ --report http://app:9464/report\n"
	"                                     another service: CPU from the sidecar beside it\n";

static const char notes[] =
	"threads = (CPU + wait) / CPU x CPUs. With --url, one thread asks it again and again; nothing else should use the\n"
	"service meanwhile. Without --cpus: the limit that the sidecar of --report sees, else what may be used from here.\n"
	"Exit status: 0 answered, 1 it could not be measured, 2 wrong options, 130 or 143 interrupted.\n";

static int begin_options(struct options *o, int *argc, char **argv)
{
	const struct opt table[] = {
		{"cpu-ms", 0, OPT_DECIMAL, &o->cpu_ms, "MS", "CPU time of one request", NULL, 0, 0, &o->cpu_given},
		{"wait-ms", 0, OPT_DECIMAL, &o->wait_ms, "MS", "time that it waits for something else (default 0)",
		 NULL, 0, 0, &o->wait_given},
		{"cpus", 0, OPT_DECIMAL, &o->cpus, "C", "CPUs that the service may use", NULL, 0, 0, &o->cpus_given},
		{"url", 0, OPT_TEXT, &o->url, "URL", "measure both at this service instead", NULL, 0, 0, NULL},
		{"report", 0, OPT_TEXT, &o->report, "URL", "/report of the headroom-sidecar beside that service", NULL,
		 0, 0, NULL},
		{"container", 0, OPT_TEXT, &o->container, "NAME", "which one, when that sidecar watches several", NULL,
		 0, 0, NULL},
		{"seconds", 0, OPT_DECIMAL, &o->seconds, "S", "how long to measure (default 5)", NULL, 0, 0, NULL},
		{"output", 'o', OPT_CHOICE, &o->output, "table|json", "form of the answer (default table)",
		 session_output_names, 0, 0, NULL},
		{NULL, 0, OPT_FLAG, NULL, NULL, NULL, NULL, 0, 0, NULL},
	};
	const struct opts_spec spec = {.program = "headroom concurrency",
				       .usage = "--cpu-ms X --wait-ms Y | --url URL  [options]",
				       .summary = "How many threads does a service need under its CPU limit?",
				       .examples = examples,
				       .notes = notes,
				       .table = table};
	return opts_begin(&spec, argc, argv, stdout, stderr);
}

static const char *what_is_wrong(const struct options *o)
{
	if (!o->url && !o->cpu_given)
		return "give --cpu-ms and --wait-ms of a request, or --url to measure them";
	if (o->url && (o->cpu_given || o->wait_given))
		return "--url measures what --cpu-ms and --wait-ms say: give one or the other";
	if (!o->url && o->report)
		return "--report belongs to --url";
	if (o->container && !o->report)
		return "--container belongs to --report";
	if (o->cpu_given && !(o->cpu_ms > 0))
		return "--cpu-ms must be above 0: without CPU time, CPUs are not what is short";
	if (o->cpus_given && !(o->cpus > 0))
		return "--cpus must be above 0";
	if (o->seconds < 0.5 || o->seconds > 600)
		return "--seconds is out of range: 0.5 to 600";
	return NULL;
}

/* ---- the CPUs -------------------------------------------------------------------------------------------------------
 */

static int read_own(struct cpu_counts *cpus, double *effective, struct fault *f)
{
	CLEANUP_CGROUP_TARGET struct cgroup_target target = CGROUP_TARGET_NONE;
	struct tree tree = TREE_CLOSED;
	struct reader reader = {0};
	struct snapshot s = {0};
	int rc = tree_open(&tree, "/", f);
	if (rc == 0)
		rc = cgroup_resolve_process(&target, &tree, "self", f);
	if (rc == 0)
		rc = reader_open(&reader, &target, f);
	if (rc == 0)
		rc = reader_take(&reader, SNAPSHOT_LIMITS, &s, f);
	if (rc == 0) {
		struct limit limit = limit_of(&s);
		cpus_read(cpus, &tree, "self", &target);
		*effective = cpus_effective(cpus, &limit);
	}
	reader_close(&reader);
	tree_close(&tree);
	return rc;
}

/* Of what the sidecar said before, if it knows a limit. */
static int choose_cpus(struct concurrency *c, const struct options *o, double limit_cpus, struct fault *f)
{
	struct cpu_counts cpus = {0};
	c->nproc = host_nproc();
	if (o->cpus_given) {
		c->effective_cpus = o->cpus;
		c->cpus_source = "given";
		return 0;
	}
	if (limit_cpus > 0) {
		c->effective_cpus = limit_cpus;
		c->cpus_source = "the limit that the sidecar sees";
		return 0;
	}
	c->cpus_source = "what may be used from here";
	int rc = read_own(&cpus, &c->effective_cpus, f);
	if (rc == 0 && isnan(c->effective_cpus))
		rc = fault_set(f, -ENODATA, "the limit cannot be seen from here: --cpus");
	return rc;
}

/* ---- measuring ------------------------------------------------------------------------------------------------------
 */

struct measurement {
	const struct options *options;
	struct session session;
	struct http http;
	char token[64];
	double limit_cpus; /* 0 = none, or not known */
};

/* The window since the last question becomes *cpu_ms in all (NAN the first time). */
static int ask_sidecar(struct measurement *m, double *cpu_ms, struct fault *f)
{
	char url[1024];
	struct http_answer answer;
	struct reading reading;
	struct figures x;
	const char *container = m->options->container;
	snprintf(url, sizeof url, "%s%s%s", m->options->report, *m->token ? "?since=" : "", m->token);
	const struct http_request request = {.method = "GET", .url = url, .timeout_ns = 5 * NSEC_PER_SEC};
	int rc = http_call(&m->http, &request, &answer, f);
	if (rc < 0)
		return fault_prefix(f, rc, "--report");
	CLEANUP_JSON json_value *document = json_parse(answer.text, answer.len, NULL);
	free(answer.text);
	rc = reading_take(document, container ? container : "", &reading, f);
	if (rc < 0)
		return fault_prefix(f, rc, "--report");
	figures_init(&x);
	*cpu_ms = (double)NAN;
	m->limit_cpus = reading.limit_cpus;
	if (*m->token && reading.window) {
		figures_take_window(&x, reading.window, reading.limit_cpus);
		*cpu_ms = x.cpu_cores_mean * x.cpu_observed_s * 1000;
		if (x.nr_throttled != FIGURE_ABSENT && x.nr_throttled > 0)
			fputs("headroom concurrency: it was throttled meanwhile, and that counts as waiting here: the "
			      "number of threads is too high\n",
			      stderr);
	}
	snprintf(m->token, sizeof m->token, "%s", reading.token);
	return 0;
}

static int ask_service(struct measurement *m, struct run_result *out, struct fault *f)
{
	char duration[32];
	struct program load;
	snprintf(duration, sizeof duration, "%.0fms", m->options->seconds * 1000);
	const char *const argv[] = {m->session.load,
				    m->options->url,
				    "--pattern",
				    "closed",
				    "--threads",
				    "1",
				    "--warmup",
				    "0",
				    "--duration",
				    duration,
				    "--requests",
				    m->session.requests_path,
				    "-o",
				    "json",
				    NULL};
	struct child_spec spec = {.argv = argv};
	struct run_setup setup = session_run_setup(&m->session);
	program_init(&load, "headroom-load");
	int rc = program_start(&load, &spec, f);
	while (rc == 0 && !program_has_ended(&load)) {
		(void)clock_sleep_until_ns(clock_mono_ns() + 20 * NSEC_PER_MSEC, NULL);
		if (signals_take(&m->session.signals))
			rc = fault_set(f, -EINTR, "interrupted by SIG%s", sigabbrev_np(m->session.signals.last));
	}
	if (rc == 0 && child_exit_code(&load.child) != 0)
		rc = program_failed(&load, "while it measured", f);
	int end_rc = child_end(&load.child, SENDER_END_GRACE_NS, rc ? NULL : f);
	rc = rc ? rc : end_rc;
	if (rc == 0)
		rc = sender_take_requests(&setup, out, f);
	program_release(&load);
	return rc;
}

static double or_nan(int64_t ns)
{
	return ns == REQUEST_ABSENT ? (double)NAN : (double)ns;
}

/* Of the requests that were answered well; CPU and the wait for a CPU are NAN unless every answer tells them. */
static int take_requests(struct concurrency *c, const struct requests *r, double *cpu_wait_ms, struct fault *f)
{
	double n = 0;
	double response_ns = 0;
	double cpu_ns = 0;
	double cpu_wait_ns = 0;
	for (size_t i = 0; i < r->n; i++) {
		const struct request *q = &r->list[i];
		if (!request_ok(q))
			continue;
		n++;
		response_ns += (double)(q->done_ns - q->sent_ns);
		cpu_ns += or_nan(q->cpu_ns);
		cpu_wait_ns += or_nan(q->runqueue_wait_ns);
	}
	if (n < (double)r->n || n < 1)
		return fault_set(f, -EIO, "%.0f of %zu requests were answered well: no figures of those that failed", n,
				 r->n);
	c->requests = n;
	c->response_ms = response_ns / n / 1e6;
	c->cpu_ms = cpu_ns / n / 1e6;
	*cpu_wait_ms = cpu_wait_ns / n / 1e6;
	return 0;
}

/* Waiting for a CPU is none of the law's waiting: more CPUs would end it. Only the service can tell it apart. */
static int evaluate(struct measurement *m, struct concurrency *c, const struct requests *r, double sidecar_cpu_ms,
		    struct fault *f)
{
	double cpu_wait_ms = (double)NAN;
	int rc = take_requests(c, r, &cpu_wait_ms, f);
	if (rc < 0)
		return rc;
	c->source = "service";
	if (m->options->report) {
		c->source = "sidecar";
		c->cpu_ms = sidecar_cpu_ms / c->requests;
		if (isnan(c->cpu_ms))
			return fault_set(f, -ENODATA, "--report: the sidecar does not tell the CPU time used");
	}
	if (isnan(c->cpu_ms))
		return fault_set(f, -ENODATA,
				 "the answers do not tell their CPU time: --report, the /report of a headroom-sidecar "
				 "beside the service");
	c->wait_ms = fmax(0, c->response_ms - c->cpu_ms - (isnan(cpu_wait_ms) ? 0 : cpu_wait_ms));
	return 0;
}

static int measure(struct measurement *m, struct concurrency *c, struct fault *f)
{
	struct run_result result = {.measured = false};
	const struct session_options session = {.no_sidecar = true};
	double sidecar_cpu_ms = (double)NAN;
	int rc = session_open_remote(&m->session, &session, f);
	if (rc == 0 && m->options->report) {
		rc = http_open(&m->http, NULL, f);
		if (rc == 0)
			rc = ask_sidecar(m, &sidecar_cpu_ms, f);
	}
	if (rc == 0)
		rc = ask_service(m, &result, f);
	if (rc == 0 && m->options->report)
		rc = ask_sidecar(m, &sidecar_cpu_ms, f);
	if (rc == 0)
		rc = evaluate(m, c, &result.requests, sidecar_cpu_ms, f);
	run_result_release(&result);
	http_close(&m->http);
	return rc;
}

/* ---- the answer -----------------------------------------------------------------------------------------------------
 */

static int tell(const struct concurrency *c, int output, struct fault *f)
{
	if (output == SESSION_TABLE) {
		concurrency_write_text(stdout, c);
		return fflush(stdout) == 0 ? 0 : fault_set(f, errno, "standard output");
	}
	CLEANUP_JSON json_value *json = concurrency_json(c);
	int rc = json_write(json, stdout, 2);
	return rc < 0 ? fault_set(f, rc, "standard output") : 0;
}

static int concurrency(const struct options *o)
{
	struct fault f = {0};
	struct measurement m = {.options = o, .session = SESSION_NONE("headroom concurrency"), .http = HTTP_CLOSED};
	struct concurrency c = {.cpu_ms = o->cpu_ms,
				.wait_ms = o->wait_ms,
				.source = "given",
				.response_ms = (double)NAN,
				.requests = (double)NAN};
	int rc = o->url ? measure(&m, &c, &f) : 0;
	if (rc == 0)
		rc = choose_cpus(&c, o, m.limit_cpus, &f);
	if (rc == 0)
		rc = concurrency_apply(&c, &f);
	if (rc == 0)
		rc = tell(&c, o->output, &f);
	if (rc < 0)
		fprintf(stderr, "headroom concurrency: %s\n", fault_text(&f));
	int status = session_status(&m.session, rc, true);
	session_close(&m.session);
	return status;
}

int command_concurrency(int argc, char **argv)
{
	struct options o = {.seconds = 5};
	int status = begin_options(&o, &argc, argv);
	if (status >= 0)
		return status;
	const char *wrong = argc > 1 ? "takes no arguments beside its options" : what_is_wrong(&o);
	if (wrong) {
		fprintf(stderr, "headroom concurrency: %s\n", wrong);
		return 2;
	}
	return concurrency(&o);
}
