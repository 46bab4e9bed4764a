#include "health.h"

#include "units.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>

enum { TIMEOUT_S = 2 };

union address {
	struct sockaddr any;
	struct sockaddr_in v4;
	struct sockaddr_in6 v6;
};

static bool is_everywhere_or_empty(const char *host)
{
	return !host[0] || strcmp(host, "*") == 0 || strcmp(host, "0.0.0.0") == 0 || strcmp(host, "localhost") == 0;
}

/* Returns its length, 0 when it is none. */
static socklen_t parse_address(const char *listen, union address *out)
{
	char host[64];
	uint64_t port;
	const char *colon = strrchr(listen, ':');
	size_t len = colon ? (size_t)(colon - listen) : 0;
	if (!colon || units_parse_u64(colon + 1, &port, NULL) < 0 || port == 0 || port > 65535 || len >= sizeof host)
		return 0;
	if (len >= 2 && listen[0] == '[' && listen[len - 1] == ']') {
		listen++;
		len -= 2;
	}
	memcpy(host, listen, len);
	host[len] = '\0';
	if (is_everywhere_or_empty(host))
		strcpy(host, "127.0.0.1");
	if (strcmp(host, "::") == 0)
		strcpy(host, "::1");
	memset(out, 0, sizeof *out);
	if (inet_pton(AF_INET, host, &out->v4.sin_addr) == 1) {
		out->v4.sin_family = AF_INET;
		out->v4.sin_port = htons((uint16_t)port);
		return sizeof out->v4;
	}
	if (inet_pton(AF_INET6, host, &out->v6.sin6_addr) == 1) {
		out->v6.sin6_family = AF_INET6;
		out->v6.sin6_port = htons((uint16_t)port);
		return sizeof out->v6;
	}
	return 0;
}

int health_status(const char *response)
{
	/* "HTTP/1.1 200 OK" */
	if (strncmp(response, "HTTP/1.", 7) != 0 || !response[7] || response[8] != ' ')
		return -1;
	int status = 0;
	for (size_t i = 9; i < 12; i++) {
		if (response[i] < '0' || response[i] > '9')
			return -1;
		status = status * 10 + (response[i] - '0');
	}
	return status;
}

/* The kernel's own time-outs hold for connecting, sending and receiving alike. */
static int connect_within(const union address *a, socklen_t len)
{
	const struct timeval limit = {.tv_sec = TIMEOUT_S};
	CLEANUP_CLOSE int fd = socket(a->any.sa_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_SNDTIMEO, &limit, sizeof limit) < 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_RCVTIMEO, &limit, sizeof limit) < 0 || connect(fd, &a->any, len) < 0)
		return -errno;
	return TAKE_FD(fd);
}

/* The beginning of the answer, as text. */
static int ask(int fd, char *answer, size_t size)
{
	static const char request[] = "GET /healthz HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n";
	size_t used = 0;
	if (send(fd, request, sizeof request - 1, MSG_NOSIGNAL) != (ssize_t)sizeof request - 1)
		return -errno;
	while (used < size - 1) {
		ssize_t n = recv(fd, answer + used, size - 1 - used, 0);
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		used += (size_t)n;
	}
	answer[used] = '\0';
	return 0;
}

int health_check(const char *listen, struct fault *f)
{
	union address address;
	char answer[1024];
	socklen_t len = parse_address(listen, &address);
	if (!len)
		return fault_set(f, -EINVAL, "--listen '%.80s' is no address such as 127.0.0.1:9464", listen);
	CLEANUP_CLOSE int fd = connect_within(&address, len);
	int rc = fd < 0 ? fd : ask(fd, answer, sizeof answer);
	if (rc < 0)
		return fault_set(f, rc == -EAGAIN ? ETIMEDOUT : -rc, "no answer from %s", listen);
	int status = health_status(answer);
	if (status == 200)
		return 0;
	if (status < 0)
		return fault_set(f, -EPROTO, "what answers at %s is no HTTP server", listen);
	return fault_set(f, -EIO, "%s/healthz answers %d", listen, status);
}
