#include "run.h"

#include "clock.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/signalfd.h>

static int open_signals(struct fault *f)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return fault_set(f, errno, "signals");
	/* a shell script starts what it puts into the background with SIGINT ignored, and an ignored signal never
	 * reaches the descriptor; SIGHUP stays ignored when it is: that is what nohup asks for */
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	/* TLS libraries write to sockets without MSG_NOSIGNAL */
	signal(SIGPIPE, SIG_IGN);
	int fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	return fd < 0 ? fault_set(f, errno, "signals") : fd;
}

int run_open(struct run *r, const struct httpc_config *config, struct fault *f)
{
	memset(r, 0, sizeof *r);
	r->pacer.timer_fd = -1;
	r->timeout_ns = config->timeout_ns;
	r->signal_fd = open_signals(f);
	if (r->signal_fd < 0)
		return r->signal_fd;
	int rc = pacer_open(&r->pacer, f);
	if (rc == 0)
		rc = httpc_open(&r->http, config, f);
	if (rc == 0)
		rc = httpc_watch(r->http, r->signal_fd, &r->signal_ready, f);
	if (rc == 0)
		rc = httpc_watch(r->http, r->pacer.timer_fd, &r->timer_ready, f);
	return rc;
}

void run_close(struct run *r)
{
	httpc_close(r->http);
	r->http = NULL;
	pacer_close(&r->pacer);
	if (r->signal_fd >= 0)
		close(r->signal_fd);
	r->signal_fd = -1;
	shots_free(&r->shots);
}

bool run_stopped(struct run *r)
{
	struct signalfd_siginfo info;
	if (r->signal_ready && r->stopped_by == 0 && read(r->signal_fd, &info, sizeof info) == (ssize_t)sizeof info)
		r->stopped_by = (int)info.ssi_signo;
	return r->stopped_by != 0;
}

void run_wait_until(struct run *r, int64_t mono_ns)
{
	pacer_arm(&r->pacer, mono_ns);
	httpc_wait(r->http, -1);
}

int run_sleep_until(struct run *r, int64_t mono_ns)
{
	while (clock_mono_ns() < mono_ns) {
		if (run_stopped(r))
			return -EINTR;
		run_wait_until(r, mono_ns);
		while (httpc_step(r->http))
			;
	}
	return run_stopped(r) ? -EINTR : 0;
}

void run_settle(struct run *r, size_t tag, const struct answer *a, const char *text)
{
	r->connections_opened += a->connects;
	if (a->error != ANSWER_WHOLE && !r->error_text[a->error][0])
		snprintf(r->error_text[a->error], RUN_TEXT_SIZE, "%s", text);
	shots_settle(&r->shots, tag, a);
}

struct warm_up {
	uint64_t answered, failed;
	char text[RUN_TEXT_SIZE];
	enum answer_error error;
};

static void on_warm(void *context, size_t tag, const struct answer *a, const char *text)
{
	struct warm_up *w = context;
	(void)tag;
	if (a->error == ANSWER_WHOLE)
		w->answered++;
	else if (w->failed++ == 0) {
		w->error = a->error;
		snprintf(w->text, sizeof w->text, "%s", text);
	}
}

static int warm_up_result(struct run *r, const struct warm_up *w, struct fault *f)
{
	if (run_stopped(r))
		return fault_set(f, -EINTR, "interrupted before the run");
	if (w->answered > 0 || w->failed == 0)
		return 0;
	return fault_set(f, -EIO, "no answer to any of %llu warm-up requests, so there is nothing to measure: %s (%s)",
			 (unsigned long long)w->failed, w->text, answer_error_name(w->error));
}

int run_warm_up(struct run *r, uint64_t n, const char *url, bool fresh, struct fault *f)
{
	struct warm_up w = {0};
	uint64_t sent = 0;
	uint64_t connections = httpc_free_handles(r->http);
	if (url) {
		int rc = httpc_use_url(r->http, url, f);
		if (rc < 0)
			return rc;
	}
	httpc_on_done(r->http, on_warm, &w);
	while (!run_stopped(r)) {
		while (sent < n && httpc_start(r->http, sent, fresh && sent < connections))
			sent++;
		if (httpc_step(r->http))
			continue;
		if (httpc_in_flight(r->http) == 0)
			break;
		run_wait_until(r, PACER_NEVER);
	}
	httpc_abandon(r->http);
	if (url && httpc_use_url(r->http, NULL, f) < 0)
		return -EINVAL;
	return warm_up_result(r, &w, f);
}
