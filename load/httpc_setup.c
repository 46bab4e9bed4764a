#include "httpc_internal.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>

enum { RECEIVE_BUFFER = 64 * 1024 };

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

static void set_transport(CURL *easy, const struct httpc *h, const struct httpc_config *config)
{
	bool tls = strncasecmp(h->url, "https:", 6) == 0;
	curl_easy_setopt(easy, CURLOPT_PROTOCOLS_STR, "http,https");
	curl_easy_setopt(easy, CURLOPT_NOSIGNAL, 1L);
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
	httpc_set_callbacks(slot);
	curl_easy_setopt(easy, CURLOPT_HTTPHEADER, h->headers);
	set_transport(easy, h, config);
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
	httpc_set_multi_callbacks(h);
	/* the default, four times the handles in flight, closes idle connections between two bursts */
	curl_multi_setopt(h->multi, CURLMOPT_MAXCONNECTS, (long)config->connections);
	curl_multi_setopt(h->multi, CURLMOPT_PIPELINING, config->http2 ? CURLPIPE_MULTIPLEX : CURLPIPE_NOTHING);
	if (config->http2)
		curl_multi_setopt(h->multi, CURLMOPT_MAX_HOST_CONNECTIONS, 1L);
	h->switch_once = config->http2 && strncasecmp(h->url, "https:", 6) != 0 &&
			 curl_version_info(CURLVERSION_NOW)->version_num < 0x080000;
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
	h->timeout_ns = config->timeout_ns;
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
	free(h->watches);
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
