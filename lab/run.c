#include "run.h"

#include "clock.h"
#include "host.h"
#include "sender.h"
#include "watch.h"

#include <errno.h>
#include <math.h>
#include <poll.h>
#include <string.h>

/* the CPU observation begins this long before the first planned send, as in the published study */
enum { OBSERVE_BEFORE_NS = 100000000 };

static const int64_t ready_timeout_ns = 30 * NSEC_PER_SEC;
static const int64_t period_ns = LIMIT_PERIOD_USEC * NSEC_PER_USEC;

void limit_text(double cpus, char out[LIMIT_TEXT_SIZE])
{
	if (cpus == LIMIT_NO_CPUS)
		snprintf(out, LIMIT_TEXT_SIZE, "none");
	else
		snprintf(out, LIMIT_TEXT_SIZE, "%g", cpus);
}

struct run {
	const struct run_setup *setup;
	const struct run_plan *plan;
	struct limit_group group;
	struct program probe, load, sidecar;
	struct watch watch;
	char url[256];
	int64_t sender_ns; /* what the sender needs for itself: to start, to connect, to end */
	int64_t start_ns;  /* first planned send */
	bool observed;     /* begin and end hold snapshots */
	struct snapshot begin, end;
	struct cpu_ticks host_begin, host_end;
};

/* ---- waiting --------------------------------------------------------------------------------------------------------
 */

/* Sleeps to an absolute instant or until a signal or the end of the sender, whichever is first. */
static void sleep_until(const struct run *r, int64_t until_ns)
{
	struct pollfd fds[] = {{.fd = r->setup->signals->fd, .events = POLLIN},
			       {.fd = r->load.child.reaped ? -1 : r->load.child.pidfd, .events = POLLIN}};
	int64_t left_ns = until_ns - clock_mono_ns();
	if (left_ns <= 0)
		return;
	struct timespec ts = {.tv_sec = left_ns / NSEC_PER_SEC, .tv_nsec = left_ns % NSEC_PER_SEC};
	(void)ppoll(fds, ARRAY_LEN(fds), &ts, NULL);
}

static int check_still_fine(struct run *r, struct fault *f)
{
	if (signals_take(r->setup->signals))
		return fault_set(f, -EINTR, "interrupted by SIG%s", sigabbrev_np(r->setup->signals->last));
	if (program_has_ended(&r->probe))
		return program_failed(&r->probe, "while it was needed", f);
	if (program_has_ended(&r->sidecar))
		return program_failed(&r->sidecar, "while it was needed", f);
	return 0;
}

/* One step of every wait: looks after signals and the probe, reads cpu.stat, sleeps for the rest of the ms. */
static int step(struct run *r, struct fault *f)
{
	int64_t now_ns = clock_mono_ns();
	int rc = check_still_fine(r, f);
	if (rc == 0 && r->watch.open)
		rc = watch_poll(&r->watch, f);
	progress_tick(r->setup->progress);
	if (rc == 0)
		sleep_until(r, (now_ns / WATCH_INTERVAL_NS + 1) * WATCH_INTERVAL_NS);
	return rc;
}

static int wait_until(struct run *r, int64_t until_ns, struct fault *f)
{
	int rc = 0;
	while (rc == 0 && clock_mono_ns() < until_ns)
		rc = step(r, f);
	return rc;
}

/* The sender writes its report when it is asked to end, so it gets the time to do so. */
static int wait_for_load(struct run *r, struct fault *f)
{
	int64_t give_up_ns = r->start_ns + r->setup->duration_ns + 60 * NSEC_PER_SEC;
	int rc = 0;
	while (rc == 0 && !program_has_ended(&r->load)) {
		rc = step(r, f);
		if (rc == 0 && clock_mono_ns() > give_up_ns)
			rc = fault_set(f, -ETIMEDOUT, "headroom-load is still not done 60 s after its schedule");
	}
	return rc;
}

/* ---- the probe ------------------------------------------------------------------------------------------------------
 */

static int open_group(struct run *r, struct fault *f)
{
	char label[64];
	char limit[LIMIT_TEXT_SIZE];
	limit_text(r->plan->condition.limit_cpus, limit);
	snprintf(label, sizeof label, "%u.%u-%s-%s", r->plan->repetition, r->plan->position,
		 r->plan->condition.load->name, limit);
	int rc = limit_open(&r->group, r->setup->limiter, label, f);
	if (rc < 0)
		return rc;
	if (r->setup->prefer)
		limit_prefer(&r->group);
	return limit_set(&r->group, r->plan->condition.limit_cpus, f);
}

static int take_url(struct run *r, const char *line, struct fault *f)
{
	CLEANUP_JSON json_value *ready = json_parse(line, strlen(line), f);
	const char *url = ready ? json_get_text(ready, "url") : NULL;
	if (!url)
		return fault_set(f, -EPROTO, "headroom-probe did not say where it listens: %.200s", line);
	snprintf(r->url, sizeof r->url, "%s/work", url);
	return 0;
}

static int wait_until_ready(struct run *r, struct fault *f)
{
	int64_t give_up_ns = clock_mono_ns() + ready_timeout_ns;
	CLEANUP_FREE char *line = NULL;
	int rc = 0;
	while (rc == 0 && !(line = capture_first_line(&r->probe.out))) {
		rc = step(r, f);
		if (rc == 0 && clock_mono_ns() > give_up_ns)
			rc = fault_set(f, -ETIMEDOUT, "headroom-probe was not ready within 30 s");
	}
	return rc < 0 ? rc : take_url(r, line, f);
}

static int start_probe(struct run *r, struct fault *f)
{
	char rounds[24];
	const char *argv[LIMIT_PREFIX_MAX + 16];
	limit_command_prefix(&r->group, argv);
	size_t n = 0;
	while (argv[n])
		n++;
	snprintf(rounds, sizeof rounds, "%llu", (unsigned long long)r->setup->rounds);
	const char *const own[] = {r->setup->probe, "--listen", "127.0.0.1:0", "--workers", "1",
				   "--rounds",      rounds,     NULL};
	memcpy(argv + n, own, sizeof own);
	struct child_spec spec = {.argv = argv, .cgroup_procs = r->group.procs};
	int rc = program_start(&r->probe, &spec, f);
	if (rc == 0)
		rc = wait_until_ready(r, f);
	if (rc == 0)
		rc = limit_adopt(&r->group, r->probe.child.pid, f);
	return rc == 0 ? watch_open(&r->watch, r->group.pid, f) : rc;
}

/* A limit from further up would be in force instead of ours, and the figures would be wrong. */
static int check_binding(struct run *r, struct fault *f)
{
	struct snapshot s = {0};
	int rc = watch_snapshot(&r->watch, &s, f);
	if (rc < 0)
		return rc;
	struct limit binding = limit_of(&s);
	if (binding.status != LIMIT_SET || binding.level == 0)
		return 0;
	return fault_set(f, -EBUSY,
			 "a cgroup above (%s) is limited to %g CPUs, so a limit of ours says nothing: run headroom "
			 "where nothing above it has a CPU limit",
			 r->watch.reader.levels[binding.level].name, cpu_quota_cpus(&binding.quota));
}

static int start_sidecar(struct run *r, struct fault *f)
{
	char pid[16];
	if (!r->setup->sidecar)
		return 0;
	snprintf(pid, sizeof pid, "%d", (int)r->group.pid);
	const char *const argv[] = {r->setup->sidecar, "--pid", pid, "--listen", "127.0.0.1:0", NULL};
	struct child_spec spec = {.argv = argv};
	return program_start(&r->sidecar, &spec, f);
}

static int begin(struct run *r, struct fault *f)
{
	int rc = open_group(r, f);
	if (rc == 0)
		rc = start_probe(r, f);
	if (rc == 0)
		rc = check_binding(r, f);
	return rc == 0 ? start_sidecar(r, f) : rc;
}

/* ---- the load -------------------------------------------------------------------------------------------------------
 */

/* First touches of memory, caches, connections: left out of everything. It also makes the period timer tick, so that
 * the phase can be chosen, and shows how long the sender needs for itself. */
static int warm_up(struct run *r, struct fault *f)
{
	r->start_ns = clock_mono_ns();
	int rc = sender_start_warm_up(&r->load, r->setup, r->url, f);
	if (rc == 0)
		rc = wait_for_load(r, f);
	if (rc == 0 && child_exit_code(&r->load.child) != 0)
		rc = program_failed(&r->load, "during the warm-up", f);
	r->sender_ns = clock_mono_ns() - r->start_ns - SENDER_WARM_UP_NS;
	int end_rc = child_end(&r->load.child, SENDER_END_GRACE_NS, rc ? NULL : f);
	return rc ? rc : end_rc;
}

static int64_t longer(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

/* Without a limit there are no periods, and any instant is as good as another. */
static void choose_start(struct run *r)
{
	int64_t known_phase_ns;
	/* twice, since a machine that is slow once can be slower the next time */
	int64_t earliest_ns = clock_mono_ns() + longer(r->setup->lead_ns, 2 * r->sender_ns + 2 * OBSERVE_BEFORE_NS);
	r->start_ns = earliest_ns;
	if (ticks_phase_ns(&r->watch.ticks, earliest_ns, period_ns, &known_phase_ns))
		r->start_ns = ticks_instant_with_phase(earliest_ns, earliest_ns, known_phase_ns, period_ns,
						       (int64_t)(r->plan->phase_ms * 1e6));
}

static int observe(struct run *r, struct snapshot *s, struct cpu_ticks *host, struct fault *f)
{
	struct fault missing = {0}; /* figures that are not there stay absent, they are no failure */
	*s = (struct snapshot){0};
	if (!host_cpu_ticks(host))
		*host = (struct cpu_ticks){0};
	int rc = watch_snapshot(&r->watch, s, &missing);
	if (rc < 0 && f)
		*f = missing;
	return rc;
}

static int measure_once(struct run *r, struct fault *f)
{
	choose_start(r);
	int rc = sender_start(&r->load, r->setup, r->plan, r->url, r->start_ns, f);
	if (rc == 0)
		rc = wait_until(r, r->start_ns - OBSERVE_BEFORE_NS, f);
	if (rc == 0)
		rc = observe(r, &r->begin, &r->host_begin, f);
	r->observed = rc == 0;
	if (rc == 0)
		rc = wait_for_load(r, f);
	if (rc == 0 && sender_was_late(&r->load, r->start_ns))
		return -EAGAIN;
	if (rc == 0)
		rc = wait_until(r, r->start_ns + r->setup->duration_ns, f);
	if (r->observed && observe(r, &r->end, &r->host_end, rc ? NULL : f) < 0)
		r->observed = false;
	return rc;
}

/* A host that is busy just then can make the sender ten times as slow to start: it gets that time when tried again. */
static int measure(struct run *r, struct fault *f)
{
	int rc = -EAGAIN;
	for (int i = 0; rc == -EAGAIN && i < SENDER_LATE_STARTS; i++) {
		int64_t began_ns = clock_mono_ns();
		rc = measure_once(r, f);
		if (rc == -EAGAIN) {
			r->sender_ns = clock_mono_ns() - began_ns;
			int end_rc = child_end(&r->load.child, SENDER_END_GRACE_NS, f);
			rc = end_rc ? end_rc : rc;
		}
	}
	return rc == -EAGAIN ? program_failed(&r->load, "three times, too late for its first send", f) : rc;
}

/* ---- the end --------------------------------------------------------------------------------------------------------
 */

/* Ends everything in order; the first thing that would not end is what is reported. */
static int finish(struct run *r, struct fault *f)
{
	struct fault faults[4] = {{0}};
	/* SIGTERM lets the sender write its partial report */
	int rcs[4] = {child_end(&r->load.child, SENDER_END_GRACE_NS, &faults[0]),
		      child_end(&r->sidecar.child, SENDER_END_GRACE_NS, &faults[1]),
		      child_end(&r->probe.child, SENDER_END_GRACE_NS, &faults[2]), 0};
	rcs[3] = limit_close(&r->group, &faults[3]);
	for (size_t i = 0; i < ARRAY_LEN(rcs); i++) {
		if (rcs[i] == 0)
			continue;
		if (f)
			*f = faults[i];
		return rcs[i];
	}
	return 0;
}

/* ---- what came of it ------------------------------------------------------------------------------------------------
 */

static void take_figures(const struct run *r, struct figures *o, const json_value *report)
{
	int64_t phase_ns;
	figures_take_report(o, report);
	figures_take_counters(o, &r->begin, &r->end, r->plan->condition.limit_cpus);
	figures_take_steal(o, &r->host_begin, &r->host_end);
	if (ticks_phase_ns(&r->watch.ticks, r->start_ns, period_ns, &phase_ns))
		o->phase_ms = (double)phase_ns / 1e6;
}

/* Whatever is there is taken, also after a failure: `rc` is how the run went until now. */
static int evaluate(struct run *r, struct run_result *out, int rc, struct fault *f)
{
	CLEANUP_JSON json_value *report = sender_report(&r->load);
	if (report && r->observed) {
		take_figures(r, &out->figures, report);
		out->measured = true;
	}
	if (rc < 0)
		figures_invalidate(&out->figures, rc == -EINTR ? "interrupted" : fault_text(f));
	if (rc == 0 && !out->measured)
		rc = program_failed(&r->load, "without a report", f);
	int requests_rc = sender_take_requests(r->setup, out, rc ? NULL : f);
	return rc ? rc : requests_rc;
}

int run_condition(const struct run_setup *setup, const struct run_plan *plan, struct run_result *out, struct fault *f)
{
	struct run r = {.setup = setup, .plan = plan, .group = LIMIT_GROUP_NONE, .watch = WATCH_CLOSED};
	*out = (struct run_result){.measured = false};
	figures_init(&out->figures);
	program_init(&r.probe, "headroom-probe");
	program_init(&r.load, "headroom-load");
	program_init(&r.sidecar, "headroom-sidecar");
	int rc = begin(&r, f);
	if (rc == 0)
		rc = warm_up(&r, f);
	bool measuring = rc == 0;
	if (rc == 0)
		rc = measure(&r, f);
	int finish_rc = finish(&r, rc ? NULL : f);
	rc = rc ? rc : finish_rc;
	if (measuring)
		rc = evaluate(&r, out, rc, f);
	out->sidecar_log = capture_text(&r.sidecar.out);
	out->ticks = r.watch.ticks;
	r.watch.ticks = TICKS_NONE;
	watch_close(&r.watch);
	program_release(&r.probe);
	program_release(&r.load);
	program_release(&r.sidecar);
	return rc;
}

void run_result_release(struct run_result *r)
{
	requests_release(&r->requests);
	ticks_release(&r->ticks);
	free(r->requests_csv);
	free(r->sidecar_log);
	*r = (struct run_result){.measured = false};
}
