#include "httpc.h"

#include "clock.h"

#include <curl/curl.h>
#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>

enum {
	EVENTS = 64,
	WATCHED_BIT = 1 << 30, /* in epoll's data: an index into `readable`, not a socket */
	RECEIVE_BUFFER = 64 * 1024,
};

/* One request at a time; the handle keeps its options, so that starting the next one sets nothing. */
struct slot {
	struct httpc *owner;
	CURL *easy;
	struct slot *next_free;
	struct answer answer;
	size_t tag;
	int64_t last_byte_ns;
	bool in_flight;
	char text[CURL_ERROR_SIZE];
};

struct httpc {
	CURLM *multi;
	struct slot *slots;
	size_t n_slots, busy;
	struct slot *free;
	struct curl_slist *headers;
	httpc_done_fn *done;
	void *context;
	int epoll_fd;
	struct epoll_event events[EVENTS];
	int n_events, at_event;
	bool *readable[HTTPC_WATCHED];
	size_t n_watched;
	int64_t deadline_ns;  /* libcurl wants to be called then; INT64_MAX = not */
	bool unread;          /* libcurl may have finished something */
	uint32_t *registered; /* per socket: what epoll watches */
	size_t registered_room;
	char *url;
};

/* --- what libcurl calls ---------------------------------------------------------------------------------------- */

/* Just before the request is written. A connection that had to be opened belongs to the answer time, not to the
 * lateness of the sender: then the instant of the start stays. */
static int on_send(void *context, char *ip, char *local_ip, int port, int local_port)
{
	struct slot *slot = context;
	long connects = 0;
	(void)ip, (void)local_ip, (void)port, (void)local_port;
	curl_easy_getinfo(slot->easy, CURLINFO_NUM_CONNECTS, &connects);
	if (connects == 0)
		slot->answer.sent_ns = clock_mono_ns();
	return CURL_PREREQFUNC_OK;
}

static void take_server_figure(struct answer *a, const char *line, size_t len)
{
	const char *colon = memchr(line, ':', len);
	if (!colon)
		return;
	enum answer_field field = answer_field_by_header(line, (size_t)(colon - line));
	if (field == ANSWER_FIELDS)
		return;
	const char *p = colon + 1;
	const char *end = line + len;
	while (p < end && *p == ' ')
		p++;
	int64_t value = 0;
	const char *first = p;
	for (; p < end && *p >= '0' && *p <= '9' && value < INT64_MAX / 10 - 1; p++)
		value = value * 10 + (*p - '0');
	if (p == first || (p < end && *p != '\r' && *p != '\n' && *p != ' '))
		return;
	a->server_ns[field] = value;
	a->server_have |= (uint16_t)(1u << field);
}

static size_t on_header(char *line, size_t one, size_t len, void *context)
{
	struct slot *slot = context;
	(void)one;
	if (slot->answer.first_byte_ns == ANSWER_ABSENT)
		slot->answer.first_byte_ns = clock_mono_ns();
	else if (len <= 2)
		slot->last_byte_ns = clock_mono_ns(); /* the empty line: the end of an answer without a body */
	else if (len > 9 && strncasecmp(line, "headroom-", 9) == 0)
		take_server_figure(&slot->answer, line, len);
	return len;
}

static size_t on_body(char *data, size_t one, size_t len, void *context)
{
	struct slot *slot = context;
	(void)data, (void)one;
	slot->answer.bytes += (int64_t)len;
	slot->last_byte_ns = clock_mono_ns();
	return len;
}

static int on_timer(CURLM *multi, long timeout_ms, void *context)
{
	struct httpc *h = context;
	(void)multi;
	h->deadline_ns = timeout_ms < 0 ? INT64_MAX : clock_mono_ns() + timeout_ms * NSEC_PER_MSEC;
	return 0;
}

static uint32_t *registration(struct httpc *h, curl_socket_t fd)
{
	size_t need = (size_t)fd + 1;
	if (need > h->registered_room) {
		size_t room = need * 2;
		uint32_t *bigger = realloc(h->registered, room * sizeof *bigger);
		if (!bigger)
			return NULL;
		memset(bigger + h->registered_room, 0, (room - h->registered_room) * sizeof *bigger);
		h->registered = bigger;
		h->registered_room = room;
	}
	return &h->registered[fd];
}

static int on_socket(CURL *easy, curl_socket_t fd, int what, void *context, void *socket_context)
{
	struct httpc *h = context;
	(void)easy, (void)socket_context;
	uint32_t *now = registration(h, fd);
	uint32_t want = (what & CURL_POLL_IN ? (uint32_t)EPOLLIN : 0) | (what & CURL_POLL_OUT ? (uint32_t)EPOLLOUT : 0);
	if (what == CURL_POLL_REMOVE)
		want = 0;
	if (!now || *now == want)
		return now ? 0 : -1;
	struct epoll_event event = {.events = want, .data.fd = fd};
	int op = want == 0 ? EPOLL_CTL_DEL : *now == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
	int rc = epoll_ctl(h->epoll_fd, op, fd, &event);
	if (rc < 0 && op == EPOLL_CTL_ADD && errno == EEXIST)
		rc = epoll_ctl(h->epoll_fd, EPOLL_CTL_MOD, fd, &event);
	*now = want;
	/* removing a socket that is closed already fails, and is what was wanted */
	return rc < 0 && want ? -1 : 0;
}

/* --- one request ------------------------------------------------------------------------------------------------ */

static enum answer_error error_of(CURLcode code, const struct slot *slot)
{
	long os_error = 0;
	switch (code) {
	case CURLE_OK:
		return ANSWER_WHOLE;
	case CURLE_COULDNT_RESOLVE_HOST:
	case CURLE_COULDNT_RESOLVE_PROXY:
		return ANSWER_DNS;
	case CURLE_COULDNT_CONNECT:
		curl_easy_getinfo(slot->easy, CURLINFO_OS_ERRNO, &os_error);
		return os_error == ECONNREFUSED ? ANSWER_REFUSED : ANSWER_UNREACHABLE;
	case CURLE_OPERATION_TIMEDOUT:
		return ANSWER_TIMEOUT;
	case CURLE_PARTIAL_FILE:
		return ANSWER_CUT_SHORT;
	case CURLE_GOT_NOTHING:
		return ANSWER_CLOSED;
	case CURLE_RECV_ERROR:
	case CURLE_SEND_ERROR:
		return ANSWER_RESET;
	case CURLE_PEER_FAILED_VERIFICATION:
	case CURLE_SSL_CACERT_BADFILE:
		return ANSWER_CERTIFICATE;
	case CURLE_SSL_CONNECT_ERROR:
	case CURLE_SSL_CERTPROBLEM:
	case CURLE_SSL_CIPHER:
	case CURLE_SSL_ISSUER_ERROR:
		return ANSWER_TLS;
	case CURLE_UNSUPPORTED_PROTOCOL: /* HTTP/0.9 is reported so: bytes that are no HTTP */
	case CURLE_WEIRD_SERVER_REPLY:
	case CURLE_HTTP2:
	case CURLE_HTTP2_STREAM:
	case CURLE_BAD_CONTENT_ENCODING:
		return ANSWER_NOT_HTTP;
	default:
		return ANSWER_OTHER;
	}
}

static void release(struct slot *slot)
{
	struct httpc *h = slot->owner;
	curl_multi_remove_handle(h->multi, slot->easy);
	slot->in_flight = false;
	slot->next_free = h->free;
	h->free = slot;
	h->busy--;
}

static void finish(struct slot *slot, CURLcode code)
{
	struct httpc *h = slot->owner;
	struct answer *a = &slot->answer;
	long status = 0;
	long connects = 0;
	curl_easy_getinfo(slot->easy, CURLINFO_RESPONSE_CODE, &status);
	curl_easy_getinfo(slot->easy, CURLINFO_NUM_CONNECTS, &connects);
	a->status = (uint16_t)(status > 0 && status < 1000 ? status : 0);
	a->connects = (uint16_t)connects;
	a->error = error_of(code, slot);
	a->done_ns = code == CURLE_OK && slot->last_byte_ns ? slot->last_byte_ns : clock_mono_ns();
	const char *text = code == CURLE_OK ? "" : slot->text[0] ? slot->text : curl_easy_strerror(code);
	/* released first: `done` may start the next request, with a copy since that one may take this very slot */
	struct answer copy = *a;
	char text_copy[CURL_ERROR_SIZE] = "";
	if (*text)
		snprintf(text_copy, sizeof text_copy, "%s", text);
	release(slot);
	h->done(h->context, slot->tag, &copy, text_copy);
}

bool httpc_start(struct httpc *h, size_t tag, bool fresh)
{
	struct slot *slot = h->free;
	int running;
	if (!slot)
		return false;
	h->free = slot->next_free;
	h->busy++;
	slot->tag = tag;
	slot->in_flight = true;
	slot->text[0] = '\0';
	slot->last_byte_ns = 0;
	slot->answer = (struct answer){.first_byte_ns = ANSWER_ABSENT, .done_ns = ANSWER_ABSENT};
	if (fresh)
		curl_easy_setopt(slot->easy, CURLOPT_FRESH_CONNECT, 1L);
	slot->answer.sent_ns = clock_mono_ns();
	curl_multi_add_handle(h->multi, slot->easy);
	/* adding alone sends nothing: this call does, when there is a connection */
	curl_multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
	if (fresh)
		curl_easy_setopt(slot->easy, CURLOPT_FRESH_CONNECT, 0L);
	h->unread = true;
	return true;
}

void httpc_abandon(struct httpc *h)
{
	for (size_t i = 0; i < h->n_slots; i++) {
		struct slot *slot = &h->slots[i];
		if (!slot->in_flight)
			continue;
		release(slot);
		slot->answer.error = ANSWER_INTERRUPTED;
		h->done(h->context, slot->tag, &slot->answer, "interrupted");
	}
}

/* --- events ----------------------------------------------------------------------------------------------------- */

/* Hands finished requests to `done`, at most one for each call. */
static bool read_finished(struct httpc *h)
{
	int left;
	CURLMsg *message = curl_multi_info_read(h->multi, &left);
	if (!message) {
		h->unread = false;
		return false;
	}
	if (message->msg == CURLMSG_DONE) {
		char *slot = NULL;
		CURLcode code = message->data.result;
		curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &slot);
		finish((struct slot *)(void *)slot, code);
	}
	return true;
}

static void handle_event(struct httpc *h, const struct epoll_event *event)
{
	int running;
	int flags = 0;
	if (event->data.fd & WATCHED_BIT) {
		*h->readable[event->data.fd & ~WATCHED_BIT] = true;
		return;
	}
	if (event->events & EPOLLIN)
		flags |= CURL_CSELECT_IN;
	if (event->events & EPOLLOUT)
		flags |= CURL_CSELECT_OUT;
	if (event->events & (EPOLLERR | EPOLLHUP))
		flags |= CURL_CSELECT_ERR;
	curl_multi_socket_action(h->multi, event->data.fd, flags, &running);
	h->unread = true;
}

bool httpc_step(struct httpc *h)
{
	if (h->unread && read_finished(h))
		return true;
	if (h->at_event < h->n_events) {
		handle_event(h, &h->events[h->at_event++]);
		if (h->unread)
			read_finished(h);
		return true;
	}
	return false;
}

void httpc_wait(struct httpc *h, int timeout_ms)
{
	int64_t left_ns = h->deadline_ns == INT64_MAX ? INT64_MAX : h->deadline_ns - clock_mono_ns();
	int running;
	if (left_ns <= 0) {
		h->deadline_ns = INT64_MAX;
		curl_multi_socket_action(h->multi, CURL_SOCKET_TIMEOUT, 0, &running);
		h->unread = true;
		timeout_ms = 0;
	} else if (left_ns != INT64_MAX) {
		int64_t left_ms = left_ns / NSEC_PER_MSEC + 1;
		if (timeout_ms < 0 || left_ms < timeout_ms)
			timeout_ms = (int)(left_ms < INT32_MAX ? left_ms : INT32_MAX);
	}
	h->at_event = 0;
	h->n_events = epoll_wait(h->epoll_fd, h->events, EVENTS, timeout_ms);
	if (h->n_events < 0)
		h->n_events = 0; /* EINTR: the caller looks at its signals */
	/* a timer or a signal must not wait behind answers */
	for (int i = 0; i < h->n_events; i++)
		if (h->events[i].data.fd & WATCHED_BIT)
			*h->readable[h->events[i].data.fd & ~WATCHED_BIT] = true;
}

int httpc_watch(struct httpc *h, int fd, bool *readable, struct fault *f)
{
	if (h->n_watched == HTTPC_WATCHED)
		return fault_set(f, -ENOSPC, "more than %d watched descriptors", HTTPC_WATCHED);
	struct epoll_event event = {.events = EPOLLIN, .data.fd = WATCHED_BIT | (int)h->n_watched};
	if (epoll_ctl(h->epoll_fd, EPOLL_CTL_ADD, fd, &event) < 0)
		return fault_set(f, errno, "cannot watch a descriptor");
	h->readable[h->n_watched++] = readable;
	return 0;
}

/* --- making and ending ------------------------------------------------------------------------------------------ */

static int check_url(const char *text, char **url, struct fault *f)
{
	CURLU *parts = curl_url();
	char *scheme = NULL;
	int rc = 0;
	CURLUcode code = parts ? curl_url_set(parts, CURLUPART_URL, text, CURLU_GUESS_SCHEME) : CURLUE_OUT_OF_MEMORY;
	if (code == CURLUE_OK)
		code = curl_url_get(parts, CURLUPART_SCHEME, &scheme, 0);
	if (code != CURLUE_OK)
		rc = fault_set(f, -EINVAL, "'%.200s' is not a URL such as http://host:8080/path (%s)", text,
			       curl_url_strerror(code));
	else if (strcmp(scheme, "http") != 0 && strcmp(scheme, "https") != 0)
		rc = fault_set(f, -EINVAL, "'%.200s': only http and https can be sent, not %.20s", text, scheme);
	else if (curl_url_get(parts, CURLUPART_URL, url, 0) != CURLUE_OK)
		rc = fault_set(f, ENOMEM, "the URL");
	curl_free(scheme);
	curl_url_cleanup(parts);
	return rc;
}

static int add_header(struct httpc *h, const char *line)
{
	struct curl_slist *longer = curl_slist_append(h->headers, line);
	if (!longer)
		return -ENOMEM;
	h->headers = longer;
	return 0;
}

static int make_headers(struct httpc *h, const struct httpc_config *config, struct fault *f)
{
	/* libcurl would wait up to 1 s for a "100 Continue" before a large body */
	if (add_header(h, "Expect:") < 0)
		return fault_set(f, ENOMEM, "headers");
	for (size_t i = 0; i < config->n_headers; i++) {
		const char *line = config->headers[i];
		if (!strpbrk(line, ":;") || strpbrk(line, "\r\n") || *line == ':')
			return fault_set(f, -EINVAL, "'%.100s' is not a header such as 'Name: value'", line);
		if (add_header(h, line) < 0)
			return fault_set(f, ENOMEM, "headers");
	}
	return 0;
}

static void set_method(CURL *easy, const struct httpc_config *config)
{
	if (config->body) {
		curl_easy_setopt(easy, CURLOPT_POSTFIELDS, config->body);
		curl_easy_setopt(easy, CURLOPT_POSTFIELDSIZE_LARGE, (curl_off_t)config->body_len);
	}
	if (config->method && strcmp(config->method, "HEAD") == 0 && !config->body)
		curl_easy_setopt(easy, CURLOPT_NOBODY, 1L);
	else if (config->method)
		curl_easy_setopt(easy, CURLOPT_CUSTOMREQUEST, config->method);
}

static void set_transport(CURL *easy, const struct httpc_config *config)
{
	long timeout_ms = (long)((config->timeout_ns + NSEC_PER_MSEC - 1) / NSEC_PER_MSEC);
	bool tls = strncasecmp(config->url, "https:", 6) == 0;
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
	curl_easy_setopt(easy, CURLOPT_TIMEOUT_MS, timeout_ms);
	curl_easy_setopt(easy, CURLOPT_CONNECTTIMEOUT_MS, timeout_ms);
	curl_easy_setopt(easy, CURLOPT_DNS_CACHE_TIMEOUT, -1L);
	/* the default closes a connection that was idle for 118 s, in the middle of a slow schedule */
	curl_easy_setopt(easy, CURLOPT_MAXAGE_CONN, 1000000L);
	curl_easy_setopt(easy, CURLOPT_PROXY, config->proxy ? config->proxy : "");
	curl_easy_setopt(easy, CURLOPT_BUFFERSIZE, (long)RECEIVE_BUFFER);
	curl_easy_setopt(easy, CURLOPT_HTTP_VERSION,
			 !config->http2 ? CURL_HTTP_VERSION_1_1
			 : tls          ? CURL_HTTP_VERSION_2TLS
					: CURL_HTTP_VERSION_2_PRIOR_KNOWLEDGE);
	curl_easy_setopt(easy, CURLOPT_PIPEWAIT, config->http2 ? 1L : 0L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYPEER, config->insecure ? 0L : 1L);
	curl_easy_setopt(easy, CURLOPT_SSL_VERIFYHOST, config->insecure ? 0L : 2L);
	if (config->cacert)
		curl_easy_setopt(easy, CURLOPT_CAINFO, config->cacert);
}

static int make_slot(struct httpc *h, struct slot *slot, const struct httpc_config *config)
{
	CURL *easy = slot->easy = curl_easy_init();
	if (!easy)
		return -ENOMEM;
	slot->owner = h;
	slot->next_free = h->free;
	h->free = slot;
	curl_easy_setopt(easy, CURLOPT_PRIVATE, slot);
	curl_easy_setopt(easy, CURLOPT_ERRORBUFFER, slot->text);
	curl_easy_setopt(easy, CURLOPT_PREREQFUNCTION, on_send);
	curl_easy_setopt(easy, CURLOPT_PREREQDATA, slot);
	curl_easy_setopt(easy, CURLOPT_HEADERFUNCTION, on_header);
	curl_easy_setopt(easy, CURLOPT_HEADERDATA, slot);
	curl_easy_setopt(easy, CURLOPT_WRITEFUNCTION, on_body);
	curl_easy_setopt(easy, CURLOPT_WRITEDATA, slot);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, h->headers);
	set_transport(easy, config);
	set_method(easy, config);
	return curl_easy_setopt(easy, CURLOPT_URL, h->url) == CURLE_OK ? 0 : -ENOMEM;
}

/* Descriptors for every connection, and some for files, timers and the resolver. */
static int raise_file_limit(size_t connections, struct fault *f)
{
	struct rlimit limit;
	rlim_t need = connections + 64;
	if (getrlimit(RLIMIT_NOFILE, &limit) < 0 || limit.rlim_cur >= need)
		return 0;
	if (limit.rlim_max >= need) {
		limit.rlim_cur = need;
		if (setrlimit(RLIMIT_NOFILE, &limit) == 0)
			return 0;
	}
	return fault_set(f, -EMFILE, "%zu connections need %llu open files, but the limit is %llu (ulimit -n)",
			 connections, (unsigned long long)need, (unsigned long long)limit.rlim_max);
}

static int make_multi(struct httpc *h, const struct httpc_config *config, struct fault *f)
{
	h->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (h->epoll_fd < 0)
		return fault_set(f, errno, "epoll");
	h->multi = curl_multi_init();
	h->slots = calloc(config->connections, sizeof *h->slots);
	if (!h->multi || !h->slots)
		return fault_set(f, ENOMEM, "%zu connections", config->connections);
	curl_multi_setopt(h->multi, CURLMOPT_SOCKETFUNCTION, on_socket);
	curl_multi_setopt(h->multi, CURLMOPT_SOCKETDATA, h);
	curl_multi_setopt(h->multi, CURLMOPT_TIMERFUNCTION, on_timer);
	curl_multi_setopt(h->multi, CURLMOPT_TIMERDATA, h);
	/* the default, four times the handles in flight, closes idle connections between two bursts */
	curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, (long)config->connections);
	curl_multi_setopt(h->multi, CURLMOPT_PIPELINING, config->http2 ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING);
	h->n_slots = config->connections;
	for (size_t i = h->n_slots; i-- > 0;)
		if (make_slot(h, &h->slots[i], config) < 0)
			return fault_set(f, ENOMEM, "%zu connections", config->connections);
	return 0;
}

int httpc_open(struct httpc **out, const struct httpc_config *config, struct fault *f)
{
	*out = NULL;
	struct httpc *h = calloc(1, sizeof *h);
	if (!h || curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK) {
		free(h);
		return fault_set(f, ENOMEM, "HTTP client");
	}
	h->epoll_fd = -1;
	h->deadline_ns = INT64_MAX;
	int rc = check_url(config->url, &h->url, f);
	if (rc == 0)
		rc = make_headers(h, config, f);
	if (rc == 0)
		rc = raise_file_limit(config->connections, f);
	if (rc == 0)
		rc = make_multi(h, config, f);
	if (rc < 0) {
		httpc_close(h);
		return rc;
	}
	*out = h;
	return 0;
}

void httpc_on_done(struct httpc *h, httpc_done_fn *done, void *context)
{
	h->done = done;
	h->context = context;
}

void httpc_close(struct httpc *h)
{
	if (!h)
		return;
	for (size_t i = 0; h->slots && i < h->n_slots; i++) {
		if (h->slots[i].in_flight)
			curl_multi_remove_handle(h->multi, h->slots[i].easy);
		curl_easy_cleanup(h->slots[i].easy);
	}
	curl_multi_cleanup(h->multi);
	curl_slist_free_all(h->headers);
	curl_free(h->url);
	free(h->slots);
	free(h->registered);
	if (h->epoll_fd >= 0)
		close(h->epoll_fd);
	free(h);
	curl_global_cleanup();
}

int httpc_use_url(struct httpc *h, const char *text, struct fault *f)
{
	char *url = NULL;
	if (text) {
		int rc = check_url(text, &url, f);
		if (rc < 0)
			return rc;
	}
	for (size_t i = 0; i < h->n_slots; i++)
		curl_easy_setopt(h->slots[i].easy, CURLOPT_URL, url ? url : h->url);
	curl_free(url);
	return 0;
}

size_t httpc_free_handles(const struct httpc *h)
{
	return h->n_slots - h->busy;
}

size_t httpc_in_flight(const struct httpc *h)
{
	return h->busy;
}

const char *httpc_library(void)
{
	return curl_version();
}
