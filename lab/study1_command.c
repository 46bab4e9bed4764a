#include "commands.h"

#include "demo_inside.h"
#include "page.h"
#include "remote_study1.h"
#include "study1_report.h"
#include "tables.h"
#include "units.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* One repetition has one phase. A burst that begins 7 to 25 ms before a tick lives on two budgets and is not throttled
 * at all (25 + 7 = 8 x 4 ms), so thrown dice would hide the effect in a fifth of the short studies. 60 ms show it. */
static const double short_phase_ms = 60;

struct options {
	struct session_options session;
	bool full;
	double seconds;
	uint64_t repetitions, stretch;
	bool seconds_given, repetitions_given;
	const char *phase_text;
	double phase_ms; /* NAN = random */
	int64_t lead_ns, lateness_bound_ns;
	struct remote_study1 remote;
};

static const char examples[] =
	"  headroom demo                      every condition once for 5 s: under a minute\n"
	"  headroom study 1 --full            as published: 3 runs of 20 s for each condition\n"
	"  headroom study 1 --phase random    let the dice say when in a period a burst begins\n"
	"  headroom study 1 --remote 250m=http://probe:8080/work,http://probe:9464/report --remote ...\n"
	"                                     against pods: their limits, what their sidecars see (manifests/)\n";

static const char notes[] =
	"Writes runs.csv, requests.csv, periods.csv, sidecar.jsonl, summary.json and report.html into --out.\n"
	"With --remote: no limits are made here, and files are written only if --out is given. LIMIT is that of the probe's\n"
	"container: 0.25, 0.5 (or 250m, 500m) or none; 0.25 must be there.\n"
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
		{"phase", 0, OPT_TEXT, &o->phase_text, "MS|random",
		 "from a burst to the end of the quota's period (default: 60 for one repetition, else random)", NULL, 0,
		 0, NULL},
		{"stretch", 0, OPT_U64, &o->stretch, "N",
		 "N times the time between requests, for slow or emulated CPUs (default 1)", NULL, 1, 1000, NULL},
		{"lead", 0, OPT_DURATION, &o->lead_ns, "TIME",
		 "from starting the sender to its first send, at least (default 500ms)", NULL, 200 * NSEC_PER_MSEC,
		 60 * NSEC_PER_SEC, NULL},
		{"lateness-bound", 0, OPT_DURATION, &o->lateness_bound_ns, "TIME",
		 "a run is invalid when the sender is later at p99 (default 5ms)", NULL, NSEC_PER_USEC,
		 60 * NSEC_PER_SEC, NULL},
		REMOTE_OPTION_ROWS(&o->remote),
		SESSION_OPTION_ROWS(&o->session),
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
	struct session session;
	struct experiment experiment;
	struct summary summaries[STUDY1_CONDITIONS];
	struct study1_judgement judgement;
};

static int plan(struct study *s, struct fault *f)
{
	const struct options *o = s->options;
	struct experiment *e = &s->experiment;
	int rc = experiment_plan(e, study1_conditions, STUDY1_CONDITIONS, o->repetitions, s->session.seed, o->phase_ms,
				 f);
	if (rc < 0)
		return rc;
	e->results = &s->session.results;
	e->setup = session_run_setup(&s->session);
	e->setup.stretch = (unsigned)o->stretch;
	e->setup.duration_ns = (int64_t)(o->seconds * 1e9);
	e->setup.lead_ns = o->lead_ns;
	e->setup.lateness_bound_ns = o->lateness_bound_ns;
	e->setup.connections = STUDY1_CONNECTIONS;
	e->setup.prefer = true;
	progress_open(&s->session.progress, stderr, STUDY1_CONDITIONS * o->repetitions, experiment_run_ns(&e->setup));
	return 0;
}

static int prepare(struct study *s, struct fault *f)
{
	int rc = session_open(&s->session, &s->options->session, f);
	if (rc == 0)
		rc = results_begin_runs(&s->session.results, f);
	return rc == 0 ? plan(s, f) : rc;
}

static struct study1_report report_of(struct study *s, const char *unfinished)
{
	return (struct study1_report){.experiment = &s->experiment,
				      .calibration = &s->session.calibration,
				      .seed = s->session.seed,
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
	study1_judge(s->summaries, s->options->repetitions, s->session.calibration.cpu_ms, &s->judgement);
	CLEANUP_JSON json_value *json = study1_json(r);
	rc = results_write_json(&s->session.results, "summary.json", json, f);
	/* without a request there is nothing to draw */
	if (rc == 0 && s->session.results.requests_have_head)
		rc = page_make_in(s->session.results.folder, f);
	return rc;
}

static int write_report(struct study *s, const struct study1_report *r, struct fault *f)
{
	int rc;
	if (s->options->session.output == SESSION_JSON) {
		CLEANUP_JSON json_value *json = study1_json(r);
		rc = json_write(json, stdout, 2);
	} else {
		rc = study1_write_text(stdout, r, tables_use_color(stdout));
		printf("results in %s\n", s->session.results.folder);
	}
	if (fflush(stdout) != 0 && rc == 0)
		rc = -errno;
	return rc < 0 ? fault_set(f, -rc, "cannot write the report") : 0;
}

static int run(struct study *s, struct fault *f)
{
	struct study1_report r = report_of(s, NULL);
	struct fault later = {0};
	if (s->options->session.output == SESSION_TABLE)
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

static int study1(const struct options *o, const char *program)
{
	struct fault f = {0};
	struct study s = {.options = o, .session = SESSION_NONE(program)};
	int rc = prepare(&s, &f);
	if (rc == 0)
		rc = run(&s, &f);
	progress_clear(&s.session.progress);
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", program, fault_text(&f));
	int status = session_status(&s.session, rc, s.judgement.n == 0);
	experiment_release(&s.experiment);
	session_close(&s.session);
	return status;
}

static int remote(struct options *o, const char *program)
{
	if (o->session.limiter_given || o->session.no_sidecar)
		return usage_error(program,
				   "--remote goes with neither --limiter nor --no-sidecar: limits and sidecars "
				   "are those of the pods");
	o->remote.program = program;
	o->remote.session = &o->session;
	o->remote.seconds = o->seconds;
	o->remote.repetitions = o->repetitions;
	o->remote.stretch = o->stretch;
	o->remote.phase_ms = o->phase_ms;
	o->remote.lead_ns = o->lead_ns;
	o->remote.lateness_bound_ns = o->lateness_bound_ns;
	return remote_study1_run(&o->remote);
}

static int study1_main(const char *program, bool is_demo, int argc, char **argv)
{
	struct options o = {.stretch = 1,
			    .remote = REMOTE_STUDY1_DEFAULTS,
			    .lead_ns = 500 * NSEC_PER_MSEC,
			    .lateness_bound_ns = 5 * NSEC_PER_MSEC};
	int status = begin_options(&o, program, &argc, argv);
	if (status < 0 && argc > 1)
		status = usage_error(program, "takes no arguments beside its options");
	if (status < 0)
		status = complete_options(&o, program);
	if (status < 0 && o.remote.targets.n > 0)
		return remote(&o, program);
	if (status < 0 && is_demo && !o.session.limiter_given && demo_inside_applies())
		return demo_inside_run(&(struct demo_inside){.program = program,
							     .seconds = o.seconds,
							     .rounds = o.session.rounds,
							     .lead_ns = o.lead_ns,
							     .json = o.session.output == SESSION_JSON});
	return status >= 0 ? status : study1(&o, program);
}

int command_demo(int argc, char **argv)
{
	return study1_main("headroom demo", true, argc, argv);
}

int command_study1(int argc, char **argv)
{
	return study1_main("headroom study 1", false, argc, argv);
}
