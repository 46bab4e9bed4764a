#include "demo_inside.h"

#include "forecast.h"
#include "limit_way.h"
#include "siblings.h"
#include "stats.h"
#include "study1.h"
#include "tables.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/mman.h>

enum { CONDITIONS = 2, EVEN = 0, BURST = 1, LINE_WIDTH = 110, FEELER_ROUNDS = 1000 };

static const double work_ms = 4; /* as in study 1 */

/* ---- our own limit, as a way of limiting ----------------------------------------------------------------------------
 */

/* The limit of a cgroup: of the level that binds. */
static int limit_at(const struct cgroup_target *self, struct limit *out, struct fault *f)
{
	struct reader reader = {0};
	struct snapshot s = {0};
	int rc = reader_open(&reader, self, f);
	if (rc == 0)
		rc = reader_take(&reader, SNAPSHOT_FULL, &s, f);
	reader_close(&reader);
	*out = limit_of(&s);
	if (rc < 0)
		return rc;
	return out->status == LIMIT_SET ? 0 : fault_set(f, -ENOENT, "no CPU limit is set on us");
}

static int own_limit(struct limit *out, struct fault *f)
{
	CLEANUP_TREE struct tree tree = TREE_CLOSED;
	CLEANUP_CGROUP_TARGET struct cgroup_target self = CGROUP_TARGET_NONE;
	int rc = tree_open(&tree, "/", f);
	if (rc == 0)
		rc = cgroup_resolve_process(&self, &tree, "self", f);
	return rc == 0 ? limit_at(&self, out, f) : rc;
}

static int detect(struct limiter *l, const struct cgroup_target *self, struct fault *f)
{
	struct limit own;
	int rc = self ? limit_at(self, &own, f) : -ENOENT;
	if (rc == 0)
		snprintf(l->text, sizeof l->text, "the limit that is set on this container itself");
	return rc;
}

static int read_own(const struct limit_group *g, struct cpu_quota *out, struct fault *f)
{
	struct limit own;
	(void)g;
	int rc = own_limit(&own, f);
	*out = own.quota;
	return rc;
}

static int apply(struct limit_group *g, const struct cpu_quota *q, struct fault *f)
{
	struct cpu_quota own;
	int rc = read_own(g, &own, f);
	if (rc < 0)
		return rc;
	if (cpu_quota_is_below(&own, q) || cpu_quota_is_below(q, &own))
		return fault_set(f, -EOPNOTSUPP, "our own limit of %g CPUs cannot be changed to another from inside",
				 cpu_quota_cpus(&own));
	return 0;
}

const struct limit_ops limit_inside_ops = {.detect = detect, .by_name_only = true, .apply = apply, .read = read_own};

bool demo_inside_applies(void)
{
	struct limit own;
	struct limiter l;
	if (own_limit(&own, NULL) < 0)
		return false;
	bool can_limit = limiter_choose(&l, "/", LIMIT_WAYS, NULL) == 0;
	if (can_limit)
		limiter_release(&l);
	return !can_limit;
}

/* ---- the runs -------------------------------------------------------------------------------------------------------
 */

struct demo {
	const struct demo_inside *options;
	struct limit limit;
	struct limiter limiter;
	struct signals signals;
	struct progress progress;
	char *probe, *load;
	char requests_path[48];
	int requests_fd;
	struct condition conditions[CONDITIONS];
	struct run_setup setup;
	struct experiment experiment; /* only its conditions and runs are used */
	double work_cores[CONDITIONS];
	struct summary summaries[CONDITIONS];
};

static int prepare(struct demo *d, struct fault *f)
{
	int rc = signals_open(&d->signals, f);
	if (rc == 0)
		rc = own_limit(&d->limit, f);
	if (rc == 0)
		rc = limiter_choose(&d->limiter, "/", LIMIT_INSIDE, f);
	if (rc == 0)
		rc = sibling_find("headroom-probe", &d->probe, f);
	if (rc == 0)
		rc = sibling_find("headroom-load", &d->load, f);
	if (rc < 0)
		return rc;
	/* a container may have no folder that can be written: the sender's records go into memory */
	d->requests_fd = memfd_create("requests.csv", MFD_CLOEXEC);
	if (d->requests_fd < 0)
		return fault_set(f, errno, "requests.csv");
	snprintf(d->requests_path, sizeof d->requests_path, "/proc/%d/fd/%d", (int)getpid(), d->requests_fd);
	for (size_t i = 0; i < CONDITIONS; i++)
		d->conditions[i] = (struct condition){.limit_cpus = cpu_quota_cpus(&d->limit.quota),
						      .load = study1_conditions[i].load};
	d->experiment = (struct experiment){.conditions = d->conditions, .n_conditions = CONDITIONS, .repetitions = 1};
	d->experiment.runs = calloc(CONDITIONS, sizeof *d->experiment.runs);
	return d->experiment.runs ? 0 : fault_set(f, ENOMEM, "demo");
}

static void set_up(struct demo *d)
{
	d->setup = (struct run_setup){.limiter = &d->limiter,
				      .probe = d->probe,
				      .load = d->load,
				      .rounds = d->options->rounds,
				      .stretch = 1,
				      .duration_ns = (int64_t)(d->options->seconds * 1e9),
				      .lead_ns = d->options->lead_ns,
				      /* the sender is stopped together with the probe: its lateness is a result here */
				      .lateness_bound_ns = 3600 * NSEC_PER_SEC,
				      .connections = STUDY1_CONNECTIONS,
				      .requests_path = d->requests_path,
				      .signals = &d->signals,
				      .progress = &d->progress};
	progress_open(&d->progress, stderr, CONDITIONS, experiment_run_ns(&d->setup));
}

static struct run_plan plan_of(const struct demo *d, size_t i)
{
	/* as the short study 1: a burst begins 60 ms before the end of a period */
	return (struct run_plan){
		.condition = d->conditions[i], .repetition = 1, .position = (unsigned)i + 1, .phase_ms = 60};
}

/* The CPU time of the middle request; 0 = no server told it. */
static int64_t median_cpu_ns(const struct requests *r)
{
	size_t n = 0;
	CLEANUP_FREE int64_t *ns = calloc(r->n + 1, sizeof *ns);
	for (size_t i = 0; ns && i < r->n; i++)
		if (request_ok(&r->list[i]) && r->list[i].cpu_ns != REQUEST_ABSENT)
			ns[n++] = r->list[i].cpu_ns;
	if (n == 0)
		return 0;
	stats_sort(ns, n);
	return stats_median(ns, n);
}

/* Under a quota that is too small for a calibration in one piece: a second of short requests, each far below the
 * budget. */
static int find_rounds(struct demo *d, struct fault *f)
{
	struct run_result result;
	struct run_plan plan = plan_of(d, EVEN);
	if (d->options->rounds)
		return 0;
	struct run_setup feeler = d->setup;
	feeler.rounds = FEELER_ROUNDS;
	feeler.duration_ns = NSEC_PER_SEC;
	int rc = run_condition(&feeler, &plan, &result, f);
	int64_t cpu_ns = median_cpu_ns(&result.requests);
	run_result_release(&result);
	if (rc < 0)
		return rc;
	if (cpu_ns <= 0)
		return fault_set(f, -EPROTO, "headroom-probe did not tell the CPU time of its requests");
	d->setup.rounds = (uint64_t)llround(FEELER_ROUNDS * work_ms * 1e6 / (double)cpu_ns);
	return 0;
}

/* CPUs that the requests' own work took. */
static double work_cores(const struct run_result *r)
{
	double ns = 0;
	for (size_t i = 0; i < r->requests.n; i++)
		if (r->requests.list[i].cpu_ns != REQUEST_ABSENT)
			ns += (double)r->requests.list[i].cpu_ns;
	return ns / 1e9 / r->figures.cpu_observed_s;
}

static int run_both(struct demo *d, struct fault *f)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < CONDITIONS; i++) {
		struct experiment_run *run = &d->experiment.runs[i];
		*run = (struct experiment_run){.condition = i, .plan = plan_of(d, i)};
		progress_begin(&d->progress, d->conditions[i].load->name);
		rc = run_condition(&d->setup, &run->plan, &run->result, f);
		d->experiment.n_runs++;
		d->work_cores[i] = run->result.measured ? work_cores(&run->result) : (double)NAN;
		progress_end_run(&d->progress);
	}
	progress_clear(&d->progress);
	for (size_t i = 0; rc == 0 && i < CONDITIONS; i++)
		rc = summary_make(&d->experiment, i, &d->summaries[i], f);
	return rc;
}

/* ---- the report -----------------------------------------------------------------------------------------------------
 */

static const struct table_column columns[] = {
	{NULL, "load", true},
	{NULL, "CPUs used", false},
	{NULL, "of the limit", false},
	{"response (ms)", "p50", false},
	{"response (ms)", "p99", false},
	{"response (ms)", "max", false},
	{NULL, "throttled periods", false},
	{NULL, "lateness p99 (ms)", false},
};

static int write_table(const struct demo *d, FILE *out)
{
	struct table t;
	table_init(&t, columns, ARRAY_LEN(columns));
	for (size_t i = 0; i < CONDITIONS; i++) {
		const struct summary *s = &d->summaries[i];
		table_cell(&t, "%s", s->condition.load->name);
		table_number(&t, s->cpu_cores_mean, 3, "");
		table_number(&t, s->of_limit * 100, 0, "%");
		table_number(&t, s->p50_ms, 1, "");
		table_number(&t, s->p99_ms, 1, "");
		table_number(&t, s->max_ms, 1, "");
		if (s->nr_throttled == FIGURE_ABSENT)
			table_cell(&t, "-");
		else
			table_cell(&t, "%" PRIu64 " of %" PRIu64, s->nr_throttled, s->nr_periods);
		table_number(&t, s->lateness_p99_ms, 1, "");
	}
	int rc = table_write(&t, out, tables_use_color(out));
	table_release(&t);
	return rc;
}

static void PRINTF_LIKE(3, 4) paragraph(FILE *out, const char *label, const char *fmt, ...)
{
	char text[1024];
	va_list args;
	va_start(args, fmt);
	vsnprintf(text, sizeof text, fmt, args);
	va_end(args);
	tables_wrap(out, label, text, strlen(label), LINE_WIDTH);
}

static void write_meaning(const struct demo *d, FILE *out)
{
	const struct summary *even = &d->summaries[EVEN];
	const struct summary *burst = &d->summaries[BURST];
	uint64_t throttled = burst->nr_throttled == FIGURE_ABSENT ? 0 : burst->nr_throttled;
	/* the throttled intervals cannot be seen from inside: who would look is stopped as well */
	double cpu_wait_ms = burst->parts_ms[PART_QUOTA] + burst->parts_ms[PART_CONTENTION];
	double queue_ms = burst->parts_ms[PART_QUEUE] + burst->parts_ms[PART_QUEUE_QUOTA];
	if (throttled == 0)
		paragraph(out, "meaning   ",
			  "This limit does not stop the bursts: none of the periods was throttled. Try a smaller one.");
	else if (burst->n_parts)
		paragraph(
			out, "meaning   ",
			"Both loads send 20 requests/s and use less than the limit on average, but bursts are stopped: "
			"their p99 is %.1f times that of the even load. Of the slowest 5%% of the burst requests "
			"(%.1f ms on average) %.1f ms went by waiting for a CPU, %.1f ms in the queue behind requests "
			"that did, %.1f ms before a stopped sender could send.",
			burst->p99_ms / even->p99_ms, burst->parts_total_ms, cpu_wait_ms, queue_ms,
			burst->parts_ms[PART_LATENESS]);
	else
		paragraph(out, "meaning   ", "The p99 of bursts is %.1f times that of the even load, at the same rate.",
			  burst->p99_ms / even->p99_ms);
}

/* The bursts as they were planned, since a stopped sender was late with them. What everything in here used is charged
 * to them: it is all under the limit. */
static int burst_source(const struct demo *d, struct forecast_source *out, struct fault *f)
{
	const struct requests *seen = &d->experiment.runs[BURST].result.requests;
	CLEANUP_FREE struct request *list = calloc(seen->n + 1, sizeof *list);
	struct requests planned = {.list = list, .n = seen->n};
	if (!list)
		return fault_set(f, ENOMEM, "forecast");
	for (size_t i = 0; i < seen->n; i++) {
		list[i] = seen->list[i];
		list[i].arrived_ns = list[i].planned_ns;
		list[i].ended_ns = list[i].done_ns;
	}
	return forecast_source_make(out, &planned, d->summaries[BURST].cpu_ms_per_request, f);
}

static int write_forecast(const struct demo *d, FILE *out, struct fault *f)
{
	static const double limits[] = {0.15, 0.2, 0.25, 0.3, 0.4, 0.5, 0.75, 1};
	static const struct table_column forecast_columns[] = {
		{NULL, "--cpus", true},
		{"bursts, predicted", "p99 (ms)", false},
		{"bursts, predicted", "by phase (ms)", false},
		{"bursts, predicted", "throttled periods/s", false},
	};
	const struct forecast_server server = {.workers = 1, .cpus = 1};
	struct forecast_source source;
	struct table t;
	int rc = burst_source(d, &source, f);
	table_init(&t, forecast_columns, ARRAY_LEN(forecast_columns));
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(limits); i++) {
		struct forecast p = {0};
		rc = forecast_make(&source, &server, limits[i], &p, f);
		table_cell(&t, "%g", limits[i]);
		table_number(&t, p.p99_ms, 1, "");
		table_cell(&t, "%.1f to %.1f", p.p99_low_ms, p.p99_high_ms);
		table_number(&t, p.throttled_per_s, 1, "");
	}
	fputc('\n', out);
	if (rc == 0)
		rc = table_write(&t, out, tables_use_color(out));
	table_release(&t);
	forecast_source_release(&source);
	return rc;
}

static void write_text(const struct demo *d, FILE *out)
{
	double other = d->summaries[BURST].cpu_cores_mean - d->work_cores[BURST];
	write_meaning(d, out);
	paragraph(
		out, "shared    ",
		"Sender, probe and this program are under the same limit, because no other can be made in here. Of the "
		"%.3f CPUs that bursts used, %.3f were the requests' own work and %.3f everything else. So the budget "
		"is spent sooner than by the probe alone, and the sender is stopped as well: its lateness is part of "
		"the response times. An experiment keeps the sender outside: `headroom demo` on a host, or `headroom "
		"study 1 --limiter docker`.",
		d->summaries[BURST].cpu_cores_mean, d->work_cores[BURST], other);
	paragraph(
		out, "limits    ",
		"Only the given limit was tried. What bursts would take under others, by a model of the quota that knows no "
		"other work on the CPUs, and what the phase of the quota's period makes of it. Run it again with another "
		"--cpus to compare.");
}

static void write_intro(const struct demo *d, FILE *out)
{
	fprintf(out,
		"The same 20 requests/s, even or in bursts, under the limit of this container: %g CPUs (%g of each %g "
		"ms)\n\nwork      %" PRIu64 " rounds of SHA-256 a request",
		cpu_quota_cpus(&d->limit.quota), (double)d->limit.quota.quota_usec / 1e3,
		(double)d->limit.quota.period_usec / 1e3, d->setup.rounds);
	if (!d->options->rounds)
		fprintf(out, ", about %g ms of CPU, one at a time", work_ms);
	fprintf(out, "\nload      even: 1 request every 50 ms; burst: 8 every 400 ms; %g s each\n\n",
		d->options->seconds);
	fflush(out);
}

static json_value *as_json(const struct demo *d)
{
	json_value *o = json_new_object();
	json_value *list = json_new_array();
	json_set_u64(o, "schema_version", 1);
	json_set_text(o, "demo", "inside");
	json_set_real(o, "limit_cpus", cpu_quota_cpus(&d->limit.quota));
	json_set_bool(o, "sender_shares_limit", true);
	json_set_u64(o, "rounds", d->setup.rounds);
	for (size_t i = 0; i < CONDITIONS; i++) {
		json_value *condition = summary_json(&d->summaries[i]);
		json_set_real(condition, "work_cores_mean", d->work_cores[i]);
		json_add_value(list, condition);
	}
	json_set_value(o, "conditions", list);
	return o;
}

static int tell(const struct demo *d, struct fault *f)
{
	int rc;
	if (d->options->json) {
		CLEANUP_JSON json_value *o = as_json(d);
		rc = json_write(o, stdout, 2);
	} else {
		rc = write_table(d, stdout);
		write_text(d, stdout);
		/* without figures of a request there is none */
		struct fault none = {0};
		int forecast_rc = write_forecast(d, stdout, &none);
		if (rc == 0 && forecast_rc != -ENODATA)
			rc = forecast_rc;
		if (rc == 0 && fflush(stdout) != 0)
			rc = -errno;
	}
	return rc < 0 ? fault_set(f, -rc, "cannot write the report") : 0;
}

static void clean_up(struct demo *d)
{
	experiment_release(&d->experiment);
	limiter_release(&d->limiter);
	signals_close(&d->signals);
	free(d->probe);
	free(d->load);
	if (d->requests_fd >= 0)
		close(d->requests_fd);
}

int demo_inside_run(const struct demo_inside *o)
{
	struct fault f = {0};
	struct demo d = {.options = o, .signals = SIGNALS_NONE, .limiter = LIMITER_NONE, .requests_fd = -1};
	int rc = prepare(&d, &f);
	if (rc == 0) {
		set_up(&d);
		rc = find_rounds(&d, &f);
	}
	if (rc == 0 && !o->json)
		write_intro(&d, stdout);
	if (rc == 0)
		rc = run_both(&d, &f);
	if (rc == 0)
		rc = tell(&d, &f);
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", o->program, fault_text(&f));
	int status = d.signals.last ? 128 + d.signals.last : rc < 0;
	clean_up(&d);
	return status;
}
