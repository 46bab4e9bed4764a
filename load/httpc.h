/* httpc.h - HTTP requests over a fixed number of kept connections. The only file that knows libcurl.
 *
 * All of it runs in the caller's thread. httpc_wait() is the one place that sleeps; httpc_step() then handles one event
 * at a time, so that a request that has become due waits for one answer at most (about 5 us).
 *
 * Not done, so that an answer is what the server sent: redirects are not followed, nothing is decoded, cookies are not
 * kept, and a proxy in the environment is not used. A name is resolved once. When a kept connection turns out to be
 * closed by the server before a byte of the answer came, libcurl sends the request again on a new one; `connects` shows
 * it.
 */
#ifndef HEADROOM_HTTPC_H
#define HEADROOM_HTTPC_H

#include "answer.h"
#include "fault.h"

struct httpc;

struct httpc_config {
	const char *url;    /* http:// or https://; "host:port/path" means http:// */
	const char *method; /* NULL: GET, or POST when there is a body */
	const void *body;   /* not copied: must outlive the httpc; NULL = none */
	size_t body_len;
	const char *const *headers; /* "Name: value" */
	size_t n_headers;
	const char *cacert; /* NULL: the system's */
	const char *proxy;  /* NULL: none */
	size_t connections; /* requests in flight at most; with HTTP/1.1 each has a connection of its own */
	int64_t timeout_ns; /* from the send to the last byte; at least 1 ms */
	bool http2;         /* https: offered by ALPN; http: assumed. All requests share one connection */
	bool insecure;      /* certificates are not verified */
};

/* Called from httpc_step() once for every request that was started. `text` says what went wrong, "" when nothing. It
 * may start the next request. */
typedef void httpc_done_fn(void *context, size_t tag, const struct answer *a, const char *text);

/* Checks the URL, makes `connections` handles; opens nothing yet. 0, -EINVAL for a URL or header that cannot be used,
 * -ENOMEM, -EMFILE when the limit of open files is too low for that many connections. *out is NULL then. */
int httpc_open(struct httpc **out, const struct httpc_config *config, struct fault *f) MUST_CHECK;

/* Who is told about finished requests from now on; to be set before the first httpc_start(). */
void httpc_on_done(struct httpc *h, httpc_done_fn *done, void *context);

/* Drops requests in flight without calling `done`. NULL is fine. */
void httpc_close(struct httpc *h);

/* Sends one request. False when no handle is free. With `fresh` a new connection is opened for it. `done` is never
 * called from here. */
bool httpc_start(struct httpc *h, size_t tag, bool fresh);

/* Another URL of the same server for the requests from now on (warm-up); NULL: back to the configured one. */
int httpc_use_url(struct httpc *h, const char *url, struct fault *f) MUST_CHECK;

size_t httpc_free_handles(const struct httpc *h);
size_t httpc_in_flight(const struct httpc *h);

/* Ends all requests in flight; `done` is called for each, with ANSWER_INTERRUPTED. */
void httpc_abandon(struct httpc *h);

/* Makes httpc_wait() return when fd (a timer, signals) is readable as well; that sets *readable, which the caller
 * clears. At most HTTPC_WATCHED of them; fd stays the caller's and must stay open as long as h. */
enum { HTTPC_WATCHED = 4 };
int httpc_watch(struct httpc *h, int fd, bool *readable, struct fault *f) MUST_CHECK;

/* Waits until an answer, a time-out of a request or a watched descriptor needs attention, at most timeout_ms
 * (negative: for ever; 0: only looks). */
void httpc_wait(struct httpc *h, int timeout_ms);

/* Handles one event of the last wait; calls `done` for what it finished. False when nothing was left. */
bool httpc_step(struct httpc *h);

/* Version of the library, for --version and reports. */
const char *httpc_library(void);

#endif
