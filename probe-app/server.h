/* server.h - HTTP/1.1 for the service. The only file that knows libmicrohttpd.
 *
 * One thread for each connection, which reads the request, does the work and writes the answer (52 kB of memory
 * each). The other way, one epoll thread that suspends connections while a pool of workers computes, was tried: an
 * answer then waits for the epoll thread, which the same quota stops. 1 worker, bursts of 8 x 4 ms at 0.25 CPU, on a
 * busy machine: 0.6 to 2.5 ms of a request in the middle and 32 to 107 ms at p99 belonged to no part that the server
 * could tell; like this it is 0.13 ms and 0.4 to 2.3 ms. Without work it answered 6,000 to 26,000 requests/s, this
 * 11,000 to 42,000 (wrk, 1 to 32 connections, in the same runs).
 *
 * TCP_NODELAY is on for every connection; header and body leave in one segment (seen with strace: one sendmsg). Slow
 * and silent clients are closed after the idle time-out; it does not run while a request is at work.
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
