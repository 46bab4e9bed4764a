/* headroom-probe: a service whose requests cost a known amount of work. Phases: options, calibration, listening,
 * until a signal; then draining, the end. */
#include "calibrate.h"
#include "clock.h"
#include "config.h"
#include "jsonl.h"
#include "listen.h"
#include "server.h"
#include "service.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>

static json_value *new_event(const char *level, const char *event, const char *msg)
{
	char time[CLOCK_RFC3339_SIZE];
	json_value *line = json_new_object();
	clock_rfc3339(clock_wall_ns(), time);
	json_set_text(line, "time", time);
	json_set_text(line, "level", level);
	json_set_text(line, "msg", msg);
	json_set_text(line, "event", event);
	return line;
}

static int complain(const struct fault *f)
{
	fprintf(stderr, "headroom-probe: %s\n", fault_text(f));
	return 1;
}

static int calibrate_only(const struct probe_config *c)
{
	struct calibration result;
	struct fault f = {0};
	if (calibrate(c->cpu_ms, NULL, &result, &f) < 0)
		return complain(&f);
	int rc = calibrate_write(&result, stdout);
	if (rc == 0)
		return 0;
	fault_set(&f, -rc, "cannot write the calibration");
	return complain(&f);
}

static bool end_is_wanted(void)
{
	sigset_t pending;
	return sigpending(&pending) == 0 && (sigismember(&pending, SIGTERM) == 1 || sigismember(&pending, SIGINT) == 1);
}

/* Without CPU work by default the speed is still needed, for ?cpu_ms=. */
static int find_rounds(struct probe_config *c, struct fault *f)
{
	struct calibration result;
	if (c->rounds_given)
		return 0;
	int rc = calibrate(c->cpu_ms > 0 ? c->cpu_ms : 1, end_is_wanted, &result, f);
	if (rc < 0)
		return rc;
	c->rounds = result.rounds;
	return 0;
}

/* ---- signals and limits ------------------------------------------------------------------------------------------
 * Blocked in every thread and taken here: a blocked signal reaches PID 1 of a container too, which otherwise
 * would not be ended by one without a handler. */

static void take_signals(sigset_t *set)
{
	sigemptyset(set);
	sigaddset(set, SIGTERM);
	sigaddset(set, SIGINT);
	pthread_sigmask(SIG_BLOCK, set, NULL);
	signal(SIGPIPE, SIG_IGN); /* a client that went away is an errno of its own connection */
	signal(SIGXFSZ, SIG_IGN); /* a limit of the size of files is an errno of the disk work */
	signal(SIGCHLD, SIG_IGN); /* as PID 1 we inherit orphans: the kernel buries them */
}

/* Every connection needs two descriptors: its socket and the schedstat of its thread. */
static void raise_file_limit(const struct probe_config *c)
{
	struct rlimit limit;
	rlim_t wanted = 2 * (rlim_t)c->connections_max + 64;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= wanted)
		return;
	limit.rlim_cur = wanted < limit.rlim_max ? wanted : limit.rlim_max;
	setrlimit(RLIMIT_NOFILE, &limit);
}

/* ---- the life of the server ---------------------------------------------------------------------------------- */

static int say_listening(const struct probe_config *c, const struct listen_bound *bound)
{
	char msg[128];
	snprintf(msg, sizeof msg, "listening on %s", bound->url);
	CLEANUP_JSON json_value *line = new_event("info", "listening", msg);
	json_set_text(line, "address", bound->address);
	json_set_i64(line, "port", bound->port);
	json_set_text(line, "url", bound->url);
	json_set_u64(line, "workers", c->workers);
	json_set_u64(line, "queue", c->queue_max);
	json_set_u64(line, "rounds", c->rounds);
	json_set_real(line, "cpu_ms", c->cpu_ms);
	json_set_bool(line, "calibrated", !c->rounds_given);
	json_set_i64(line, "pid", getpid());
	json_set_text(line, "version", opts_version());
	return json_write(line, stdout, 0);
}

static void say_stopped(struct service *s, const char *signal_name, bool aborted)
{
	CLEANUP_JSON json_value *line = new_event(
		"info", "stopped", aborted ? "stopped before all requests were done" : "stopped, all requests done");
	uint64_t total = 0;
	for (size_t i = 0; i <= METRICS_STATUSES; i++)
		total += s->metrics.by_status[i];
	json_set_text(line, "signal", signal_name);
	json_set_u64(line, "requests", total);
	json_set_u64(line, "ok", s->metrics.by_status[0]);
	json_set_u64(line, "failed", total - s->metrics.by_status[0]);
	json_set_bool(line, "aborted", aborted);
	/* whoever reads stdout may be gone by now; there is nobody else to tell */
	if (json_write(line, stdout, 0) < 0)
		return;
}

/* Waits until no request is at work, a second signal comes, or the time is over. True if all are done. */
static bool wait_for_requests(const struct service *s, const sigset_t *signals, int64_t until_ns)
{
	const struct timespec step = {.tv_nsec = 5 * NSEC_PER_MSEC};
	while (atomic_load(&s->in_flight) > 0) {
		if (clock_mono_ns() >= until_ns || sigtimedwait(signals, NULL, &step) > 0)
			return false;
	}
	return true;
}

static void serve_until_signal(struct service *s, struct server *server, const sigset_t *signals)
{
	int signal = 0;
	while (sigwait(signals, &signal) != 0)
		continue;
	service_drain(s);
	server_quiesce(server);
	bool done = wait_for_requests(s, signals, clock_mono_ns() + s->config->drain_ns);
	if (!done)
		service_abort(s);
	/* those that were cut short still get their answer */
	wait_for_requests(s, signals, clock_mono_ns() + NSEC_PER_SEC);
	server_stop(server);
	say_stopped(s, signal == SIGTERM ? "SIGTERM" : "SIGINT", !done);
}

static int serve(struct probe_config *c, const sigset_t *signals, struct fault *f)
{
	struct listen_bound bound;
	struct service service;
	int fd = listen_open(c->listen, 4096, &bound, f);
	if (fd < 0)
		return fd;
	int rc = service_init(&service, c, f);
	if (rc < 0) {
		close(fd);
		return rc;
	}
	struct server *server = server_start(&service, fd, f);
	if (!server)
		return -EIO;
	rc = say_listening(c, &bound);
	if (rc == 0)
		serve_until_signal(&service, server, signals);
	else
		server_stop(server);
	service_destroy(&service);
	return rc < 0 ? fault_set(f, -rc, "cannot write to stdout") : 0;
}

int main(int argc, char **argv)
{
	struct probe_config config;
	struct fault f = {0};
	sigset_t signals;
	int status = config_read(&config, argc, argv);
	if (status >= 0)
		return status;
	if (config.calibrate_only)
		return calibrate_only(&config);
	take_signals(&signals);
	raise_file_limit(&config);
	/* deliberate waits end within 1 ns of slack instead of 50 us; inherited by every thread */
	prctl(PR_SET_TIMERSLACK, 1UL);
	int rc = find_rounds(&config, &f);
	if (rc == -ECANCELED)
		return 0; /* ended before it began */
	if (rc == 0)
		rc = serve(&config, &signals, &f);
	return rc < 0 ? complain(&f) : 0;
}
