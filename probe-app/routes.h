/* routes.h - paths, methods and answers; still without the HTTP library. */
#ifndef HEADROOM_PROBE_ROUTES_H
#define HEADROOM_PROBE_ROUTES_H

#include "service.h"

/* One request, parsed as far as it goes. */
struct request {
	const char *method, *path;
	const char *accept; /* header, NULL = none */
	struct visitor *visitor;
	struct query query;       /* of /work */
	struct fault query_fault; /* err != 0: the query is wrong */
};

struct answer {
	int status;
	const char *type; /* Content-Type */
	char *body;       /* to be freed by whoever sends it; NULL with len 0, or with `stream_csv` */
	size_t len;
	bool stream_csv;            /* the body is the log of requests, read while it is sent */
	const struct record *parts; /* its figures go into headers; NULL = none */
	const char *allow;          /* Allow header of a 405 */
	const char *retry_after;    /* of a 503 */
	bool close;                 /* the connection ends with this answer */
};

/* Is it a path that does work? Then service_accept_work() is due, and the query is read. */
bool routes_is_work(const char *path);

/* Does what the path says. body == NULL with len > 0 never happens; out of memory is a 500 without a body. */
void routes_answer(struct service *s, struct request *r, struct answer *out);

/* An answer with one sentence: {"schema_version":1,"status":404,"error":"..."}. */
void routes_refuse(struct answer *out, int status, const struct fault *f);

#endif
