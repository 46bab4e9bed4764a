#include "sampler.h"

#include "clock.h"
#include "events.h"
#include "exec.h"
#include "metrics.h"
#include "report.h"
#include "server.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

struct sampler {
	const struct tree *tree;
	const struct sampler_options *options;
	struct fleet fleet;
	struct finder finder;
	struct server *server;
	struct exec exec;
	int signal_fd;
	int64_t next_tick_ns, next_limits_ns, next_second_ns, next_log_ns, next_event_ns;
	bool stop;
	int status;
};

/* ---- HTTP ---- */

static void answer_text(struct server_answer *a, unsigned status, const char *text)
{
	a->status = status;
	a->content_type = "text/plain; charset=utf-8";
	a->body = strdup(text);
	a->len = strlen(text);
}

static void answer_metrics(struct sampler *s, const struct server_request *r, struct server_answer *a)
{
	enum metrics_format format = metrics_choose(r->accept);
	a->status = 200;
	a->content_type = metrics_content_type(format);
	a->body = metrics_render(&s->fleet, format, &a->len);
}

static void answer_report(struct sampler *s, const struct server_request *r, struct server_answer *a)
{
	bool unknown_token;
	CLEANUP_JSON json_value *document = report_document(&s->fleet, r->since, &unknown_token);
	if (unknown_token) {
		answer_text(
			a, 410,
			"the token of ?since= is not kept any more: take a new one from this page without ?since=\n");
		return;
	}
	a->status = 200;
	a->content_type = "application/json";
	a->body = json_text(document, &a->len);
}

/* Ready: at least one target is readable. */
static void answer_health(struct sampler *s, const struct server_request *r, struct server_answer *a)
{
	bool readable = false;
	(void)r;
	for (size_t i = 0; i < s->fleet.n; i++)
		readable |= s->fleet.watches[i]->open;
	answer_text(a, readable ? 200 : 503, readable ? "ok\n" : "no target is readable; /report says why\n");
}

static void answer_alive(struct sampler *s, const struct server_request *r, struct server_answer *a)
{
	(void)s;
	(void)r;
	answer_text(a, 200, "ok\n");
}

static void on_request(void *context, const struct server_request *r, struct server_answer *a)
{
	static const struct {
		const char *path;
		void (*answer)(struct sampler *s, const struct server_request *r, struct server_answer *a);
	} pages[] = {
		{"/metrics", answer_metrics},
		{"/report", answer_report},
		{"/healthz", answer_health},
		{"/livez", answer_alive},
	};
	for (size_t i = 0; i < ARRAY_LEN(pages); i++) {
		if (strcmp(r->path, pages[i].path) == 0) {
			pages[i].answer(context, r, a);
			return;
		}
	}
	answer_text(a, 404, "here are /metrics, /report, /healthz and /livez\n");
}

/* ---- sampling ---- */

static void sample_watch(struct sampler *s, struct watch *w, enum snapshot_what what)
{
	struct fault why;
	fault_clear(&why);
	int rc = what == SNAPSHOT_FULL ? fleet_sample_full(&s->fleet, w, &why) : watch_sample(w, what, &why);
	if (rc < 0) {
		finder_lost(&s->finder, &s->fleet, w, &why);
		return;
	}
	/* not the limit of the sample before, which may have been taken for /report */
	struct limit before = w->told_limit;
	w->told_limit = w->limit;
	if (event_limit_differs(&before, &w->limit)) {
		event_limit_changed(&s->fleet, w, &before);
		event_mismatch(&s->fleet, w);
	}
}

static void close_second(struct watch *w)
{
	struct window second;
	window_between(&second, &w->marks[MARK_SECOND].snap, &w->now.snap);
	worst_take(&w->worst, &second);
	watch_mark(w, MARK_SECOND);
}

static bool is_due(int64_t *next_ns, int64_t every_ns, int64_t now_ns)
{
	if (now_ns < *next_ns)
		return false;
	while (*next_ns <= now_ns)
		*next_ns += every_ns;
	return true;
}

/* What falls on a tick. */
struct due {
	bool limits, second, event, log;
};

static struct due what_is_due(struct sampler *s, int64_t now_ns)
{
	return (struct due){
		.limits = is_due(&s->next_limits_ns, CPU_PERIOD_DEFAULT_USEC * NSEC_PER_USEC, now_ns),
		.second = is_due(&s->next_second_ns, NSEC_PER_SEC, now_ns),
		.event = is_due(&s->next_event_ns, s->options->event_window_ns, now_ns),
		.log = is_due(&s->next_log_ns, s->options->log_every_ns, now_ns),
	};
}

/* A window that is judged needs a full sample at its end: counters and pressure of different instants do not fit. On a
 * node with hundreds of containers the full one of every second is left out, and with it the worst second, and the
 * pods' own levels are read with the full ones only: these would cost more than all the rest. */
static void sample_all(struct sampler *s, const struct due *due)
{
	bool is_node = s->finder.way == WAY_NODE;
	bool seconds = due->second && !is_node;
	bool full = seconds || due->event || due->log;
	enum snapshot_what what = full ? SNAPSHOT_FULL : due->limits ? SNAPSHOT_LIMITS : SNAPSHOT_FAST;
	for (size_t i = 0; i < s->fleet.n; i++) {
		struct watch *w = s->fleet.watches[i];
		if (is_node && !full && w->who.scope == SCOPE_POD)
			continue;
		if (w->open)
			sample_watch(s, w, what);
		else if (full)
			fleet_take_witnesses(&s->fleet, w);
		if (seconds && w->open)
			close_second(w);
	}
}

static void judge_and_tell(struct sampler *s, const struct due *due)
{
	for (size_t i = 0; (due->event || due->log) && i < s->fleet.n; i++) {
		struct watch *w = s->fleet.watches[i];
		if (due->event && w->open)
			events_evaluate(&s->fleet, w);
		if (due->log)
			event_summary(&s->fleet, w);
	}
}

static void on_tick(struct sampler *s, int64_t now_ns)
{
	struct vitals *v = &s->fleet.vitals;
	int64_t missed = (now_ns - s->next_tick_ns) / v->interval_ns;
	s->next_tick_ns += (missed + 1) * v->interval_ns;
	v->missed_ticks += (uint64_t)missed;
	/* next_tick_ns is the instant after this one now */
	v->late_ticks += now_ns - (s->next_tick_ns - v->interval_ns) > v->interval_ns / 2;
	v->ticks++;
	struct due due = what_is_due(s, now_ns);
	sample_all(s, &due);
	finder_look(&s->finder, &s->fleet, now_ns, false);
	judge_and_tell(s, &due);
	/* idle connections time out only when the server is given a turn; what it has begun is not announced again */
	if (s->server && (due.second || server_timeout_ns(s->server) == 0))
		server_run(s->server);
}

static void on_signal(struct sampler *s)
{
	struct signalfd_siginfo info;
	while (read(s->signal_fd, &info, sizeof info) == sizeof info) {
		if (s->options->command && exec_on_signal(&s->exec, &info)) {
			if (s->exec.ended) {
				s->status = exec_status(&s->exec);
				s->stop = true;
			}
		} else if (info.ssi_signo == SIGTERM || info.ssi_signo == SIGINT) {
			s->stop = true;
		}
	}
}

/* ---- start and end ---- */

static int open_signals(struct sampler *s)
{
	sigset_t set;
	sigemptyset(&set);
	if (s->options->command)
		exec_signals(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return -1;
	signal(SIGPIPE, SIG_IGN);
	s->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return s->signal_fd;
}

static int open_loop(struct sampler *s, struct fault *f)
{
	if (open_signals(s) < 0)
		return fault_set(f, errno, "cannot set up the sampling loop");
	s->next_tick_ns = clock_mono_ns() + s->options->interval_ns;
	return s->options->listen ? server_start(&s->server, s->options->listen, on_request, s, f) : 0;
}

static void set_schedule(struct sampler *s)
{
	int64_t now_ns = clock_mono_ns();
	s->fleet.vitals.started_mono_ns = now_ns;
	s->fleet.vitals.started_cpu_ns = clock_process_cpu_ns();
	s->fleet.vitals.started_wall_ns = clock_wall_ns();
	s->fleet.vitals.interval_ns = s->options->interval_ns;
	s->fleet.run_id = (uint64_t)s->fleet.vitals.started_wall_ns ^ ((uint64_t)getpid() << 40);
	s->next_limits_ns = now_ns + CPU_PERIOD_DEFAULT_USEC * NSEC_PER_USEC;
	s->next_second_ns = now_ns + NSEC_PER_SEC;
	s->next_event_ns = now_ns + s->options->event_window_ns;
	s->next_log_ns = now_ns + s->options->log_every_ns;
}

/* One system call waits for the instant and for the two descriptors: a timerfd in an epoll needs a read as well and a
 * longer way to wake us up. The kernel may be late by 0.1% of the time asked for, which a sample can be; the instants
 * are absolute, so nothing adds up. */
static void run_loop(struct sampler *s)
{
	struct pollfd fds[] = {
		{.fd = s->signal_fd, .events = POLLIN},
		{.fd = s->server ? server_fd(s->server) : -1, .events = POLLIN},
	};
	while (!s->stop) {
		int64_t left_ns = s->next_tick_ns - clock_mono_ns();
		struct timespec left = {0};
		if (left_ns > 0)
			left = (struct timespec){.tv_sec = left_ns / NSEC_PER_SEC, .tv_nsec = left_ns % NSEC_PER_SEC};
		int n = ppoll(fds, ARRAY_LEN(fds), &left, NULL);
		if (n > 0 && fds[0].revents)
			on_signal(s);
		if (n > 0 && fds[1].revents)
			server_run(s->server);
		int64_t now_ns = clock_mono_ns();
		if (now_ns >= s->next_tick_ns && !s->stop)
			on_tick(s, now_ns);
	}
}

static void close_all(struct sampler *s)
{
	server_stop(s->server);
	for (size_t i = 0; i < s->fleet.n; i++)
		watch_delete(s->fleet.watches[i]);
	free(s->fleet.watches);
	finder_close(&s->finder);
	fleet_close(&s->fleet);
	exec_release(&s->exec);
	if (s->signal_fd >= 0)
		close(s->signal_fd);
}

/* The last word: a summary of what has not been told yet, and the end. */
static void say_goodbye(struct sampler *s)
{
	for (size_t i = 0; i < s->fleet.n; i++) {
		if (s->fleet.watches[i]->open)
			(void)fleet_sample_full(&s->fleet, s->fleet.watches[i], NULL);
		event_summary(&s->fleet, s->fleet.watches[i]);
	}
	event_stopped(&s->fleet);
}

int sampler_run(const struct tree *t, const struct target_query *q, const struct sampler_options *options,
		const struct log *log, struct fault *f)
{
	struct sampler s = {
		.tree = t,
		.options = options,
		.fleet = {.log = *log, .proc_stat = TEXTFILE_CLOSED},
		.exec = EXEC_NONE,
		.signal_fd = -1,
	};
	/* a timer may be late by its slack: 50 us by default */
	prctl(PR_SET_TIMERSLACK, 1UL);
	set_schedule(&s);
	int rc = finder_open(&s.finder, t, q, &s.fleet, f);
	if (rc == 0)
		rc = open_loop(&s, f);
	if (rc == 0) {
		fleet_open(&s.fleet, t);
		event_started(&s.fleet, s.server ? server_port(s.server) : 0);
		finder_look(&s.finder, &s.fleet, clock_mono_ns(), true);
	}
	if (rc == 0 && options->command && exec_start(&s.exec, options->command, f) < 0) {
		s.status = exec_status(&s.exec);
		rc = -ENOENT;
	}
	if (rc == 0) {
		run_loop(&s);
		say_goodbye(&s);
	} else if (!s.status) {
		s.status = 1;
	}
	close_all(&s);
	return s.status;
}
