/* The helper process that stands for a container. */
#include "limit_docker.h"
#include "limits.h"
#include "units.h"

#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>

void docker_frames_take(struct docker_frames *d, const char *data, size_t len,
			void (*write)(void *context, int stream, const char *text, size_t len), void *context)
{
	while (len) {
		if (d->left == 0 && d->have < sizeof d->head) {
			d->head[d->have++] = (unsigned char)*data++;
			len--;
			if (d->have == sizeof d->head)
				d->left = (size_t)d->head[4] << 24 | (size_t)d->head[5] << 16 |
					  (size_t)d->head[6] << 8 | d->head[7];
		} else {
			size_t n = len < d->left ? len : d->left;
			write(context, d->head[0], data, n);
			data += n;
			len -= n;
			d->left -= n;
		}
		if (d->have == sizeof d->head && d->left == 0)
			d->have = 0;
	}
}

struct container {
	struct engine engine;
	const char *name;
	struct docker_frames frames;
	int signals;
};

/* What the container writes is what we write. Whoever read it may be gone: then there is nobody to tell. */
static void put(void *context, int stream, const char *text, size_t len)
{
	(void)context;
	while (len) {
		ssize_t n = write(stream == STDERR_FILENO ? STDERR_FILENO : STDOUT_FILENO, text, len);
		if (n < 0 && errno != EINTR)
			return;
		if (n > 0) {
			text += n;
			len -= (size_t)n;
		}
	}
}

static void take_output(void *context, const char *data, size_t len)
{
	struct container *c = context;
	docker_frames_take(&c->frames, data, len, put, NULL);
}

/* Asks the container to end: SIGTERM, after a second SIGKILL. The stream of its output then ends by itself. */
static void take_signal(void *context)
{
	struct container *c = context;
	struct signalfd_siginfo info;
	char path[160];
	CLEANUP_ENGINE struct engine other = ENGINE_CLOSED;
	if (read(c->signals, &info, sizeof info) != (ssize_t)sizeof info || engine_open(&other, NULL) < 0)
		return;
	snprintf(path, sizeof path, "/containers/%s/stop?t=1", c->name);
	if (engine_call(&other, "POST", path, NULL, NULL, NULL) < 0)
		return; /* it has ended meanwhile; whatever is left is removed at our end */
}

/* ---- what is asked for ---- */

static json_value *host_config(uint64_t quota_usec, uint64_t shares)
{
	json_value *host = json_new_object();
	json_value *log = json_new_object();
	json_value *drop = json_new_array();
	json_value *security = json_new_array();
	json_set_text(log, "Type", "json-file");
	json_add_text(drop, "ALL");
	json_add_text(security, "no-new-privileges");
	json_set_text(host, "NetworkMode", "host");
	json_set_bool(host, "ReadonlyRootfs", true);
	json_set_value(host, "LogConfig", log);
	json_set_value(host, "CapDrop", drop);
	json_set_value(host, "SecurityOpt", security);
	/* what --cpus is turned into; in this form it can be taken away again while the container runs */
	if (quota_usec) {
		json_set_u64(host, "CpuPeriod", LIMIT_PERIOD_USEC);
		json_set_u64(host, "CpuQuota", quota_usec);
	}
	if (shares)
		json_set_u64(host, "CpuShares", shares);
	return host;
}

static const char *base_name(const char *path)
{
	const char *slash = strrchr(path, '/');
	return slash ? slash + 1 : path;
}

/* The program is the image's own, whatever folder it has here. */
static json_value *create_body(const char *image, json_value *host, char **program)
{
	char pid[16];
	json_value *body = json_new_object();
	json_value *entry = json_new_array();
	json_value *words = json_new_array();
	json_value *labels = json_new_object();
	snprintf(pid, sizeof pid, "%d", (int)getppid());
	json_set_text(labels, LIMIT_DOCKER_LABEL, pid);
	json_add_text(entry, base_name(program[0]));
	for (char **word = program + 1; *word; word++)
		json_add_text(words, *word);
	json_set_text(body, "Image", image);
	json_set_value(body, "Entrypoint", entry);
	json_set_value(body, "Cmd", words);
	json_set_value(body, "Labels", labels);
	json_set_value(body, "HostConfig", host);
	return body;
}

static int create(struct container *c, const json_value *body, struct fault *f)
{
	char path[160];
	snprintf(path, sizeof path, "/containers/create?name=%s", c->name);
	return engine_call(&c->engine, "POST", path, body, NULL, f);
}

static int command(struct container *c, const char *method, const char *what, json_value **answer, struct fault *f)
{
	char path[160];
	snprintf(path, sizeof path, "/containers/%s%s", c->name, what);
	return engine_call(&c->engine, method, path, NULL, answer, f);
}

/* Its exit status, or a negative errno. */
static int follow_to_the_end(struct container *c, struct fault *f)
{
	char path[160];
	int64_t status = -1;
	struct http_stream stream = {.sink = take_output, .woken = take_signal, .context = c, .wake_fd = c->signals};
	snprintf(path, sizeof path, "/containers/%s/logs?follow=1&stdout=1&stderr=1", c->name);
	int rc = engine_follow(&c->engine, path, &stream, f);
	CLEANUP_JSON json_value *answer = NULL;
	if (rc == 0)
		rc = command(c, "POST", "/wait", &answer, f);
	if (rc < 0)
		return rc;
	if (!json_get_i64(answer, "StatusCode", &status))
		return fault_set(f, -EPROTO, "the docker engine does not tell how the container ended");
	return (int)status;
}

/* ---- the process ---- */

static int take_signals(struct fault *f)
{
	sigset_t set;
	sigemptyset(&set);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	sigprocmask(SIG_BLOCK, &set, NULL);
	int fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	/* a parent that dies would have us killed at once; this way the container is still removed */
	prctl(PR_SET_PDEATHSIG, SIGTERM);
	return fd < 0 ? fault_set(f, errno, "signals") : fd;
}

static int run_container(struct container *c, const json_value *body, struct fault *f)
{
	struct fault later;
	int rc = engine_open(&c->engine, f);
	if (rc == 0)
		rc = create(c, body, f);
	if (rc < 0)
		return rc;
	rc = command(c, "POST", "/start", NULL, f);
	if (rc == 0)
		rc = follow_to_the_end(c, f);
	int remove_rc = command(c, "DELETE", "?force=1&v=1", NULL, &later);
	if (rc >= 0 && remove_rc < 0 && remove_rc != -ENOENT) {
		*f = later;
		return remove_rc;
	}
	return rc;
}

int limit_docker_helper(int argc, char **argv)
{
	struct fault f = {0};
	uint64_t quota_usec;
	uint64_t shares;
	if (argc < 6 || limit_name_pid(argv[1]) == 0 || units_parse_u64(argv[3], &quota_usec, &f) < 0 ||
	    units_parse_u64(argv[4], &shares, &f) < 0) {
		fputs("headroom: " LIMIT_DOCKER_HELPER " is what a study starts, not a person\n", stderr);
		return 2;
	}
	struct container c = {.engine = ENGINE_CLOSED, .name = argv[1]};
	int rc = c.signals = take_signals(&f);
	if (rc >= 0) {
		CLEANUP_JSON json_value *body = create_body(argv[2], host_config(quota_usec, shares), argv + 5);
		rc = run_container(&c, body, &f);
	}
	engine_close(&c.engine);
	if (rc < 0)
		fprintf(stderr, "headroom: %s\n", fault_text(&f));
	return rc < 0 ? 1 : rc;
}
