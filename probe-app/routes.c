#include "routes.h"

#include "jsonl.h"
#include "meter.h"

#include <errno.h>
#include <string.h>

static const char type_json[] = "application/json";
static const char type_csv[] = "text/csv; charset=utf-8; header=present";

static void answer_json(struct answer *out, int status, json_value *object)
{
	out->status = status;
	out->type = type_json;
	out->body = json_text(object, &out->len);
	if (!out->body)
		*out = (struct answer){.status = 500, .type = type_json, .close = true};
}

void routes_refuse(struct answer *out, int status, const struct fault *f)
{
	CLEANUP_JSON json_value *object = json_new_object();
	json_set_i64(object, "schema_version", 1);
	json_set_i64(object, "status", status);
	json_set_text(object, "error", fault_text(f));
	answer_json(out, status, object);
	if (status == 503)
		out->retry_after = "1";
}

static void answer_work(struct service *s, struct request *r, struct answer *out)
{
	struct fault f = r->query_fault;
	struct record *record = &r->visitor->record;
	int status = f.err ? 400 : service_work(s, r->visitor, &r->query.unit, &f);
	record->status = status;
	out->parts = record;
	if (status != 200) {
		routes_refuse(out, status, &f);
		return;
	}
	out->status = status;
	out->type = type_json;
	out->body = malloc(RECORD_TEXT_SIZE);
	if (out->body)
		out->len = record_json(record, out->body);
	else
		record->status = out->status = 500;
}

static void answer_health(struct service *s, struct request *r, struct answer *out)
{
	CLEANUP_JSON json_value *object = json_new_object();
	bool draining = atomic_load(&s->draining);
	struct metrics_now now;
	(void)r;
	service_now(s, &now);
	json_set_i64(object, "schema_version", 1);
	json_set_text(object, "status", draining ? "draining" : "ok");
	json_set_u64(object, "workers", now.workers);
	json_set_u64(object, "workers_busy", now.workers_busy);
	json_set_u64(object, "queue_depth", now.queue_depth);
	json_set_u64(object, "in_flight", now.in_flight);
	answer_json(out, draining ? 503 : 200, object);
}

static void answer_metrics(struct service *s, struct request *r, struct answer *out)
{
	struct metrics_now now;
	bool openmetrics = metrics_wants_openmetrics(r->accept);
	service_now(s, &now);
	out->body = metrics_text(&s->metrics, &now, openmetrics, &out->len);
	out->status = out->body ? 200 : 500;
	out->type = openmetrics ? metrics_type_openmetrics : metrics_type_text;
}

static void answer_requests(struct service *s, struct request *r, struct answer *out)
{
	(void)s;
	(void)r;
	*out = (struct answer){.status = 200, .type = type_csv, .stream_csv = true};
}

static void answer_index(struct service *s, struct request *r, struct answer *out)
{
	static const char text[] = "headroom-probe: every request costs a calibrated amount of work.\n"
				   "/work          one unit; ?cpu_ms= ?rounds= ?wait_ms= ?disk_kb= ?pool= change it\n"
				   "/healthz       200, or 503 while it ends\n"
				   "/metrics       Prometheus, OpenMetrics\n"
				   "/requests.csv  the last requests, each with its parts\n";
	(void)s;
	(void)r;
	*out = (struct answer){.status = 200, .type = "text/plain; charset=utf-8", .body = strdup(text)};
	out->len = out->body ? sizeof text - 1 : 0;
}

enum { GET = 1, POST = 2 };

static const struct route {
	const char *path;
	unsigned methods;
	const char *allow;
	void (*answer)(struct service *s, struct request *r, struct answer *out);
} routes[] = {
	{"/work", GET | POST, "GET, HEAD, POST, PUT", answer_work},
	{"/healthz", GET, "GET, HEAD", answer_health},
	{"/metrics", GET, "GET, HEAD", answer_metrics},
	{"/requests.csv", GET, "GET, HEAD", answer_requests},
	{"/", GET, "GET, HEAD", answer_index},
};

/* HEAD is a GET whose body is not sent, PUT is as good as POST: the body is not looked at. */
static unsigned method_bit(const char *method)
{
	if (strcmp(method, "GET") == 0 || strcmp(method, "HEAD") == 0)
		return GET;
	return strcmp(method, "POST") == 0 || strcmp(method, "PUT") == 0 ? POST : 0;
}

bool routes_is_work(const char *path)
{
	return strcmp(path, routes[0].path) == 0;
}

static void answer_route(struct service *s, const struct route *route, struct request *r, struct answer *out)
{
	struct fault f;
	if (route->methods & method_bit(r->method)) {
		route->answer(s, r, out);
		return;
	}
	fault_set(&f, -EINVAL, "%.20s is not possible here: %s", r->method, route->allow);
	routes_refuse(out, 405, &f);
	out->allow = route->allow;
}

void routes_answer(struct service *s, struct request *r, struct answer *out)
{
	struct fault f;
	*out = (struct answer){0};
	for (size_t i = 0; i < ARRAY_LEN(routes); i++)
		if (strcmp(routes[i].path, r->path) == 0) {
			answer_route(s, &routes[i], r, out);
			break;
		}
	if (!out->status) {
		fault_set(&f, -ENOENT, "there is nothing at %.60s: /work, /healthz, /metrics and /requests.csv exist",
			  r->path);
		routes_refuse(out, 404, &f);
	}
	r->visitor->record.status = out->status;
	/* a client that keeps its connection would hold up the end */
	out->close |= atomic_load(&s->draining);
}
