#include "limit_docker_api.h"

#include <errno.h>
#include <string.h>

static const int64_t call_timeout_ns = 60 * NSEC_PER_SEC;

static const char default_socket[] = "/var/run/docker.sock";

const char *engine_socket(const char *docker_host)
{
	static const char scheme[] = "unix://";
	if (!docker_host || !*docker_host)
		return default_socket;
	return strncmp(docker_host, scheme, sizeof scheme - 1) == 0 && docker_host[sizeof scheme - 1] == '/'
		       ? docker_host + sizeof scheme - 1
		       : NULL;
}

int engine_open(struct engine *e, struct fault *f)
{
	*e = ENGINE_CLOSED;
	const char *host = getenv("DOCKER_HOST");
	e->socket = engine_socket(host);
	if (!e->socket)
		return fault_set(f, -ENOTSUP, "DOCKER_HOST=%.100s is no socket of this host (unix:///PATH)", host);
	if (access(e->socket, R_OK | W_OK) < 0)
		return fault_set(f, errno, "docker engine at %s", e->socket);
	return http_open(&e->http, e->socket, f);
}

void engine_close(struct engine *e)
{
	http_close(&e->http);
	*e = ENGINE_CLOSED;
}

enum { URL_SIZE = 1024 };

/* The engine does not care for the name of the host. */
static void spell_url(const char *path, char url[URL_SIZE])
{
	snprintf(url, URL_SIZE, "http://docker%s", path);
}

static int judge_status(long status, const json_value *answer, const char *method, const char *path, struct fault *f)
{
	const char *said = json_get_text(answer, "message");
	int err = status == 404 ? ENOENT : status == 409 ? EEXIST : EIO;
	if ((status >= 200 && status < 300) || status == 304)
		return 0;
	if (said)
		return fault_set(f, -err, "the docker engine says: %.300s", said);
	return fault_set(f, -err, "the docker engine answers %ld to %s %.200s", status, method, path);
}

int engine_call(struct engine *e, const char *method, const char *path, const json_value *body, json_value **answer,
		struct fault *f)
{
	char url[URL_SIZE];
	struct http_answer got;
	CLEANUP_FREE char *sent = body ? json_text(body, NULL) : NULL;
	if (answer)
		*answer = NULL;
	if (body && !sent)
		return fault_set(f, ENOMEM, "docker engine");
	spell_url(path, url);
	const struct http_request request = {.method = method, .url = url, .json = sent, .timeout_ns = call_timeout_ns};
	int rc = http_call(&e->http, &request, &got, f);
	if (rc < 0)
		return fault_prefix(f, rc, "docker engine at %s", e->socket);
	CLEANUP_JSON json_value *v = json_parse(got.text, got.len, NULL);
	free(got.text);
	rc = judge_status(got.status, v, method, path, f);
	if (rc == 0 && answer)
		*answer = TAKE_PTR(v);
	return rc;
}

int engine_follow(struct engine *e, const char *path, const struct http_stream *s, struct fault *f)
{
	char url[URL_SIZE];
	long status;
	spell_url(path, url);
	int rc = http_follow(&e->http, url, s, &status, f);
	if (rc < 0)
		return fault_prefix(f, rc, "docker engine at %s", e->socket);
	return judge_status(status, NULL, "GET", path, f);
}
