#include "remote.h"

#include "clock.h"
#include "sender.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <string.h>

/* The CPU observation begins this long before the first planned send. More than for a probe of this host: the question
 * has a network to cross. */
enum { OBSERVE_BEFORE_NS = 200000000, STEP_NS = 50000000 };

static const int64_t period_ns = LIMIT_PERIOD_USEC * NSEC_PER_USEC;
/* a phase that is known worse than that would decide nothing */
static const int64_t phase_error_max_ns = 10 * NSEC_PER_MSEC;

struct remote_run {
	const struct run_setup *setup;
	const struct run_plan *plan;
	struct remote *remote;
	struct remote_target *target;
	struct program load;
	char *url, *warm_up_url;
	int64_t sender_ns; /* what the sender needs for itself: to start, to connect, to end */
	int64_t start_ns;  /* first planned send */
	struct remote_answer ready, begin, end;
	struct fault lost; /* why begin or end is missing or says nothing; err 0 = all is well */
};

/* ---- waiting --------------------------------------------------------------------------------------------------------
 */

/* One step of every wait: until the sender ends, a signal comes, or the time is up. */
static int step(struct remote_run *r, int64_t until_ns, struct fault *f)
{
	struct pollfd fds[] = {{.fd = r->setup->signals->fd, .events = POLLIN},
			       {.fd = r->load.child.reaped ? -1 : r->load.child.pidfd, .events = POLLIN}};
	int64_t left_ns = until_ns - clock_mono_ns();
	left_ns = left_ns < 0 ? 0 : left_ns > STEP_NS ? STEP_NS : left_ns;
	struct timespec ts = {.tv_nsec = left_ns};
	(void)ppoll(fds, ARRAY_LEN(fds), &ts, NULL);
	progress_tick(r->setup->progress);
	if (signals_take(r->setup->signals))
		return fault_set(f, -EINTR, "interrupted by SIG%s", sigabbrev_np(r->setup->signals->last));
	return 0;
}

static int wait_until(struct remote_run *r, int64_t until_ns, struct fault *f)
{
	int rc = 0;
	while (rc == 0 && clock_mono_ns() < until_ns)
		rc = step(r, until_ns, f);
	return rc;
}

static int wait_for_load(struct remote_run *r, int64_t schedule_end_ns, struct fault *f)
{
	int64_t give_up_ns = schedule_end_ns + 60 * NSEC_PER_SEC;
	int rc = 0;
	while (rc == 0 && !program_has_ended(&r->load)) {
		rc = step(r, give_up_ns, f);
		if (rc == 0 && clock_mono_ns() > give_up_ns)
			rc = fault_set(f, -ETIMEDOUT, "headroom-load is still not done 60 s after its schedule");
	}
	return rc;
}

/* ---- the load -------------------------------------------------------------------------------------------------------
 */

/* Also makes the period timer tick, so that the sidecar can tell its phase. That it failed is seen by the run after it.
 */
static int warm_up(struct remote_run *r, struct fault *f)
{
	int64_t began_ns = clock_mono_ns();
	int rc = sender_start_warm_up(&r->load, r->setup, r->warm_up_url, f);
	if (rc == 0)
		rc = wait_for_load(r, began_ns + SENDER_WARM_UP_NS, f);
	r->sender_ns = clock_mono_ns() - began_ns - SENDER_WARM_UP_NS;
	int end_rc = child_end(&r->load.child, SENDER_END_GRACE_NS, rc ? NULL : f);
	return rc ? rc : end_rc;
}

/* From an instant here to the next tick of the quota's period there. The clocks are put together in the middle of
 * question and answer; on one host they are the same. */
static bool phase_at(const struct remote_run *r, const struct remote_answer *a, int64_t instant_ns, int64_t *phase_ns)
{
	bool same = r->target->same_node;
	int64_t ahead_ns = same ? 0 : a->reading.mono_ns - (a->asked_ns + a->answered_ns) / 2;
	int64_t error_ns = a->reading.phase_width_ns / 2 + (same ? 0 : (a->answered_ns - a->asked_ns) / 2);
	if (!a->document || !a->reading.have_phase || error_ns > phase_error_max_ns)
		return false;
	*phase_ns = (a->reading.phase_ns - (instant_ns + ahead_ns)) % period_ns;
	*phase_ns += *phase_ns < 0 ? period_ns : 0;
	return true;
}

/* At the phase of the plan where it is known; else whenever it comes. */
static int choose_start(struct remote_run *r, struct fault *f)
{
	struct remote_answer now;
	int64_t phase_ns;
	int rc = remote_ask(r->remote, r->target, NULL, &now, f);
	int64_t own_ns = 2 * r->sender_ns + 2 * OBSERVE_BEFORE_NS;
	r->start_ns = clock_mono_ns() + (r->setup->lead_ns > own_ns ? r->setup->lead_ns : own_ns);
	if (rc == 0 && phase_at(r, &now, r->start_ns, &phase_ns))
		r->start_ns = ticks_instant_with_phase(r->start_ns, r->start_ns, phase_ns, period_ns,
						       (int64_t)(r->plan->phase_ms * 1e6));
	remote_answer_release(&now);
	return rc;
}

/* Between the two answers lies the run. What is wrong with them makes the run invalid, and ends nothing. */
static int measure_once(struct remote_run *r, struct fault *f)
{
	r->lost = (struct fault){0};
	if (choose_start(r, &r->lost) < 0)
		return 0;
	int rc = sender_start(&r->load, r->setup, r->plan, r->url, r->start_ns, f);
	if (rc == 0)
		rc = wait_until(r, r->start_ns - OBSERVE_BEFORE_NS, f);
	if (rc < 0)
		return rc;
	bool asked = remote_ask(r->remote, r->target, NULL, &r->begin, &r->lost) == 0;
	if (asked && r->begin.answered_ns > r->start_ns)
		fault_set(&r->lost, -ETIME, "the sidecar answered only after the first send");
	rc = wait_for_load(r, r->start_ns + r->setup->duration_ns, f);
	if (rc == 0 && sender_was_late(&r->load, r->start_ns))
		return -EAGAIN;
	if (rc == 0)
		rc = wait_until(r, r->start_ns + r->setup->duration_ns, f);
	if (asked &&
	    remote_ask(r->remote, r->target, r->begin.reading.token, &r->end, r->lost.err ? NULL : &r->lost) < 0)
		remote_answer_release(&r->end);
	return rc;
}

static int measure(struct remote_run *r, struct fault *f)
{
	int rc = -EAGAIN;
	for (int i = 0; rc == -EAGAIN && i < SENDER_LATE_STARTS; i++) {
		int64_t began_ns = clock_mono_ns();
		remote_answer_release(&r->begin);
		rc = measure_once(r, f);
		if (rc == -EAGAIN) {
			r->sender_ns = clock_mono_ns() - began_ns;
			int end_rc = child_end(&r->load.child, SENDER_END_GRACE_NS, f);
			rc = end_rc ? end_rc : rc;
		}
	}
	return rc == -EAGAIN ? program_failed(&r->load, "three times, too late for its first send", f) : rc;
}

/* ---- what came of it ------------------------------------------------------------------------------------------------
 */

static const char *what_changed(const struct remote_run *r)
{
	const struct reading *a = &r->begin.reading;
	const struct reading *b = &r->end.reading;
	bool restarted = false;
	if (r->lost.err)
		return fault_text(&r->lost);
	if (!b->window)
		return "the sidecar tells nothing about the time of the run";
	if (strcmp(a->container_id, b->container_id) != 0 || a->restarts != b->restarts ||
	    (json_get_bool(b->window, "restarted", &restarted) && restarted))
		return "the container was started anew during the run";
	if (fabs(b->limit_cpus - r->plan->condition.limit_cpus) > 0.005)
		return "the limit was changed during the run";
	return NULL;
}

/* One line for sidecar.jsonl, and for the report: what the sidecar said about just this run. */
static char *window_line(const struct remote_run *r)
{
	char limit[LIMIT_TEXT_SIZE];
	CLEANUP_FREE char *window = r->end.reading.window ? json_text(r->end.reading.window, NULL) : NULL;
	CLEANUP_JSON json_value *o = json_new_object();
	limit_text(r->plan->condition.limit_cpus, limit);
	json_set_text(o, "event", "run");
	json_set_text(o, "limit", limit);
	json_set_text(o, "pattern", r->plan->condition.load->name);
	json_set_u64(o, "repetition", r->plan->repetition);
	json_set_u64(o, "position", r->plan->position);
	json_set_text(o, "report", r->target->report_url);
	json_set_text(o, "container", r->target->container);
	json_set_text(o, "container_id", *r->end.reading.container_id ? r->end.reading.container_id : NULL);
	if (window)
		json_set_value(o, "window", json_parse(window, strlen(window), NULL));
	else
		json_set_null(o, "window");
	size_t len;
	char *text = json_text(o, &len);
	char *line;
	int n = text ? asprintf(&line, "%s\n", text) : -1;
	free(text);
	return n < 0 ? NULL : line;
}

/* They are on the clock of another host, and would be compared with ours. */
static void leave_out_server_instants(struct requests *all)
{
	for (size_t i = 0; i < all->n; i++)
		all->list[i].arrived_ns = all->list[i].started_ns = all->list[i].ended_ns = REQUEST_ABSENT;
}

static void take_figures(struct remote_run *r, struct figures *o, const json_value *report)
{
	const char *changed = what_changed(r);
	int64_t phase_ns;
	if (report)
		figures_take_report(o, report);
	if (r->end.document)
		figures_take_window(o, r->end.reading.window, r->plan->condition.limit_cpus);
	if (phase_at(r, &r->end, r->start_ns, &phase_ns))
		o->phase_ms = (double)phase_ns / 1e6;
	if (changed)
		figures_invalidate(o, changed);
}

static int evaluate(struct remote_run *r, struct run_result *out, int rc, struct fault *f)
{
	CLEANUP_JSON json_value *report = sender_report(&r->load);
	struct fault said = {0};
	take_figures(r, &out->figures, report);
	if (!report && r->load.child.reaped && !r->lost.err) {
		(void)program_failed(&r->load, "without a report", &said);
		figures_invalidate(&out->figures, fault_text(&said));
	}
	if (rc < 0)
		figures_invalidate(&out->figures, rc == -EINTR ? "interrupted" : fault_text(f));
	out->measured = true;
	out->sidecar_log = window_line(r);
	if (!report)
		return rc;
	int requests_rc = sender_take_requests(r->setup, out, rc ? NULL : f);
	leave_out_server_instants(&out->requests);
	return rc ? rc : requests_rc;
}

/* Nobody looks at a run of minutes in silence. */
static void tell(const struct remote_run *r, const struct figures *x)
{
	char limit[LIMIT_TEXT_SIZE];
	struct progress *p = r->setup->progress;
	limit_text(r->plan->condition.limit_cpus, limit);
	progress_clear(p);
	fprintf(stderr, "%s: run %zu of %zu, %s at %s: ", r->remote->program, p->done + 1, p->all,
		r->plan->condition.load->name, limit);
	if (!x->valid) {
		fprintf(stderr, "not valid: %s\n", x->invalid_reason);
		return;
	}
	fprintf(stderr, "p99 %.1f ms, mean CPU %.3f", x->p99_ms, x->cpu_cores_mean);
	if (x->nr_throttled != FIGURE_ABSENT && x->nr_periods > 0)
		fprintf(stderr, ", %" PRIu64 " of %" PRIu64 " periods throttled", x->nr_throttled, x->nr_periods);
	fputc('\n', stderr);
}

static int run_it(struct remote_run *r, struct run_result *out, struct fault *f)
{
	r->url = remote_work_url(r->remote, r->target, r->remote->times ? r->remote->times : 1);
	r->warm_up_url = remote_work_url(r->remote, r->target, 1);
	int rc = r->url && r->warm_up_url ? remote_wait(r->remote, r->target, r->setup, &r->ready, f)
					  : fault_set(f, ENOMEM, "URL");
	if (rc == 0)
		rc = warm_up(r, f);
	if (rc < 0)
		return rc;
	rc = measure(r, f);
	int end_rc = child_end(&r->load.child, SENDER_END_GRACE_NS, rc ? NULL : f);
	rc = evaluate(r, out, rc ? rc : end_rc, f);
	tell(r, &out->figures);
	return rc;
}

int remote_condition(const struct run_setup *setup, const struct run_plan *plan, struct run_result *out,
		     struct fault *f)
{
	struct remote_run r = {.setup = setup,
			       .plan = plan,
			       .remote = setup->remote,
			       .target = remote_of(setup->remote, &plan->condition)};
	*out = (struct run_result){.measured = false};
	figures_init(&out->figures);
	program_init(&r.load, "headroom-load");
	int rc = run_it(&r, out, f);
	int end_rc = child_end(&r.load.child, SENDER_END_GRACE_NS, rc ? NULL : f);
	remote_answer_release(&r.ready);
	remote_answer_release(&r.begin);
	remote_answer_release(&r.end);
	program_release(&r.load);
	free(r.url);
	free(r.warm_up_url);
	return rc ? rc : end_rc;
}
