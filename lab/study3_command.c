#include "commands.h"

#include "files.h"
#include "host.h"
#include "opts.h"
#include "order.h"
#include "page.h"
#include "study3_report.h"
#include "tables.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { RUNS_MAX = STUDY3_CASES * STUDY3_POINTS_MAX * 20 };

struct options {
	struct session_options session;
	bool full;
	double cpus, seconds;
	uint64_t repetitions;
	bool seconds_given, repetitions_given;
	const char *threads_text;
	struct study3_threads threads; /* n 0: chosen by the law */
	int only_case;                 /* meant only when only_given */
	bool only_given;
};

static const char *const case_names[] = {"wait", "cpu", "pool", NULL};

static const char examples[] = "  headroom study 3                   about two minutes, under 0.5 CPUs\n"
			       "  headroom study 3 --cpus 1 --full   20 s x 3 repetitions for each number of threads\n"
			       "  headroom study 3 --case wait --threads 2,5,10,15,20,25,30,35 --cpus 2\n";

static const char notes[] =
	"The published study had 2 CPUs, and its sender elsewhere. Here the sender needs CPU beside the service, and two\n"
	"hardware threads of one core are no two CPUs: so the default limit is a quarter of what this host has, at most 2\n"
	"and at least 0.3. A limit above half of the host's CPUs measures the host as well as the limit.\n"
	"Writes runs.csv, sidecar.jsonl, summary.json and report.html into --out.\n"
	"Exit status: 0 shape as published, 1 it differs, or a run failed or was not valid, 2 wrong options,\n"
	"130 or 143 interrupted (what was measured until then is written).\n";

static int begin_options(struct options *o, int *argc, char **argv)
{
	const struct opt table[] = {
		{"cpus", 0, OPT_DECIMAL, &o->cpus, "C", "the limit (default: a quarter of this host's CPUs)", NULL, 0,
		 0, NULL},
		{"full", 0, OPT_FLAG, &o->full, NULL, "20 s x 3 repetitions", NULL, 0, 0, NULL},
		{"seconds", 0, OPT_DECIMAL, &o->seconds, "S", "observed for each number of threads (default 4)", NULL,
		 0, 0, &o->seconds_given},
		{"repetitions", 0, OPT_U64, &o->repetitions, "N", "of each number of threads (default 1)", NULL, 1, 20,
		 &o->repetitions_given},
		{"case", 0, OPT_CHOICE, &o->only_case, "wait|cpu|pool", "only this case (default: all three)",
		 case_names, 0, 0, &o->only_given},
		{"threads", 0, OPT_TEXT, &o->threads_text, "N,N,...",
		 "of every case (default: around what the law says for each)", NULL, 0, 0, NULL},
		SESSION_OPTION_ROWS(&o->session),
	};
	const struct opts_spec spec = {.program = "headroom study 3",
				       .usage = "[options]",
				       .summary = "Study 3: throughput and response against threads, and the law that "
						  "says how many are needed.",
				       .examples = examples,
				       .notes = notes,
				       .table = table};
	return opts_begin(&spec, argc, argv, stdout, stderr);
}

static int usage_error(const char *sentence)
{
	fprintf(stderr, "headroom study 3: %s\n", sentence);
	return 2;
}

/* -1 to go on, else the exit status. */
static int complete_options(struct options *o)
{
	struct fault f = {0};
	if (!o->seconds_given)
		o->seconds = o->full ? 20 : 4;
	if (!o->repetitions_given)
		o->repetitions = o->full ? 3 : 1;
	if (o->seconds < 1 || o->seconds > 600)
		return usage_error("--seconds is out of range: 1 to 600");
	if (o->cpus < 0.3 || o->cpus > 64)
		return usage_error("--cpus is out of range: 0.3 (below it the CPU is the bottleneck of the pool's "
				   "case too) to 64");
	if (o->threads_text && study3_parse_threads(o->threads_text, &o->threads, &f) < 0) {
		fprintf(stderr, "headroom study 3: --threads: %s\n", fault_text(&f));
		return 2;
	}
	return -1;
}

/* ---- the study ------------------------------------------------------------------------------------------------------
 */

struct study {
	const struct options *options;
	struct session session;
	struct run_setup setup;
	struct rng dice;
	FILE *runs_csv, *sidecar;
	struct study3_threads threads[STUDY3_CASES];
	struct study3_run runs[RUNS_MAX];
	size_t n_runs;
	struct study3_outcome outcomes[STUDY3_CASES];
	struct study3_judgement judgement;
};

static bool is_wanted(const struct options *o, size_t c)
{
	return !o->only_given || (size_t)o->only_case == c;
}

static int prepare(struct study *s, struct fault *f)
{
	const struct options *o = s->options;
	size_t points = 0;
	int rc = session_open(&s->session, &o->session, f);
	if (rc < 0)
		return rc;
	s->runs_csv = file_append(s->session.results.folder, "runs.csv", f);
	s->sidecar = s->runs_csv ? file_append(s->session.results.folder, "sidecar.jsonl", f) : NULL;
	if (!s->sidecar)
		return f->err ? -f->err : -EIO;
	study3_write_head(s->runs_csv);
	for (size_t c = 0; c < STUDY3_CASES; c++) {
		s->threads[c] = o->threads;
		if (o->threads.n == 0)
			study3_choose_threads(study3_law(&study3_cases[c], o->cpus), &s->threads[c]);
		points += is_wanted(o, c) ? s->threads[c].n : 0;
	}
	s->setup = session_run_setup(&s->session);
	s->setup.duration_ns = (int64_t)(o->seconds * 1e9);
	s->dice = (struct rng){.state = s->session.seed};
	progress_open(&s->session.progress, stderr, points * o->repetitions,
		      s->setup.duration_ns + 1500 * NSEC_PER_MSEC);
	return 0;
}

static int run_point(struct study *s, struct study3_service *service, const struct study3_run *plan, struct fault *f)
{
	struct study3_run *run = &s->runs[s->n_runs++];
	char what[64];
	*run = *plan;
	snprintf(what, sizeof what, "%s, %llu threads", plan->of->name, (unsigned long long)plan->threads);
	progress_begin(&s->session.progress, what);
	int rc = study3_measure(service, run, f);
	progress_end_run(&s->session.progress);
	study3_write_row(s->runs_csv, run, s->options->cpus);
	return rc;
}

static int run_points(struct study *s, struct study3_service *service, size_t c, struct fault *f)
{
	size_t order[STUDY3_POINTS_MAX * 20];
	const struct study3_threads *t = &s->threads[c];
	size_t n = t->n * s->options->repetitions;
	int rc = 0;
	order_draw(&s->dice, t->n, s->options->repetitions, order);
	for (size_t i = 0; rc == 0 && i < n; i++)
		rc = run_point(s, service,
			       &(struct study3_run){.of = &study3_cases[c],
						    .threads = t->list[order[i]],
						    .repetition = (unsigned)(i / t->n + 1),
						    .position = (unsigned)(i % t->n + 1)},
			       f);
	return rc;
}

static int run_case(struct study *s, size_t c, struct fault *f)
{
	struct study3_service service;
	CLEANUP_FREE char *log = NULL;
	const struct study3_threads *t = &s->threads[c];
	int rc = study3_service_open(&service, &s->setup, &study3_cases[c], s->options->cpus, t->list[t->n - 1], f);
	if (rc == 0)
		rc = run_points(s, &service, c, f);
	int close_rc = study3_service_close(&service, &log, rc ? NULL : f);
	if (log)
		fputs(log, s->sidecar);
	fflush(s->sidecar);
	return rc ? rc : close_rc;
}

/* ---- what came of it ------------------------------------------------------------------------------------------------
 */

static void add(double *mean, double value, size_t n)
{
	*mean = n == 1 ? value : *mean + (value - *mean) / (double)n;
}

/* The mean over the valid runs of one number of threads. */
static void merge(struct study3_point *p, const struct study3_point *run)
{
	size_t n = ++p->runs;
	add(&p->mean_ms, run->mean_ms, n);
	add(&p->p50_ms, run->p50_ms, n);
	add(&p->p99_ms, run->p99_ms, n);
	add(&p->requests_per_s, run->requests_per_s, n);
	add(&p->cpu_cores_mean, run->cpu_cores_mean, n);
	add(&p->of_limit, run->of_limit, n);
	add(&p->cpu_ms, run->cpu_ms, n);
	add(&p->wait_ms, run->wait_ms, n);
	if (n == 1)
		p->nr_throttled = run->nr_throttled;
	else if (p->nr_throttled != FIGURE_ABSENT && run->nr_throttled != FIGURE_ABSENT)
		p->nr_throttled += run->nr_throttled;
	else
		p->nr_throttled = FIGURE_ABSENT;
}

static void summarize_case(struct study *s, size_t c)
{
	struct study3_outcome *o = &s->outcomes[c];
	o->of = &study3_cases[c];
	o->n = is_wanted(s->options, c) ? s->threads[c].n : 0;
	for (size_t i = 0; i < o->n; i++) {
		study3_point_init(&o->points[i], s->threads[c].list[i]);
		for (size_t k = 0; k < s->n_runs; k++)
			if (s->runs[k].of == o->of && s->runs[k].valid && s->runs[k].threads == o->points[i].threads)
				merge(&o->points[i], &s->runs[k].point);
	}
	study3_evaluate(o, s->options->cpus);
}

static int report(struct study *s, const struct study3_report *r, struct fault *f)
{
	CLEANUP_JSON json_value *json = study3_json(r);
	int rc = results_write_json(&s->session.results, "summary.json", json, f);
	if (rc == 0 && s->n_runs > 0)
		rc = page_make_in(s->session.results.folder, f);
	progress_clear(&s->session.progress);
	if (s->options->session.output == SESSION_JSON) {
		int write_rc = json_write(json, stdout, 2);
		return rc ? rc : write_rc;
	}
	int text_rc = study3_write_text(stdout, r, tables_use_color(stdout));
	printf("results in %s\n", s->session.results.folder);
	if (fflush(stdout) != 0 && text_rc == 0)
		text_rc = -errno;
	return rc ? rc : text_rc;
}

static struct study3_report report_of(const struct study *s, const char *unfinished)
{
	return (struct study3_report){.session = &s->session,
				      .cpus = s->options->cpus,
				      .seconds = s->options->seconds,
				      .repetitions = s->options->repetitions,
				      .outcomes = s->outcomes,
				      .runs = s->runs,
				      .n_runs = s->n_runs,
				      .judgement = unfinished ? NULL : &s->judgement,
				      .unfinished = unfinished};
}

/* Also after a failure: what was measured until then is told. */
static int run(struct study *s, struct fault *f)
{
	struct fault writing = {0};
	int rc = 0;
	struct study3_report r = report_of(s, NULL);
	if (s->options->session.output == SESSION_TABLE)
		study3_write_intro(stdout, &r, tables_use_color(stdout));
	for (size_t c = 0; rc == 0 && c < STUDY3_CASES; c++)
		if (is_wanted(s->options, c))
			rc = run_case(s, c, f);
	for (size_t c = 0; c < STUDY3_CASES; c++)
		summarize_case(s, c);
	study3_judge(s->outcomes, s->options->repetitions, &s->judgement);
	r = report_of(s, rc == 0 ? NULL : rc == -EINTR ? "interrupted" : fault_text(f));
	int report_rc = report(s, &r, &writing);
	if (rc == 0 && report_rc < 0)
		*f = writing;
	return rc ? rc : report_rc;
}

static int study3(const struct options *o)
{
	struct fault f = {0};
	CLEANUP_FREE struct study *s = calloc(1, sizeof *s);
	if (!s)
		return 1;
	s->options = o;
	s->session = SESSION_NONE("headroom study 3");
	int rc = prepare(s, &f);
	if (rc == 0)
		rc = run(s, &f);
	progress_clear(&s->session.progress);
	if (rc < 0)
		fprintf(stderr, "headroom study 3: %s\n", fault_text(&f));
	int status = session_status(&s->session, rc, s->judgement.n == 0);
	if (s->runs_csv)
		fclose(s->runs_csv);
	if (s->sidecar)
		fclose(s->sidecar);
	session_close(&s->session);
	return status;
}

int command_study3(int argc, char **argv)
{
	struct options o = {.cpus = fmin(2, fmax(0.3, host_nproc() / 4.0))};
	int status = begin_options(&o, &argc, argv);
	if (status < 0 && argc > 1)
		status = usage_error("takes no arguments beside its options");
	if (status < 0)
		status = complete_options(&o);
	return status >= 0 ? status : study3(&o);
}
