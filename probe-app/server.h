/* server.h - HTTP/1.1 for the service. The only file that knows libmicrohttpd.
 *
 * One thread for each connection, which reads the request, does the work and writes the answer. TCP_NODELAY
 * is on for every connection; header and body leave in one segment. Slow and silent clients are closed
 * after the idle time-out; it does not run while a request is at work.
 */
#ifndef HEADROOM_PROBE_SERVER_H
#define HEADROOM_PROBE_SERVER_H

#include "service.h"

struct server;

/* Begins to serve. Takes over listen_fd, also when it fails (NULL, with a sentence). */
struct server *server_start(struct service *s, int listen_fd, struct fault *f) MUST_CHECK;

/* Closes the listening socket: new connections are refused, those that exist go on. */
void server_quiesce(struct server *server);

/* Ends all connections and waits for their threads: requests at work must be done or aborted by then. */
void server_stop(struct server *server);

#endif
