/* http.h - HTTP requests, one at a time, to a host or to a socket of this host. The file in lab/ that knows libcurl.
 *
 * Proxies of the environment are not used, redirects are not followed. Waiting ends at the timeout, not by a signal.
 */
#ifndef HEADROOM_LAB_HTTP_H
#define HEADROOM_LAB_HTTP_H

#include "fault.h"

struct http {
	void *curl;              /* opaque here */
	const char *unix_socket; /* path; NULL = the host in the URL */
};

#define HTTP_CLOSED ((struct http){.curl = NULL})

int http_open(struct http *h, const char *unix_socket, struct fault *f) MUST_CHECK;
void http_close(struct http *h);

struct http_request {
	const char *method;
	const char *url;
	const char *json;   /* body, or NULL */
	int64_t timeout_ns; /* for everything */
};

/* Any status is an answer. `text` is NUL-terminated, at most 4 MB, never NULL after success; to be freed. */
struct http_answer {
	long status;
	char *text;
	size_t len;
};

/* 0 when an answer came; -EIO with a sentence without the URL. */
int http_call(struct http *h, const struct http_request *request, struct http_answer *answer,
	      struct fault *f) MUST_CHECK;

/* Gets a stream until the other side ends it. What comes goes to sink(); whenever wake_fd can be read, woken() is
 * called. */
struct http_stream {
	void (*sink)(void *context, const char *data, size_t len);
	void (*woken)(void *context);
	void *context;
	int wake_fd;
};
int http_follow(struct http *h, const char *url, const struct http_stream *s, long *status, struct fault *f) MUST_CHECK;

#endif
