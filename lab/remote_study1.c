#include "remote_study1.h"

#include "clock.h"
#include "remote_report.h"
#include "tables.h"

#include <errno.h>
#include <math.h>
#include <string.h>

struct study {
	const struct remote_study1 *options;
	struct session session;
	struct remote remote;
	struct condition conditions[STUDY1_CONDITIONS]; /* those that have a target */
	size_t numbers[STUDY1_CONDITIONS];              /* which of study 1 they are */
	size_t n;
	struct experiment experiment;
	struct summary summaries[STUDY1_CONDITIONS];
	struct study1_judgement judgement;
};

/* ---- options --------------------------------------------------------------------------------------------------------
 */

static bool is_limit_of_study1(double cpus)
{
	for (size_t c = 0; c < STUDY1_CONDITIONS; c++)
		if (!(study1_conditions[c].limit_cpus < cpus) && !(study1_conditions[c].limit_cpus > cpus))
			return true;
	return false;
}

static int take_target(struct remote *r, const char *text, struct fault *f)
{
	double cpus;
	int rc = remote_add(r, text, f);
	if (rc < 0)
		return rc;
	const struct remote_target *t = &r->targets[r->n - 1];
	if (!remote_limit(t->name, &cpus) || !is_limit_of_study1(cpus))
		return fault_set(f, -EINVAL, "--remote %.60s: study 1 has the limits 0.25, 0.5 and none", t->name);
	return remote_find(r, cpus) == t ? 0
					 : fault_set(f, -EINVAL, "--remote %.60s: this limit is given twice", t->name);
}

static int take_targets(struct study *s, struct fault *f)
{
	const struct remote_study1 *o = s->options;
	int rc = 0;
	s->remote.program = o->program;
	s->remote.container = o->container;
	s->remote.wait_ns = o->wait_ns;
	s->remote.rounds = o->session->rounds;
	for (size_t i = 0; rc == 0 && i < o->targets.n; i++)
		rc = take_target(&s->remote, o->targets.values[i], f);
	if (rc == 0 && !remote_find(&s->remote, study1_conditions[0].limit_cpus))
		rc = fault_set(f, -EINVAL, "--remote: the probe at 0.25 is missing, which is what study 1 is about");
	for (size_t c = 0; rc == 0 && c < STUDY1_CONDITIONS; c++) {
		if (!remote_find(&s->remote, study1_conditions[c].limit_cpus))
			continue;
		s->numbers[s->n] = c;
		s->conditions[s->n++] = study1_conditions[c];
	}
	return rc;
}

/* ---- the study ------------------------------------------------------------------------------------------------------
 */

static void set_up(struct study *s, struct run_setup *setup)
{
	const struct remote_study1 *o = s->options;
	*setup = session_run_setup(&s->session);
	setup->limiter = NULL;
	setup->stretch = (unsigned)o->stretch;
	setup->duration_ns = (int64_t)(o->seconds * 1e9);
	setup->lead_ns = o->lead_ns;
	setup->lateness_bound_ns = o->lateness_bound_ns;
	setup->connections = STUDY1_CONNECTIONS;
	setup->remote = &s->remote;
}

static int prepare(struct study *s, struct fault *f)
{
	const struct remote_study1 *o = s->options;
	struct experiment *e = &s->experiment;
	int rc = session_open_remote(&s->session, o->session, f);
	if (rc == 0 && o->session->out)
		rc = results_begin_runs(&s->session.results, f);
	if (rc == 0)
		rc = experiment_plan(e, s->conditions, s->n, o->repetitions, s->session.seed, o->phase_ms, f);
	if (rc < 0)
		return rc;
	e->results = o->session->out ? &s->session.results : NULL;
	set_up(s, &e->setup);
	rc = remote_open(&s->remote, &e->setup, f);
	e->setup.rounds = s->remote.rounds;
	progress_open(&s->session.progress, stderr, s->n * o->repetitions, experiment_run_ns(&e->setup));
	return rc;
}

static struct remote_report report_of(struct study *s, const char *unfinished)
{
	return (struct remote_report){.experiment = &s->experiment,
				      .remote = &s->remote,
				      .seed = s->session.seed,
				      .started_wall_ns = s->session.results.started_wall_ns,
				      .summaries = s->summaries,
				      .judgement = unfinished ? NULL : &s->judgement,
				      .unfinished = unfinished,
				      .folder = s->session.results.folder};
}

static int summarize(struct study *s, const struct remote_report *r, struct fault *f)
{
	int rc = 0;
	for (size_t i = 0; rc == 0 && i < s->n; i++)
		rc = summary_make(&s->experiment, i, &s->summaries[s->numbers[i]], f);
	if (rc < 0)
		return rc;
	/* what the rounds cost at their calibration is the probe's to know */
	study1_judge(s->summaries, s->options->repetitions, (double)NAN, &s->judgement);
	if (!r->folder)
		return 0;
	CLEANUP_JSON json_value *json = remote_json(r);
	return results_write_json(&s->session.results, "summary.json", json, f);
}

static int write_report(const struct study *s, const struct remote_report *r, struct fault *f)
{
	int rc;
	if (s->options->session->output == SESSION_JSON) {
		CLEANUP_JSON json_value *json = remote_json(r);
		rc = json_write(json, stdout, 2);
	} else {
		rc = remote_write_text(stdout, r, tables_use_color(stdout));
		if (r->folder)
			printf("results in %s\n", r->folder);
	}
	if (fflush(stdout) != 0 && rc == 0)
		rc = -errno;
	return rc < 0 ? fault_set(f, -rc, "cannot write the report") : 0;
}

/* Also of a study that has no run: then the sentence says why. */
static int write_summary(struct study *s, const struct remote_report *r, struct fault *f)
{
	CLEANUP_FREE char *message = remote_message(r);
	if (!message)
		return fault_set(f, ENOMEM, "summary");
	return remote_message_write(s->options->message_path, message, remote_message_cut(message), f);
}

static int run(struct study *s, struct fault *f)
{
	struct fault later = {0};
	struct remote_report r;
	int rc = prepare(s, f);
	if (rc == 0) {
		r = report_of(s, NULL);
		if (s->options->session->output == SESSION_TABLE)
			remote_write_intro(stdout, &r, tables_use_color(stdout));
		rc = experiment_run(&s->experiment, f);
	}
	/* whatever stopped it: what was measured is summed up and shown */
	r = report_of(s, rc ? fault_text(f) : NULL);
	int after_rc = s->experiment.n_runs > 0 ? summarize(s, &r, &later) : 0;
	if (after_rc == 0 && s->experiment.n_runs > 0)
		after_rc = write_report(s, &r, &later);
	if (after_rc == 0)
		after_rc = write_summary(s, &r, &later);
	if (rc == 0 && after_rc < 0)
		*f = later;
	return rc ? rc : after_rc;
}

int remote_study1_run(const struct remote_study1 *o)
{
	struct fault f = {0};
	struct study s = {.options = o, .session = SESSION_NONE(o->program), .remote = REMOTE_NONE};
	int rc = take_targets(&s, &f);
	bool usage = rc < 0;
	if (rc == 0)
		rc = run(&s, &f);
	progress_clear(&s.session.progress);
	if (rc < 0)
		fprintf(stderr, "%s: %s\n", o->program, fault_text(&f));
	int status = usage ? 2 : session_status(&s.session, rc, s.judgement.n == 0);
	experiment_release(&s.experiment);
	remote_close(&s.remote);
	session_close(&s.session);
	return status;
}
