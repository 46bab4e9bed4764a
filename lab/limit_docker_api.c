#include "limit_docker_api.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

enum { ANSWER_MAX = 4 << 20, CONNECT_TIMEOUT_S = 5, CALL_TIMEOUT_S = 60, POLL_MS = 1000 };

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
	e->curl = curl_easy_init();
	return e->curl ? 0 : fault_set(f, ENOMEM, "docker engine");
}

void engine_close(struct engine *e)
{
	if (e->curl)
		curl_easy_cleanup(e->curl);
	*e = ENGINE_CLOSED;
}

/* Everything of a request but its method and body. */
static void prepare(struct engine *e, const char *path)
{
	char url[1024];
	snprintf(url, sizeof url, "http://docker%s", path);
	curl_easy_reset(e->curl);
	curl_easy_setopt(e->curl, CURLOPT_UNIX_SOCKET_PATH, e->socket);
	curl_easy_setopt(e->curl, CURLOPT_URL, url);
	curl_easy_setopt(e->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(e->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(e->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_S);
}

/* ---- one request ---- */

struct text {
	char *start;
	size_t len;
};

static size_t append(char *data, size_t one, size_t len, void *context)
{
	struct text *t = context;
	(void)one;
	if (t->len + len > ANSWER_MAX)
		return 0;
	char *more = realloc(t->start, t->len + len + 1);
	if (!more)
		return 0;
	memcpy(more + t->len, data, len);
	t->start = more;
	t->len += len;
	more[t->len] = '\0';
	return len;
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
	struct text got = {.start = NULL};
	long status = 0;
	CLEANUP_FREE char *sent = body ? json_text(body, NULL) : NULL;
	if (answer)
		*answer = NULL;
	if (body && !sent)
		return fault_set(f, ENOMEM, "docker engine");
	prepare(e, path);
	curl_easy_setopt(e->curl, CURLOPT_CUSTOMREQUEST, method);
	curl_easy_setopt(e->curl, CURLOPT_TIMEOUT, (long)CALL_TIMEOUT_S);
	curl_easy_setopt(e->curl, CURLOPT_WRITEFUNCTION, append);
	curl_easy_setopt(e->curl, CURLOPT_WRITEDATA, &got);
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	curl_easy_setopt(e->curl, CURLOPT_HTTPHEADER, headers);
	if (strcmp(method, "POST") == 0)
		curl_easy_setopt(e->curl, CURLOPT_POSTFIELDS, sent ? sent : "");
	CURLcode code = curl_easy_perform(e->curl);
	curl_slist_free_all(headers);
	curl_easy_getinfo(e->curl, CURLINFO_RESPONSE_CODE, &status);
	CLEANUP_JSON json_value *v = got.len ? json_parse(got.start, got.len, NULL) : NULL;
	free(got.start);
	if (code != CURLE_OK)
		return fault_set(f, -EIO, "docker engine at %s: %s", e->socket, curl_easy_strerror(code));
	int rc = judge_status(status, v, method, path, f);
	if (rc == 0 && answer)
		*answer = TAKE_PTR(v);
	return rc;
}

/* ---- a stream ---- */

static size_t pass_on(char *data, size_t one, size_t len, void *context)
{
	const struct engine_stream *s = context;
	(void)one;
	s->sink(s->context, data, len);
	return len;
}

/* Until the transfer is over. */
static CURLMcode drive(CURLM *multi, const struct engine_stream *s)
{
	int running = 1;
	CURLMcode code = curl_multi_perform(multi, &running);
	while (code == CURLM_OK && running) {
		struct curl_waitfd wake = {.fd = s->wake_fd, .events = CURL_WAIT_POLLIN};
		code = curl_multi_poll(multi, &wake, 1, POLL_MS, NULL);
		if (code == CURLM_OK && wake.revents)
			s->woken(s->context);
		if (code == CURLM_OK)
			code = curl_multi_perform(multi, &running);
	}
	return code;
}

int engine_follow(struct engine *e, const char *path, const struct engine_stream *s, struct fault *f)
{
	long status = 0;
	CURLM *multi = curl_multi_init();
	prepare(e, path);
	curl_easy_setopt(e->curl, CURLOPT_WRITEFUNCTION, pass_on);
	curl_easy_setopt(e->curl, CURLOPT_WRITEDATA, s);
	CURLMcode code = multi ? curl_multi_add_handle(multi, e->curl) : CURLM_OUT_OF_MEMORY;
	if (code == CURLM_OK) {
		code = drive(multi, s);
		curl_easy_getinfo(e->curl, CURLINFO_RESPONSE_CODE, &status);
		curl_multi_remove_handle(multi, e->curl);
	}
	curl_multi_cleanup(multi);
	if (code != CURLM_OK)
		return fault_set(f, -EIO, "docker engine at %s: %s", e->socket, curl_multi_strerror(code));
	return judge_status(status, NULL, "GET", path, f);
}
