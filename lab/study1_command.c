#include "commands.h"

#include "clock.h"
#include "demo_inside.h"
#include "opts.h"
#include "program.h"
#include "siblings.h"
#include "study1_report.h"
#include "tables.h"
#include "units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <signal.h>
#include <string.h>

/* One repetition has one phase. A burst that begins 7 to 25 ms before a tick lives on two budgets and is not throttled
 * at all (25 + 7 = 8 x 4 ms), so thrown dice would hide the effect in a fifth of the short studies. 60 ms show it. */
static const double short_phase_ms = 60;

struct options {
	bool full, no_sidecar;
	double seconds;
	uint64_t repetitions, seed, rounds, stretch;
	bool seconds_given, repetitions_given, seed_given, rounds_given;
	int limiter; /* LIMIT_WAYS = any */
	bool limiter_given;
	const char *phase_text, *out;
	double phase_ms; /* NAN = random */
	int64_t lead_ns, lateness_bound_ns;
	int output;
};

static const char *const output_names[] = {"table", "json", NULL};
enum { OUTPUT_TABLE, OUTPUT_JSON };

static const char examples[] =
	"  headroom demo                      every condition once for 5 s: under a minute\n"
	"  headroom study 1 --full            as published: 3 runs of 20 s for each condition\n"
	"  headroom study 1 --phase random    let the dice say when in a period a burst begins\n";

static const char notes[] =
	"Writes runs.csv, requests.csv, periods.csv, sidecar.jsonl and summary.json into --out.\n"
	"Exit status: 0 shape as published, 1 it differs, or a run failed or was not valid, 2 wrong options,\n"
	"130 or 143 interrupted (what was measured until then is written).\n";

static int begin_options(struct options *o, const char *program, int *argc, char **argv)
{
	const struct opt table[] = {
		{"full", 0, OPT_FLAG, &o->full, NULL, "20 s x 3 repetitions, as published", NULL, 0, 0, NULL},
		{"seconds", 0, OPT_DECIMAL, &o->seconds, "S", "length of a run (default 5)", NULL, 0, 0,
		 &o->seconds_given},
		{"repetitions", 0, OPT_U64, &o->repetitions, "N", "runs of each condition (default 1)", NULL, 1, 100,
		 &o->repetitions_given},
		{"seed", 0, OPT_U64, &o->seed, "N", "of the order and the phases (default: another one each time)",
		 NULL, 0, 0, &o->seed_given},
		{"phase", 0, OPT_TEXT, &o->phase_text, "MS|random",
		 "from a burst to the end of the quota's period (default: 60 for one repetition, else random)", NULL, 0,
		 0, NULL},
		{"limiter", 0, OPT_CHOICE, &o->limiter, "v2|systemd|v1|docker",
		 "how the limit is made (default: the first that works)", limit_way_names, 0, 0, &o->limiter_given},
		{"rounds", 0, OPT_U64, &o->rounds, "N", "work of a request (default: calibrated to 4 ms of CPU)", NULL,
		 1, UINT64_C(1) << 40, &o->rounds_given},
		{"stretch", 0, OPT_U64, &o->stretch, "N",
		 "N times the time between requests, for slow or emulated CPUs (default 1)", NULL, 1, 1000, NULL},
		{"lead", 0, OPT_DURATION, &o->lead_ns, "TIME",
		 "from starting the sender to its first send, at least (default 500ms)", NULL, 200 * NSEC_PER_MSEC,
		 60 * NSEC_PER_SEC, NULL},
		{"lateness-bound", 0, OPT_DURATION, &o->lateness_bound_ns, "TIME",
		 "a run is invalid when the sender is later at p99 (default 5ms)", NULL, NSEC_PER_USEC,
		 60 * NSEC_PER_SEC, NULL},
		{"no-sidecar", 0, OPT_FLAG, &o->no_sidecar, NULL, "do not run headroom-sidecar beside the probe", NULL,
		 0, 0, NULL},
		{"out", 0, OPT_TEXT, &o->out, "DIR", "where results go (default results/<time>)", NULL, 0, 0, NULL},
		{"output", 'o', OPT_CHOICE, &o->output, "table|json", "form of the report on stdout (default table)",
		 output_names, 0, 0, NULL},
		{NULL, 0, OPT_FLAG, NULL, NULL, NULL, NULL, 0, 0, NULL},
	};
	const struct opts_spec spec = {.program = program,
				       .usage = "[options]",
				       .summary =
					       "Study 1: the same 20 requests/s, even or in bursts, under a CPU limit "
					       "of 0.25, of 0.5 and without one.",
				       .examples = examples,
				       .notes = notes,
				       .table = table};
	return opts_begin(&spec, argc, argv, stdout, stderr);
}

static int usage_error(const char *program, const char *sentence)
{
	fprintf(stderr, "%s: %s\n", program, sentence);
	return 2;
}

/* Defaults that depend on each other. -1 to go on, else the exit status. */
static int complete_options(struct options *o, const char *program)
{
	struct fault f = {0};
	if (!o->seconds_given)
		o->seconds = o->full ? 20 : 5;
	if (!o->repetitions_given)
		o->repetitions = o->full ? 3 : 1;
	if (!o->seed_given)
		o->seed = (uint64_t)clock_wall_ns() / (uint64_t)NSEC_PER_MSEC % 1000000;
	if (!o->limiter_given)
		o->limiter = LIMIT_WAYS;
	if (o->seconds < 1 || o->seconds > 3600)
		return usage_error(program, "--seconds is out of range: 1 to 3600");
	o->phase_ms = o->repetitions == 1 ? short_phase_ms : (double)NAN;
	if (!o->phase_text)
		return -1;
	o->phase_ms = (double)NAN;
	if (strcmp(o->phase_text, "random") == 0)
		return -1;
	if (units_parse_decimal(o->phase_text, &o->phase_ms, &f) < 0 || o->phase_ms >= LIMIT_PERIOD_USEC / 1000.0)
		return usage_error(program, "--phase is a number of ms from 0 to below 100, or random");
	return -1;
}

/* ---- the study ------------------------------------------------------------------------------------------------------
 */

struct study {
	const struct options *options;
	const char *program;
	struct signals signals;
	struct limiter limiter;
	struct progress progress;
	struct results results;
	struct experiment experiment;
	struct calibration calibration;
	char *probe, *load, *sidecar, *requests_path;
	struct summary summaries[STUDY1_CONDITIONS];
	struct study1_judgement judgement;
};

/* Waits for the calibration; a signal ends it. */
static int wait_for_calibration(struct study *s, struct program *probe, struct fault *f)
{
	while (!program_has_ended(probe)) {
		if (signals_take(&s->signals))
			return fault_set(f, -EINTR, "interrupted by SIG%s", sigabbrev_np(s->signals.last));
		clock_sleep_until_ns(clock_mono_ns() + 20 * NSEC_PER_MSEC, NULL);
	}
	return child_exit_code(&probe->child) == 0 ? 0 : program_failed(probe, "while calibrating", f);
}

static int read_calibration(struct calibration *c, const struct program *probe, struct fault *f)
{
	CLEANUP_FREE char *line = capture_first_line(&probe->out);
	CLEANUP_JSON json_value *v = line ? json_parse(line, strlen(line), NULL) : NULL;
	double median_ns;
	if (!json_get_u64(v, "rounds", &c->rounds) || c->rounds == 0)
		return fault_set(f, -EPROTO, "headroom-probe --calibrate did not tell the rounds");
	c->cpu_ms = json_get_real(v, "median_ns", &median_ns) ? median_ns / 1e6 : (double)NAN;
	return 0;
}

/* Under a quota the calibration itself would be throttled, so it runs here, outside, and the result is frozen. */
static int calibrate(struct study *s, struct fault *f)
{
	const char *const argv[] = {s->probe, "--calibrate", NULL};
	struct child_spec spec = {.argv = argv};
	struct program probe;
	s->calibration = (struct calibration){.rounds = s->options->rounds, .cpu_ms = (double)NAN};
	if (s->options->rounds_given)
		return 0;
	program_init(&probe, "headroom-probe");
	int rc = program_start(&probe, &spec, f);
	if (rc == 0)
		rc = wait_for_calibration(s, &probe, f);
	if (rc == 0)
		rc = read_calibration(&s->calibration, &probe, f);
	int end_rc = child_end(&probe.child, NSEC_PER_SEC, rc ? NULL : f);
	program_release(&probe);
	return rc ? rc : end_rc;
}

static int find_programs(struct study *s, struct fault *f)
{
	int rc = sibling_find("headroom-probe", &s->probe, f);
	if (rc == 0)
		rc = sibling_find("headroom-load", &s->load, f);
	if (rc == 0 && !s->options->no_sidecar)
		rc = sibling_find("headroom-sidecar", &s->sidecar, f);
	return rc;
}

static int open_results(struct study *s, struct fault *f)
{
	int rc = results_open(&s->results, s->options->out, f);
	if (rc == 0 && asprintf(&s->requests_path, "%s/.requests-of-this-run.csv", s->results.folder) < 0) {
		s->requests_path = NULL;
		rc = fault_set(f, ENOMEM, "results");
	}
	return rc;
}

static int plan(struct study *s, struct fault *f)
{
	const struct options *o = s->options;
	struct experiment *e = &s->experiment;
	int rc = experiment_plan(e, study1_conditions, STUDY1_CONDITIONS, o->repetitions, o->seed, o->phase_ms, f);
	if (rc < 0)
		return rc;
	e->results = &s->results;
	e->setup = (struct run_setup){.limiter = &s->limiter,
				      .probe = s->probe,
				      .load = s->load,
				      .sidecar = s->sidecar,
				      .rounds = s->calibration.rounds,
				      .stretch = (unsigned)o->stretch,
				      .duration_ns = (int64_t)(o->seconds * 1e9),
				      .lead_ns = o->lead_ns,
				      .lateness_bound_ns = o->lateness_bound_ns,
				      .connections = STUDY1_CONNECTIONS,
				      .prefer = true,
				      .requests_path = s->requests_path,
				      .signals = &s->signals,
				      .progress = &s->progress};
	progress_open(&s->progress, stderr, STUDY1_CONDITIONS * o->repetitions, experiment_run_ns(&e->setup));
	return 0;
}

static int prepare(struct study *s, struct fault *f)
{
	int rc = signals_open(&s->signals, f);
	if (rc == 0)
		rc = find_programs(s, f);
	if (rc == 0)
		rc = limiter_choose(&s->limiter, "/", (enum limit_way)s->options->limiter, f);
	if (rc == 0)
		rc = open_results(s, f);
	if (rc == 0)
		rc = calibrate(s, f);
	return rc == 0 ? plan(s, f) : rc;
}

static struct study1_report report_of(struct study *s, const char *unfinished)
{
	return (struct study1_report){.experiment = &s->experiment,
				      .calibration = &s->calibration,
				      .seed = s->options->seed,
				      .phase_is_random = isnan(s->options->phase_ms),
				      .summaries = s->summaries,
				      .judgement = unfinished ? NULL : &s->judgement,
				      .unfinished = unfinished};
}

static int summarize(struct study *s, const struct study1_report *r, struct fault *f)
{
	int rc = 0;
	for (size_t c = 0; rc == 0 && c < STUDY1_CONDITIONS; c++)
		rc = summary_make(&s->experiment, c, &s->summaries[c], f);
	if (rc < 0)
		return rc;
	study1_judge(s->summaries, s->options->repetitions, &s->judgement);
	CLEANUP_JSON json_value *json = study1_json(r);
	return results_write_json(&s->results, "summary.json", json, f);
}

static int write_report(struct study *s, const struct study1_report *r, struct fault *f)
{
	int rc;
	if (s->options->output == OUTPUT_JSON) {
		CLEANUP_JSON json_value *json = study1_json(r);
		rc = json_write(json, stdout, 2);
	} else {
		rc = study1_write_text(stdout, r, tables_use_color(stdout));
		printf("results in %s\n", s->results.folder);
	}
	if (fflush(stdout) != 0 && rc == 0)
		rc = -errno;
	return rc < 0 ? fault_set(f, -rc, "cannot write the report") : 0;
}

static int run(struct study *s, struct fault *f)
{
	struct study1_report r = report_of(s, NULL);
	struct fault later = {0};
	if (s->options->output == OUTPUT_TABLE)
		study1_write_intro(stdout, &r, tables_use_color(stdout));
	int rc = experiment_run(&s->experiment, f);
	/* whatever stopped it: what was measured is summed up and shown */
	r = report_of(s, rc ? fault_text(f) : NULL);
	int sum_rc = summarize(s, &r, &later);
	if (sum_rc == 0 && (rc == 0 || s->experiment.n_runs > 0))
		sum_rc = write_report(s, &r, &later);
	if (rc == 0 && sum_rc < 0 && f)
		*f = later;
	return rc ? rc : sum_rc;
}

static void clean_up(struct study *s)
{
	progress_clear(&s->progress);
	experiment_release(&s->experiment);
	results_close(&s->results);
	limiter_release(&s->limiter);
	signals_close(&s->signals);
	free(s->probe);
	free(s->load);
	free(s->sidecar);
	free(s->requests_path);
}

static int study1(const struct options *o, const char *program)
{
	struct fault f = {0};
	struct study s = {.options = o,
			  .program = program,
			  .signals = SIGNALS_NONE,
			  .limiter = LIMITER_NONE,
			  .results = RESULTS_NONE};
	int rc = prepare(&s, &f);
	if (rc == 0)
		rc = run(&s, &f);
	progress_clear(&s.progress);
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", program, fault_text(&f));
	int status = s.signals.last ? 128 + s.signals.last : rc < 0 || s.judgement.n > 0 ? 1 : 0;
	clean_up(&s);
	return status;
}

static int study1_main(const char *program, bool is_demo, int argc, char **argv)
{
	struct options o = {.stretch = 1, .lead_ns = 500 * NSEC_PER_MSEC, .lateness_bound_ns = 5 * NSEC_PER_MSEC};
	int status = begin_options(&o, program, &argc, argv);
	if (status < 0 && argc > 1)
		status = usage_error(program, "takes no arguments beside its options");
	if (status < 0)
		status = complete_options(&o, program);
	if (status < 0 && is_demo && !o.limiter_given && demo_inside_applies())
		return demo_inside_run(&(struct demo_inside){.program = program,
							     .seconds = o.seconds,
							     .rounds = o.rounds,
							     .lead_ns = o.lead_ns,
							     .json = o.output == OUTPUT_JSON});
	return status >= 0 ? status : study1(&o, program);
}

int command_demo(int argc, char **argv)
{
	return study1_main("headroom demo", true, argc, argv);
}

int command_study(int argc, char **argv)
{
	if (argc >= 2 && strcmp(argv[1], "1") == 0)
		return study1_main("headroom study 1", false, argc - 1, argv + 1);
	bool help = argc >= 2 && (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0);
	fprintf(help ? stdout : stderr,
		"Usage: headroom study 1 [options]      the same requests per second, even or in bursts, under a CPU "
		"limit\n\n`headroom study 1 --help` tells its options.\n");
	return help ? 0 : 2;
}
