/* server.h - HTTP for scrapes and reports, inside the sampler's own thread. The only file that knows libmicrohttpd.
 *
 * The daemon has no thread of its own: its epoll descriptor is nested into the sampler's loop, and every answer is made
 * in memory at once, so that a slow or hostile client can hold a connection but never the sampling. Connections, their
 * idle time and their memory are bounded.
 */
#ifndef HEADROOM_SIDECAR_SERVER_H
#define HEADROOM_SIDECAR_SERVER_H

#include "fault.h"

struct server; /* opaque */

struct server_request {
	const char *path;   /* without the query */
	const char *accept; /* the Accept header, or "" */
	const char *since;  /* ?since=, or NULL */
};

struct server_answer {
	unsigned status;
	const char *content_type; /* static */
	char *body;               /* made with malloc; the server frees it */
	size_t len;
};

/* Answers one GET (HEAD is answered the same, without its body). Must fill *answer. */
typedef void server_handler(void *context, const struct server_request *request, struct server_answer *answer);

/* "127.0.0.1:9464", ":9464" (127.0.0.1 as well: an open port is asked for by its address, 0.0.0.0 or [::]),
 * "[::1]:9464". Port 0 takes a free one. */
int server_start(struct server **out, const char *listen, server_handler *handler, void *context,
		 struct fault *f) MUST_CHECK;

int server_fd(const struct server *s);             /* readable when server_run() has something to do */
void server_run(struct server *s);                 /* does it, never blocks */
int64_t server_timeout_ns(const struct server *s); /* call server_run() again after that at the latest; -1 = no need */
unsigned server_port(const struct server *s);
void server_stop(struct server *s); /* NULL is fine */

#endif
