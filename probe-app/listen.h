/* listen.h - "ADDR:PORT" as a listening socket. */
#ifndef HEADROOM_PROBE_LISTEN_H
#define HEADROOM_PROBE_LISTEN_H

#include "fault.h"

#include <netinet/in.h>
#include <sys/socket.h>

/* Numeric addresses only, so that nothing depends on name resolution: "127.0.0.1:8080", "[::1]:8080",
 * "localhost:8080" (127.0.0.1), ":8080" and "*:8080" (every address, IPv6 and IPv4). Port 0 = any. Pure. */
struct listen_address {
	union {
		struct sockaddr any;
		struct sockaddr_in v4;
		struct sockaddr_in6 v6;
	} u;
	socklen_t len;
};

int listen_parse(const char *text, struct listen_address *out, struct fault *f) MUST_CHECK;

/* Where a socket really listens. */
struct listen_bound {
	char address[INET6_ADDRSTRLEN];
	uint16_t port;
	char url[INET6_ADDRSTRLEN + 32]; /* "http://127.0.0.1:8080": of the loopback if it listens everywhere */
};

/* A listening socket with TCP_NODELAY, which accepted sockets inherit on Linux. The descriptor, or a negative
 * errno with a sentence. */
int listen_open(const char *text, int backlog, struct listen_bound *bound, struct fault *f) MUST_CHECK;

#endif
