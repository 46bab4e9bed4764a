#include "server.h"

#include "routes.h"

#include <errno.h>
#include <microhttpd.h>
#include <pthread.h>
#include <string.h>

enum {
	/* A connection's thread needs 20 kB, with sanitizers more; untouched pages cost nothing. */
	THREAD_STACK_BYTES = 512 * 1024,
	/* Request line and header; more is answered 431 or 414 by the library. */
	HEADER_BYTES = 32 * 1024,
	CSV_BLOCK_BYTES = 32 * 1024,
	/* A body that is too large is still read that far beyond the bound, since most clients read no answer before
	 * they have sent everything; then the connection is closed. */
	BODY_PATIENCE_BYTES = 16 * 1024 * 1024,
};

struct server {
	struct MHD_Daemon *daemon;
	struct service *service;
};

/* One for each connection; a connection has one request at a time. */
struct caller {
	struct visitor visitor;
	struct request request;
	bool begun; /* the header of the current request has been looked at */
	uint64_t body_bytes;
};

static struct caller *caller_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_SOCKET_CONTEXT);
	return info ? info->socket_context : NULL;
}

static int socket_of(struct MHD_Connection *c)
{
	const union MHD_ConnectionInfo *info = MHD_get_connection_info(c, MHD_CONNECTION_INFO_CONNECTION_FD);
	return info ? info->connect_fd : -1;
}

/* On the accepting thread for the beginning, so that no thread but the connection's own opens its meter. */
static void on_connection(void *cls, struct MHD_Connection *c, void **context, enum MHD_ConnectionNotificationCode code)
{
	struct server *server = cls;
	(void)c;
	if (code == MHD_CONNECTION_NOTIFY_STARTED) {
		struct caller *caller = calloc(1, sizeof *caller);
		if (caller)
			service_visit(server->service, &caller->visitor);
		*context = caller;
	} else if (*context) {
		struct caller *caller = *context;
		service_leave(server->service, &caller->visitor);
		free(caller);
		*context = NULL;
	}
}

/* Called as soon as the request line has been parsed: nothing of ours runs earlier. */
static void *on_request_line(void *cls, const char *uri, struct MHD_Connection *c)
{
	struct caller *caller = caller_of(c);
	(void)cls;
	(void)uri;
	if (caller) {
		service_arrived(&caller->visitor, socket_of(c));
		caller->begun = false;
		caller->body_bytes = 0;
	}
	return caller;
}

static void on_completed(void *cls, struct MHD_Connection *c, void **context, enum MHD_RequestTerminationCode how)
{
	struct server *server = cls;
	struct caller *caller = *context;
	(void)c;
	if (caller)
		service_answered(server->service, &caller->visitor, how == MHD_REQUEST_TERMINATED_COMPLETED_OK);
	*context = NULL;
}

/* ---- answers ------------------------------------------------------------------------------------------------- */

struct csv_cursor {
	struct reqlog *log;
	uint64_t seq, last;
};

static ssize_t read_csv(void *cls, uint64_t pos, char *buf, size_t max)
{
	struct csv_cursor *cursor = cls;
	(void)pos;
	if (max < RECORD_TEXT_SIZE)
		return MHD_CONTENT_READER_END_WITH_ERROR;
	size_t n = reqlog_csv(cursor->log, &cursor->seq, cursor->last, buf, max);
	return n ? (ssize_t)n : MHD_CONTENT_READER_END_OF_STREAM;
}

static struct MHD_Response *csv_response(struct service *s)
{
	struct csv_cursor *cursor = calloc(1, sizeof *cursor);
	if (!cursor)
		return NULL;
	cursor->log = &s->log;
	cursor->last = reqlog_newest(&s->log);
	struct MHD_Response *response =
		MHD_create_response_from_callback(MHD_SIZE_UNKNOWN, CSV_BLOCK_BYTES, read_csv, cursor, free);
	if (!response)
		free(cursor);
	return response;
}

static void add_header(struct MHD_Response *response, const char *name, const char *value)
{
	if (value)
		MHD_add_response_header(response, name, value);
}

static void add_parts(struct MHD_Response *response, const struct record *r)
{
	char number[RECORD_NUMBER_SIZE];
	for (const struct record_field *f = record_fields; r && f->name; f++) {
		int64_t value = record_value(r, f);
		if (!f->header || value == METER_UNKNOWN)
			continue;
		record_number(value, number);
		MHD_add_response_header(response, f->header, number);
	}
}

static enum MHD_Result send_answer(struct service *s, struct MHD_Connection *c, struct answer *a)
{
	struct MHD_Response *response =
		a->stream_csv ? csv_response(s)
			      : MHD_create_response_from_buffer(a->len, a->body, MHD_RESPMEM_MUST_FREE);
	if (!response) {
		free(a->body);
		return MHD_NO;
	}
	add_header(response, MHD_HTTP_HEADER_CONTENT_TYPE, a->type);
	add_header(response, MHD_HTTP_HEADER_ALLOW, a->allow);
	add_header(response, MHD_HTTP_HEADER_RETRY_AFTER, a->retry_after);
	add_header(response, MHD_HTTP_HEADER_CONNECTION, a->close ? "close" : NULL);
	add_parts(response, a->parts);
	enum MHD_Result result = MHD_queue_response(c, (unsigned)a->status, response);
	MHD_destroy_response(response);
	return result;
}

/* ---- requests ------------------------------------------------------------------------------------------------- */

static enum MHD_Result take_parameter(void *cls, enum MHD_ValueKind kind, const char *key, size_t key_len,
				      const char *value, size_t value_len)
{
	struct request *r = cls;
	(void)kind;
	return query_take(&r->query, key, key_len, value, value_len, &r->query_fault) < 0 ? MHD_NO : MHD_YES;
}

static void begin_request(struct service *s, struct MHD_Connection *c, struct caller *caller, const char *method,
			  const char *path)
{
	struct request *r = &caller->request;
	caller->begun = true;
	r->method = method;
	r->path = path;
	r->accept = NULL;
	r->visitor = &caller->visitor;
	r->query_fault.err = 0;
	if (!routes_is_work(path)) {
		r->accept = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_ACCEPT);
		return;
	}
	service_accept_work(s, &caller->visitor);
	query_begin(&r->query, &s->query_context);
	MHD_get_connection_values_n(c, MHD_GET_ARGUMENT_KIND, take_parameter, r);
}

static enum MHD_Result refuse_body(struct service *s, struct MHD_Connection *c, struct caller *caller)
{
	struct fault f;
	struct answer a = {0};
	fault_set(&f, -EFBIG, "the body of the request is larger than %llu kB (--body-max-kb)",
		  (unsigned long long)(s->config->body_max_bytes / 1024));
	routes_refuse(&a, 413, &f);
	a.close = true;
	caller->visitor.record.status = a.status;
	return send_answer(s, c, &a);
}

/* A body that says how large it is need not be read to be refused. */
static bool announces_too_much(const struct service *s, struct MHD_Connection *c)
{
	const char *text = MHD_lookup_connection_value(c, MHD_HEADER_KIND, MHD_HTTP_HEADER_CONTENT_LENGTH);
	return text && strtoull(text, NULL, 10) > s->config->body_max_bytes;
}

/* The idle time-out must not count the time in which a request is at work. */
static enum MHD_Result work_and_answer(struct service *s, struct MHD_Connection *c, struct request *r)
{
	struct answer a;
	MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, 0U);
	routes_answer(s, r, &a);
	MHD_set_connection_option(c, MHD_CONNECTION_OPTION_TIMEOUT, s->config->idle_timeout_s);
	return send_answer(s, c, &a);
}

/* The library calls this for the header, for each piece of the body, and at the end of the request. */
static enum MHD_Result on_request(void *cls, struct MHD_Connection *c, const char *path, const char *method,
				  const char *version, const char *upload, size_t *upload_size, void **context)
{
	struct server *server = cls;
	struct caller *caller = *context;
	(void)version;
	(void)upload;
	if (!caller)
		return MHD_NO;
	if (!caller->begun) {
		begin_request(server->service, c, caller, method, path);
		return announces_too_much(server->service, c) ? refuse_body(server->service, c, caller) : MHD_YES;
	}
	if (*upload_size) {
		caller->body_bytes += *upload_size;
		*upload_size = 0;
		return caller->body_bytes > server->service->config->body_max_bytes + BODY_PATIENCE_BYTES ? MHD_NO
													  : MHD_YES;
	}
	if (caller->body_bytes > server->service->config->body_max_bytes)
		return refuse_body(server->service, c, caller);
	return work_and_answer(server->service, c, &caller->request);
}

/* ---- life ------------------------------------------------------------------------------------------------------ */

static void on_library_message(void *cls, const char *format, va_list args)
{
	/* Nearly all of it is clients that went away. What matters shows in /metrics and in the answers. */
	(void)cls;
	(void)format;
	(void)args;
}

static struct MHD_Daemon *start_daemon(struct server *server, int listen_fd)
{
	const struct probe_config *config = server->service->config;
	/* clang-format off */
	return MHD_start_daemon(
		MHD_USE_THREAD_PER_CONNECTION | MHD_USE_INTERNAL_POLLING_THREAD | MHD_USE_POLL | MHD_USE_ITC |
			MHD_USE_ERROR_LOG,
		0, NULL, NULL, on_request, server,
		MHD_OPTION_EXTERNAL_LOGGER, on_library_message, NULL, /* first: it is in use from here on */
		MHD_OPTION_LISTEN_SOCKET, listen_fd,
		MHD_OPTION_CONNECTION_LIMIT, (unsigned)config->connections_max,
		MHD_OPTION_CONNECTION_TIMEOUT, (unsigned)config->idle_timeout_s,
		MHD_OPTION_CONNECTION_MEMORY_LIMIT, (size_t)HEADER_BYTES,
		MHD_OPTION_THREAD_STACK_SIZE, (size_t)THREAD_STACK_BYTES,
		MHD_OPTION_SIGPIPE_HANDLED_BY_APP, 1,
		MHD_OPTION_NOTIFY_CONNECTION, on_connection, server,
		MHD_OPTION_NOTIFY_COMPLETED, on_completed, server,
		MHD_OPTION_URI_LOG_CALLBACK, on_request_line, server,
		MHD_OPTION_END);
	/* clang-format on */
}

struct server *server_start(struct service *s, int listen_fd, struct fault *f)
{
	struct server *server = calloc(1, sizeof *server);
	if (server) {
		server->service = s;
		server->daemon = start_daemon(server, listen_fd);
		if (server->daemon)
			return server;
		free(server);
	}
	fault_set(f, errno ? errno : ENOMEM, "cannot start the HTTP server");
	close(listen_fd);
	return NULL;
}

void server_quiesce(struct server *server)
{
	int fd = MHD_quiesce_daemon(server->daemon);
	if (fd >= 0)
		close(fd);
}

void server_stop(struct server *server)
{
	MHD_stop_daemon(server->daemon);
	free(server);
}
