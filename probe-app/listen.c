#include "listen.h"

#include "units.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <string.h>

static int form(const char *text, struct fault *f)
{
	return fault_set(f, -EINVAL, "'%.80s' is not ADDR:PORT (127.0.0.1:8080, [::1]:8080, :8080)", text);
}

static void set_v6(struct listen_address *out, const struct in6_addr *address, uint16_t port)
{
	out->u.v6 = (struct sockaddr_in6){.sin6_family = AF_INET6, .sin6_addr = *address, .sin6_port = htons(port)};
	out->len = sizeof out->u.v6;
}

static int set_v4(struct listen_address *out, const char *address, uint16_t port)
{
	out->u.v4 = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
	out->len = sizeof out->u.v4;
	return inet_pton(AF_INET, address, &out->u.v4.sin_addr) == 1 ? 0 : -EINVAL;
}

static int set_host(struct listen_address *out, char *host, uint16_t port)
{
	struct in6_addr v6;
	size_t len = strlen(host);
	if (len == 0 || strcmp(host, "*") == 0) {
		set_v6(out, &in6addr_any, port);
		return 0;
	}
	if (strcmp(host, "localhost") == 0)
		return set_v4(out, "127.0.0.1", port);
	if (host[0] != '[' || host[len - 1] != ']')
		return set_v4(out, host, port);
	host[len - 1] = '\0';
	if (inet_pton(AF_INET6, host + 1, &v6) != 1)
		return -EINVAL;
	set_v6(out, &v6, port);
	return 0;
}

int listen_parse(const char *text, struct listen_address *out, struct fault *f)
{
	char host[64];
	uint64_t port;
	const char *colon = strrchr(text, ':');
	memset(out, 0, sizeof *out);
	if (!colon || (size_t)(colon - text) >= sizeof host)
		return form(text, f);
	memcpy(host, text, (size_t)(colon - text));
	host[colon - text] = '\0';
	if (units_parse_u64(colon + 1, &port, NULL) < 0 || port > UINT16_MAX)
		return fault_set(f, -EINVAL, "'%.80s': the port is a number from 0 to %d", text, UINT16_MAX);
	return set_host(out, host, (uint16_t)port) < 0 ? form(text, f) : 0;
}

static void describe(const struct listen_address *a, struct listen_bound *bound)
{
	bool is_v6 = a->u.any.sa_family == AF_INET6;
	const void *address = is_v6 ? (const void *)&a->u.v6.sin6_addr : (const void *)&a->u.v4.sin_addr;
	inet_ntop(a->u.any.sa_family, address, bound->address, sizeof bound->address);
	bound->port = ntohs(is_v6 ? a->u.v6.sin6_port : a->u.v4.sin_port);
	const char *host = bound->address;
	if (strcmp(host, "::") == 0 || strcmp(host, "0.0.0.0") == 0)
		host = "127.0.0.1";
	bool brackets = strchr(host, ':');
	snprintf(bound->url, sizeof bound->url, "http://%s%s%s:%u", brackets ? "[" : "", host, brackets ? "]" : "",
		 bound->port);
}

static int set_options(int fd, const struct listen_address *a)
{
	int on = 1;
	int off = 0;
	if (setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on) < 0)
		return -errno;
	if (a->u.any.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&a->u.v6.sin6_addr) &&
	    setsockopt(fd, IPPROTO_IPV6, IPV6_V6ONLY, &off, sizeof off) < 0)
		return -errno;
	return setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0 ? -errno : 0;
}

static int open_socket(struct listen_address *a, int backlog)
{
	CLEANUP_CLOSE int fd = socket(a->u.any.sa_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int rc = fd < 0 ? -errno : set_options(fd, a);
	if (rc < 0)
		return rc;
	if (bind(fd, &a->u.any, a->len) < 0 || listen(fd, backlog) < 0)
		return -errno;
	if (getsockname(fd, &a->u.any, &a->len) < 0)
		return -errno;
	return TAKE_FD(fd);
}

int listen_open(const char *text, int backlog, struct listen_bound *bound, struct fault *f)
{
	struct listen_address a;
	int rc = listen_parse(text, &a, f);
	if (rc < 0)
		return fault_prefix(f, rc, "--listen");
	int fd = open_socket(&a, backlog);
	if (fd == -EAFNOSUPPORT && a.u.any.sa_family == AF_INET6 && IN6_IS_ADDR_UNSPECIFIED(&a.u.v6.sin6_addr)) {
		/* IPv6 is switched off on this host: every address is every IPv4 address */
		set_v4(&a, "0.0.0.0", ntohs(a.u.v6.sin6_port));
		fd = open_socket(&a, backlog);
	}
	if (fd < 0)
		return fault_set(f, -fd, "cannot listen on %s", text);
	describe(&a, bound);
	return fd;
}
