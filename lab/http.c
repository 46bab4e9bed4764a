#include "http.h"

#include <curl/curl.h>
#include <errno.h>
#include <poll.h>
#include <string.h>

enum { ANSWER_MAX = 4 << 20, CONNECT_TIMEOUT_S = 5, POLL_MS = 1000 };

int http_open(struct http *h, const char *unix_socket, struct fault *f)
{
	*h = (struct http){.curl = curl_easy_init(), .unix_socket = unix_socket};
	return h->curl ? 0 : fault_set(f, ENOMEM, "HTTP");
}

void http_close(struct http *h)
{
	if (h->curl)
		curl_easy_cleanup(h->curl);
	*h = HTTP_CLOSED;
}

/* Everything of a request but its method and body. */
static void prepare(struct http *h, const char *url)
{
	curl_easy_reset(h->curl);
	if (h->unix_socket)
		curl_easy_setopt(h->curl, CURLOPT_UNIX_SOCKET_PATH, h->unix_socket);
	curl_easy_setopt(h->curl, CURLOPT_URL, url);
	curl_easy_setopt(h->curl, CURLOPT_PROXY, "");
	curl_easy_setopt(h->curl, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(h->curl, CURLOPT_CONNECTTIMEOUT, (long)CONNECT_TIMEOUT_S);
}

/* ---- one request ---- */

static size_t append(char *data, size_t one, size_t len, void *context)
{
	struct http_answer *a = context;
	(void)one;
	if (a->len + len > ANSWER_MAX)
		return 0;
	char *more = realloc(a->text, a->len + len + 1);
	if (!more)
		return 0;
	memcpy(more + a->len, data, len);
	a->text = more;
	a->len += len;
	more[a->len] = '\0';
	return len;
}

static CURLcode perform(struct http *h, const struct http_request *r, struct http_answer *got)
{
	prepare(h, r->url);
	curl_easy_setopt(h->curl, CURLOPT_CUSTOMREQUEST, r->method);
	curl_easy_setopt(h->curl, CURLOPT_TIMEOUT_MS, (long)(r->timeout_ns / NSEC_PER_MSEC));
	curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, append);
	curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, got);
	struct curl_slist *headers = curl_slist_append(NULL, "Content-Type: application/json");
	curl_easy_setopt(h->curl, CURLOPT_HTTPHEADER, headers);
	if (strcmp(r->method, "POST") == 0)
		curl_easy_setopt(h->curl, CURLOPT_POSTFIELDS, r->json ? r->json : "");
	CURLcode code = curl_easy_perform(h->curl);
	curl_slist_free_all(headers);
	curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, &got->status);
	return code;
}

int http_call(struct http *h, const struct http_request *request, struct http_answer *answer, struct fault *f)
{
	struct http_answer got = {.text = strdup("")};
	*answer = (struct http_answer){.text = NULL};
	if (!got.text)
		return fault_set(f, ENOMEM, "HTTP");
	CURLcode code = perform(h, request, &got);
	if (code != CURLE_OK) {
		free(got.text);
		return fault_set(f, -EIO, "%s", curl_easy_strerror(code));
	}
	*answer = got;
	return 0;
}

/* ---- a stream ---- */

static size_t pass_on(char *data, size_t one, size_t len, void *context)
{
	const struct http_stream *s = context;
	(void)one;
	s->sink(s->context, data, len);
	return len;
}

/* Until the transfer is over. */
static CURLMcode drive(CURLM *multi, const struct http_stream *s)
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

int http_follow(struct http *h, const char *url, const struct http_stream *s, long *status, struct fault *f)
{
	*status = 0;
	CURLM *multi = curl_multi_init();
	prepare(h, url);
	curl_easy_setopt(h->curl, CURLOPT_WRITEFUNCTION, pass_on);
	curl_easy_setopt(h->curl, CURLOPT_WRITEDATA, s);
	CURLMcode code = multi ? curl_multi_add_handle(multi, h->curl) : CURLM_OUT_OF_MEMORY;
	if (code == CURLM_OK) {
		code = drive(multi, s);
		curl_easy_getinfo(h->curl, CURLINFO_RESPONSE_CODE, status);
		curl_multi_remove_handle(multi, h->curl);
	}
	curl_multi_cleanup(multi);
	return code == CURLM_OK ? 0 : fault_set(f, -EIO, "%s", curl_multi_strerror(code));
}
