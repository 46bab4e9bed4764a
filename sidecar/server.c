#include "server.h"

#include "units.h"

#include <arpa/inet.h>
#include <errno.h>
#include <microhttpd.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>

enum {
	CONNECTIONS_MAX = 32,
	CONNECTIONS_PER_ADDRESS_MAX = 16,
	IDLE_TIMEOUT_S = 10,
	CONNECTION_MEMORY_BYTES = 16384,
};

struct server {
	struct MHD_Daemon *daemon;
	server_handler *handler;
	void *context;
	int epoll_fd;
	unsigned port;
};

static enum MHD_Result send_answer(struct MHD_Connection *c, struct server_answer *a)
{
	struct MHD_Response *r = MHD_create_response_from_buffer(a->len, a->body, MHD_RESPMEM_MUST_FREE);
	if (!r) {
		free(a->body);
		return MHD_NO;
	}
	MHD_add_response_header(r, MHD_HTTP_HEADER_CONTENT_TYPE, a->content_type);
	MHD_add_response_header(r, MHD_HTTP_HEADER_CACHE_CONTROL, "no-store");
	if (a->status == MHD_HTTP_METHOD_NOT_ALLOWED)
		MHD_add_response_header(r, MHD_HTTP_HEADER_ALLOW, "GET, HEAD");
	enum MHD_Result queued = MHD_queue_response(c, a->status, r);
	MHD_destroy_response(r);
	return queued;
}

static void refuse_method(struct server_answer *a)
{
	*a = (struct server_answer){
		.status = MHD_HTTP_METHOD_NOT_ALLOWED,
		.content_type = "text/plain; charset=utf-8",
		.body = strdup("only GET and HEAD are answered here\n"),
	};
	a->len = a->body ? strlen(a->body) : 0;
}

static enum MHD_Result on_request(void *context, struct MHD_Connection *c, const char *url, const char *method,
				  const char *version, const char *upload, size_t *upload_size, void **state)
{
	static int headers_seen;
	struct server *s = context;
	bool reads = strcmp(method, MHD_HTTP_METHOD_GET) == 0 || strcmp(method, MHD_HTTP_METHOD_HEAD) == 0;
	(void)version;
	(void)upload;
	/* the first call comes with the headers only: a refusal needs no body, which could be endless; that of a GET is
	 * passed over */
	if (!*state && reads) {
		*state = &headers_seen;
		return MHD_YES;
	}
	if (*state && *upload_size) {
		*upload_size = 0;
		return MHD_YES;
	}
	const char *accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
	struct server_request request = {
		.path = url,
		.accept = accept ? accept : "",
		.since = MHD_lookup_connection_value(c, MHD_GET_ARGUMENT_KIND, "since"),
	};
	struct server_answer answer = {0};
	if (reads)
		s->handler(s->context, &request, &answer);
	else
		refuse_method(&answer);
	return answer.body ? send_answer(c, &answer) : MHD_NO;
}

/* MHD logs to stderr by default: a client's nonsense is not worth a line. */
static void discard_log(void *context, const char *format, va_list args)
{
	(void)context;
	(void)format;
	(void)args;
}

static int split_address(const char *listen, char host[256], char port[16], struct fault *f)
{
	const char *colon = strrchr(listen, ':');
	size_t len = colon ? (size_t)(colon - listen) : 0;
	uint64_t number;
	if (!colon || units_parse_u64(colon + 1, &number, NULL) < 0 || number > 65535)
		return fault_set(f, -EINVAL, "--listen '%.80s' is no address such as 127.0.0.1:9464 or [::]:9464",
				 listen);
	snprintf(port, 16, "%u", (unsigned)number);
	if (len >= 2 && listen[0] == '[' && listen[len - 1] == ']') {
		listen++;
		len -= 2;
	}
	if (len >= 256)
		return fault_set(f, -EINVAL, "--listen: the address is too long");
	memcpy(host, listen, len);
	host[len] = '\0';
	if (!host[0])
		strcpy(host, "127.0.0.1");
	return 0;
}

/* Numeric addresses only: a static program has no resolver of names, and needs none here. */
static socklen_t parse_address(const char *host, const char *port, struct sockaddr_storage *out)
{
	struct sockaddr_in *v4 = (struct sockaddr_in *)out;
	struct sockaddr_in6 *v6 = (struct sockaddr_in6 *)out;
	in_port_t number = htons((uint16_t)strtoul(port, NULL, 10));
	memset(out, 0, sizeof *out);
	if (inet_pton(AF_INET, host, &v4->sin_addr) == 1) {
		v4->sin_family = AF_INET;
		v4->sin_port = number;
		return sizeof *v4;
	}
	if (inet_pton(AF_INET6, host, &v6->sin6_addr) == 1) {
		v6->sin6_family = AF_INET6;
		v6->sin6_port = number;
		return sizeof *v6;
	}
	return 0;
}

static int bind_address(const char *listen_text, struct fault *f)
{
	char host[256];
	char port[16];
	struct sockaddr_storage address;
	int rc = split_address(listen_text, host, port, f);
	if (rc < 0)
		return rc;
	socklen_t len = parse_address(host, port, &address);
	if (!len)
		return fault_set(f, -EINVAL, "--listen '%.80s': give a numeric address, as in 0.0.0.0:9464",
				 listen_text);
	CLEANUP_CLOSE int fd = socket(address.ss_family, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	int on = 1;
	if (fd < 0)
		return fault_set(f, errno, "cannot listen on %.80s", listen_text);
	setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
	if (bind(fd, (struct sockaddr *)&address, len) < 0 || listen(fd, 64) < 0)
		return fault_set(f, errno, "cannot listen on %.80s", listen_text);
	return TAKE_FD(fd);
}

static unsigned bound_port(int fd)
{
	struct sockaddr_storage a;
	socklen_t len = sizeof a;
	if (getsockname(fd, (struct sockaddr *)&a, &len) < 0)
		return 0;
	return ntohs(a.ss_family == AF_INET6 ? ((struct sockaddr_in6 *)&a)->sin6_port
					     : ((struct sockaddr_in *)&a)->sin_port);
}

int server_start(struct server **out, const char *listen_text, server_handler *handler, void *context, struct fault *f)
{
	CLEANUP_CLOSE int fd = bind_address(listen_text, f);
	if (fd < 0)
		return fd;
	CLEANUP_FREE struct server *s = calloc(1, sizeof *s);
	if (!s)
		return fault_set(f, ENOMEM, "cannot start the HTTP server");
	s->handler = handler;
	s->context = context;
	s->port = bound_port(fd);
	s->daemon = MHD_start_daemon(
		MHD_USE_EPOLL | MHD_USE_ERROR_LOG, 0, NULL, NULL, on_request, s, MHD_OPTION_EXTERNAL_LOGGER,
		discard_log, NULL, MHD_OPTION_LISTEN_SOCKET, fd, MHD_OPTION_CONNECTION_LIMIT, (unsigned)CONNECTIONS_MAX,
		MHD_OPTION_PER_IP_CONNECTION_LIMIT, (unsigned)CONNECTIONS_PER_ADDRESS_MAX,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)IDLE_TIMEOUT_S, MHD_OPTION_CONNECTION_MEMORY_LIMIT,
		(size_t)CONNECTION_MEMORY_BYTES, MHD_OPTION_END);
	const union MHD_DaemonInfo *info = s->daemon ? MHD_get_daemon_info(s->daemon, MHD_DAEMON_INFO_EPOLL_FD) : NULL;
	if (!info)
		return fault_set(f, EIO, "cannot start the HTTP server on %.80s", listen_text);
	s->epoll_fd = info->epoll_fd;
	fd = -1; /* the daemon closes it */
	*out = TAKE_PTR(s);
	return 0;
}

int server_fd(const struct server *s)
{
	return s->epoll_fd;
}

/* What MHD has not finished in one run it does not announce by its descriptor. */
void server_run(struct server *s)
{
	enum { RUNS_MAX = 8 };
	int runs = 0;
	do
		MHD_run(s->daemon);
	while (++runs < RUNS_MAX && server_timeout_ns(s) == 0);
}

int64_t server_timeout_ns(const struct server *s)
{
	MHD_UNSIGNED_LONG_LONG ms;
	return MHD_get_timeout(s->daemon, &ms) == MHD_YES ? (int64_t)ms * NSEC_PER_MSEC : -1;
}

unsigned server_port(const struct server *s)
{
	return s->port;
}

void server_stop(struct server *s)
{
	if (!s)
		return;
	MHD_stop_daemon(s->daemon);
	free(s);
}
