#include "commands.h"

#include "remote_message.h"
#include "remote_study2.h"
#include "session.h"
#include "tables.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { CONNECTIONS = 1 };

struct options {
	struct session_options session;
	struct opt_list targets;
	const char *container, *message_path;
	int64_t wait_ns, every_ns, lateness_bound_ns;
	uint64_t repetitions, works, times;
};

static const char examples[] = "  headroom study 2 --remote A=http://calm:8080/work,http://calm:9464/report \\\n"
			       "                   --remote B=http://limited:8080/work,http://limited:9464/report\n";

static const char notes[] =
	"The first case is what the others are compared with. A to D are judged by their sidecars' verdicts: own_code,\n"
	"throttled, contention, io_wait. On this host the circumstances cannot be made yet: only --remote.\n"
	"Exit status: 0 verdicts as published, 1 they differ, or a run failed, 2 wrong options, 130 or 143 interrupted.\n";

static int begin_options(struct options *o, const char *program, int *argc, char **argv)
{
	struct session_options *s = &o->session;
	const struct opt table[] = {
		{"remote", 0, OPT_LIST, &o->targets, "NAME=PROBE_URL,REPORT_URL",
		 "a probe that runs elsewhere, in the circumstances of that name, and its sidecar; repeatable", NULL, 0,
		 0, NULL},
		{"repetitions", 0, OPT_U64, &o->repetitions, "N", "runs of each case (default 3)", NULL, 1, 100, NULL},
		{"works", 0, OPT_U64, &o->works, "N", "pieces of work in a run (default 8)", NULL, 1, 1000, NULL},
		{"every", 0, OPT_DURATION, &o->every_ns, "TIME", "from one to the next (default 2s)", NULL,
		 100 * NSEC_PER_MSEC, 60 * NSEC_PER_SEC, NULL},
		{"times", 0, OPT_U64, &o->times, "N",
		 "a piece of work is so many times what the first case was calibrated to (default 100: 0.4 s)", NULL, 1,
		 10000, NULL},
		{"rounds", 0, OPT_U64, &s->rounds, "N", "instead of what it was calibrated to", NULL, 1,
		 UINT64_C(1) << 40, &s->rounds_given},
		{"seed", 0, OPT_U64, &s->seed, "N", "of the order (default: another one each time)", NULL, 0, 0,
		 &s->seed_given},
		{"wait", 0, OPT_DURATION, &o->wait_ns, "TIME",
		 "so long each of them may take to be ready (default 120s)", NULL, 0, 3600 * NSEC_PER_SEC, NULL},
		{"container", 0, OPT_TEXT, &o->container, "NAME",
		 "of several containers beside a sidecar, the probe's (default probe)", NULL, 0, 0, NULL},
		{"lateness-bound", 0, OPT_DURATION, &o->lateness_bound_ns, "TIME",
		 "a run is invalid when the sender is later at p99 (default 5ms)", NULL, NSEC_PER_USEC,
		 60 * NSEC_PER_SEC, NULL},
		{"termination-log", 0, OPT_TEXT, &o->message_path, "FILE",
		 "a summary of at most 4096 bytes (default " REMOTE_MESSAGE_PATH ", if it is there)", NULL, 0, 0, NULL},
		{"out", 0, OPT_TEXT, &s->out, "DIR", "where results go (default: nowhere)", NULL, 0, 0, NULL},
		{"output", 'o', OPT_CHOICE, &s->output, "table|json", "form of the report on stdout (default table)",
		 session_output_names, 0, 0, NULL},
		{NULL, 0, OPT_FLAG, NULL, NULL, NULL, NULL, 0, 0, NULL},
	};
	const struct opts_spec spec = {
		.program = program,
		.usage = "--remote NAME=PROBE_URL,REPORT_URL ... [options]",
		.summary = "Study 2: the same work in different circumstances, told apart by counters.",
		.examples = examples,
		.notes = notes,
		.table = table};
	return opts_begin(&spec, argc, argv, stdout, stderr);
}

struct study {
	const struct options *options;
	const char *program;
	struct session session;
	struct remote remote;
	struct workload loads[REMOTE_TARGETS_MAX];
	struct condition conditions[REMOTE_TARGETS_MAX];
	struct summary summaries[REMOTE_TARGETS_MAX];
	struct experiment experiment;
};

static int take_targets(struct study *s, struct fault *f)
{
	const struct options *o = s->options;
	s->remote.program = s->program;
	s->remote.container = o->container;
	s->remote.wait_ns = o->wait_ns;
	s->remote.rounds = o->session.rounds;
	s->remote.times = o->times;
	for (size_t i = 0; i < o->targets.n; i++) {
		int rc = remote_add(&s->remote, o->targets.values[i], f);
		if (rc < 0)
			return rc;
		const char *name = s->remote.targets[i].name;
		for (size_t k = 0; k < i; k++)
			if (strcmp(s->remote.targets[k].name, name) == 0)
				return fault_set(f, -EINVAL, "--remote %.60s: this name is given twice", name);
	}
	return s->remote.n ? 0 : fault_set(f, -EINVAL, "--remote is missing: at least one probe and its sidecar");
}

static struct run_setup setup_of(struct study *s)
{
	const struct options *o = s->options;
	struct run_setup setup = session_run_setup(&s->session);
	setup.limiter = NULL;
	setup.duration_ns = o->every_ns * (int64_t)o->works;
	/* the sender's own first request is a whole piece of work */
	setup.lead_ns = 2 * o->every_ns;
	setup.lateness_bound_ns = o->lateness_bound_ns;
	setup.connections = CONNECTIONS;
	setup.remote = &s->remote;
	return setup;
}

static int plan(struct study *s, struct fault *f)
{
	const struct options *o = s->options;
	struct experiment *e = &s->experiment;
	struct run_setup setup = setup_of(s);
	int rc = remote_open(&s->remote, &setup, f);
	if (rc < 0)
		return rc;
	for (size_t i = 0; i < s->remote.n; i++) {
		s->loads[i] = (struct workload){s->remote.targets[i].name, 1, o->every_ns};
		s->conditions[i] = (struct condition){s->remote.targets[i].limit_cpus, &s->loads[i]};
	}
	rc = experiment_plan(e, s->conditions, s->remote.n, o->repetitions, s->session.seed, (double)NAN, f);
	e->setup = setup;
	e->setup.rounds = s->remote.rounds * s->remote.times;
	e->results = o->session.out ? &s->session.results : NULL;
	progress_open(&s->session.progress, stderr, s->remote.n * o->repetitions, experiment_run_ns(&e->setup));
	return rc;
}

static int prepare(struct study *s, struct fault *f)
{
	int rc = session_open_remote(&s->session, &s->options->session, f);
	if (rc == 0 && s->options->session.out)
		rc = results_begin_runs(&s->session.results, f);
	return rc == 0 ? plan(s, f) : rc;
}

static struct remote_study2 report_of(const struct study *s, const char *unfinished)
{
	return (struct remote_study2){.experiment = &s->experiment,
				      .remote = &s->remote,
				      .summaries = s->summaries,
				      .seed = s->session.seed,
				      .started_wall_ns = s->session.results.started_wall_ns,
				      .unfinished = unfinished,
				      .folder = s->session.results.folder};
}

static int summarize(struct study *s, const struct remote_study2 *r, struct fault *f)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < s->experiment.n_conditions; i++)
		rc = summary_make(&s->experiment, i, &s->summaries[i], f);
	if (rc < 0 || !r->folder)
		return rc;
	CLEANUP_JSON json_value *json = study2_json(r);
	return results_write_json(&s->session.results, "summary.json", json, f);
}

static int write_report(const struct study *s, const struct remote_study2 *r, struct fault *f)
{
	int rc;
	if (s->options->session.output == SESSION_JSON) {
		CLEANUP_JSON json_value *json = study2_json(r);
		rc = json_write(json, stdout, 2);
	} else {
		rc = study2_write_text(stdout, r, tables_use_color(stdout));
	}
	if (fflush(stdout) != 0 && rc == 0)
		rc = -errno;
	return rc < 0 ? fault_set(f, -rc, "cannot write the report") : 0;
}

static int write_message(const struct study *s, const struct remote_study2 *r, struct fault *f)
{
	CLEANUP_FREE char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	if (!out)
		return fault_set(f, ENOMEM, "summary");
	study2_write_message(out, r);
	if (fclose(out) != 0)
		return fault_set(f, ENOMEM, "summary");
	return remote_message_write(s->options->message_path, text, remote_message_cut(text), f);
}

static int run(struct study *s, struct fault *f)
{
	struct fault later = {0};
	struct remote_study2 r;
	int rc = prepare(s, f);
	if (rc == 0) {
		r = report_of(s, NULL);
		if (s->options->session.output == SESSION_TABLE)
			study2_write_intro(stdout, &r);
		rc = experiment_run(&s->experiment, f);
	}
	/* whatever stopped it: what was measured is summed up and shown */
	r = report_of(s, rc ? fault_text(f) : NULL);
	int after_rc = summarize(s, &r, &later);
	if (after_rc == 0 && s->experiment.n_runs > 0)
		after_rc = write_report(s, &r, &later);
	if (after_rc == 0)
		after_rc = write_message(s, &r, &later);
	if (rc == 0 && after_rc < 0)
		*f = later;
	return rc ? rc : after_rc;
}

static int study2(const struct options *o, const char *program)
{
	struct fault f = {0};
	struct study s = {.options = o, .program = program, .session = SESSION_NONE(program), .remote = REMOTE_NONE};
	int rc = take_targets(&s, &f);
	bool usage = rc < 0;
	if (rc == 0)
		rc = run(&s, &f);
	progress_clear(&s.session.progress);
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", program, fault_text(&f));
	bool as_published = false;
	if (rc == 0) {
		struct remote_study2 r = report_of(&s, NULL);
		as_published = study2_differences(&r, NULL) == 0;
	}
	int status = usage ? 2 : session_status(&s.session, rc, as_published);
	experiment_release(&s.experiment);
	remote_close(&s.remote);
	session_close(&s.session);
	return status;
}

int command_remote_study2(int argc, char **argv)
{
	const char *program = "headroom study 2";
	struct options o = {.container = "probe",
			    .wait_ns = 120 * NSEC_PER_SEC,
			    .every_ns = 2 * NSEC_PER_SEC,
			    .lateness_bound_ns = 5 * NSEC_PER_MSEC,
			    .repetitions = 3,
			    .works = 8,
			    .times = 100};
	int status = begin_options(&o, program, &argc, argv);
	if (status < 0 && argc > 1) {
		fprintf(stderr, "%s: takes no arguments beside its options\n", program);
		status = 2;
	}
	return status >= 0 ? status : study2(&o, program);
}
