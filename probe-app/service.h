/* service.h - what the server does with a request, without HTTP: workers, queue, pools, log, metrics, draining.
 *
 * A request for work goes through service_arrived(), service_work() and service_answered(), all on the
 * thread of its connection. That thread is the worker while it holds one of the N worker slots: it does
 * the unit and writes the answer itself, and only then hands the slot on. So what is measured (its CPU time,
 * its run-queue wait) is all that the request met, and no answer lies finished while another thread waits for
 * a CPU to send it, or is using up the quota: handing on before the answer was sent made answers wait 2 ms in the
 * middle and 76 ms at p99 (1 worker, bursts of 8 x 4 ms at 0.25 CPU).
 */
#ifndef HEADROOM_PROBE_SERVICE_H
#define HEADROOM_PROBE_SERVICE_H

#include "config.h"
#include "metrics.h"
#include "query.h"
#include "reqlog.h"

struct service {
	const struct probe_config *config;
	struct unit defaults;
	struct query_context query_context;
	struct gate workers;
	struct gate pools[POOLS_MAX];
	struct stop stop;
	struct unit_tools tools;
	struct reqlog log;
	struct metrics metrics;
	_Atomic bool draining;
	_Atomic uint64_t in_flight;   /* requests for work, arrived but not answered */
	_Atomic uint64_t connections; /* open now */
	_Atomic uint64_t connection_numbers;
};

/* What belongs to one connection and the thread that serves it. */
struct visitor {
	struct meter meter;
	bool meter_open;
	int64_t number;
	int64_t free_since_ns;       /* accepted, or the answer before was sent: no request arrived earlier */
	int64_t free_since_runqueue; /* the thread's run-queue wait at that time */
	struct reading at_read;      /* when the current request was read */
	struct record record;        /* of the current request */
	bool at_work;                /* counted in in_flight */
	bool has_worker;             /* holds worker number record.worker until the answer is sent */
};

/* *config must outlive the service. 0 or a negative errno. */
int service_init(struct service *s, const struct probe_config *config, struct fault *f) MUST_CHECK;
void service_destroy(struct service *s); /* when no thread uses it any more */

/* A connection comes and goes. May be called on any thread. */
void service_visit(struct service *s, struct visitor *v);
void service_leave(struct service *s, struct visitor *v);

/* The request line of a request has just been read from the socket. First thing on the connection's thread. */
void service_arrived(struct visitor *v, int socket_fd);

/* This request is one for work: from now on draining waits for it. */
void service_accept_work(struct service *s, struct visitor *v);

/* Waits for a worker, does the unit, fills v->record. Returns the status of the answer: 200, or 503, 507, 500
 * with a sentence. */
int service_work(struct service *s, struct visitor *v, const struct unit *u, struct fault *f) MUST_CHECK;

/* The answer was sent whole (or not): logs and counts a request for work. Last thing for each request. */
void service_answered(struct service *s, struct visitor *v, bool sent);

/* From now on new requests for work are refused and /healthz says 503. */
void service_drain(struct service *s);

/* Requests at work are cut short: they answer 503. */
void service_abort(struct service *s);

void service_now(struct service *s, struct metrics_now *out);

#endif
