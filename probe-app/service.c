#include "service.h"

#include "arrival.h"
#include "clock.h"

#include <errno.h>
#include <string.h>

static double rounds_per_ms(const struct probe_config *c)
{
	return c->cpu_ms > 0 ? (double)c->rounds / c->cpu_ms : 0;
}

static int init_pools(struct service *s, struct fault *f)
{
	for (size_t i = 0; i < s->config->pool_count; i++) {
		/* whoever waits for a unit holds a worker: their number bounds the queue */
		int rc = gate_init(&s->pools[i], s->config->pools[i].units, UINT32_MAX, f);
		if (rc < 0)
			return fault_prefix(f, rc, "pool %s", s->config->pools[i].name);
	}
	return 0;
}

int service_init(struct service *s, const struct probe_config *config, struct fault *f)
{
	memset(s, 0, sizeof *s);
	s->config = config;
	s->defaults = (struct unit){
		.rounds = config->rounds, .wait_ns = config->wait_ns, .disk_kb = config->disk_kb, .pool = UNIT_NO_POOL};
	s->query_context = (struct query_context){.defaults = &s->defaults,
						  .rounds_per_ms = rounds_per_ms(config),
						  .pools = config->pools,
						  .pool_count = config->pool_count};
	s->tools = (struct unit_tools){
		.disk_dir = config->disk_dir, .pool_specs = config->pools, .pools = s->pools, .stop = &s->stop};
	metrics_init(&s->metrics);
	int rc = gate_init(&s->workers, config->workers, config->queue_max, f);
	if (rc == 0)
		rc = init_pools(s, f);
	if (rc == 0)
		rc = reqlog_init(&s->log, config->ring, f);
	return rc;
}

void service_destroy(struct service *s)
{
	gate_destroy(&s->workers);
	for (size_t i = 0; i < s->config->pool_count; i++)
		gate_destroy(&s->pools[i]);
	reqlog_destroy(&s->log);
	metrics_destroy(&s->metrics);
}

void service_visit(struct service *s, struct visitor *v)
{
	memset(v, 0, sizeof *v);
	v->meter.fd = -1;
	v->number = (int64_t)(atomic_fetch_add(&s->connection_numbers, 1) + 1);
	v->free_since_ns = clock_mono_ns();
	atomic_fetch_add(&s->connections, 1);
}

void service_leave(struct service *s, struct visitor *v)
{
	meter_close(&v->meter);
	atomic_fetch_sub(&s->connections, 1);
}

static void set_arrival(struct visitor *v, int socket_fd)
{
	struct record *r = &v->record;
	struct arrival_witness w = {.read_ns = v->at_read.mono_ns,
				    .waited_ns = METER_UNKNOWN,
				    .not_before_ns = v->free_since_ns,
				    .data_age_ns = arrival_data_age_ns(socket_fd),
				    .tick_ns = arrival_tick_ns()};
	if (v->at_read.runqueue_ns != METER_UNKNOWN)
		w.waited_ns = v->at_read.runqueue_ns - v->free_since_runqueue;
	r->read_ns = w.read_ns;
	r->arrived_ns = arrival_instant(&w);
	r->arrival_wait_ns = r->read_ns - r->arrived_ns;
}

void service_arrived(struct visitor *v, int socket_fd)
{
	int64_t now = clock_mono_ns();
	if (!v->meter_open) {
		/* on this thread, since a thread can only measure itself */
		meter_open(&v->meter);
		v->meter_open = true;
	}
	record_init(&v->record);
	v->at_read = meter_read(&v->meter);
	v->at_read.mono_ns = now;
	v->record.connection = v->number;
	set_arrival(v, socket_fd);
}

void service_accept_work(struct service *s, struct visitor *v)
{
	v->at_work = true;
	atomic_fetch_add(&s->in_flight, 1);
}

static int refuse(struct service *s, int rc, struct fault *f)
{
	if (rc == -EAGAIN)
		fault_set(f, -EAGAIN, "the queue is full: %u requests wait for %u workers", s->config->queue_max,
			  s->config->workers);
	else
		fault_set(f, -ECANCELED, "the server is ending");
	return 503;
}

static int status_of_failure(struct service *s, int rc, struct fault *f)
{
	if (rc == -ECANCELED)
		return refuse(s, rc, f);
	return rc == -ENOSPC || rc == -EDQUOT ? 507 : 500;
}

int service_work(struct service *s, struct visitor *v, const struct unit *u, struct fault *f)
{
	struct gate_pass pass;
	struct record *r = &v->record;
	if (atomic_load(&s->draining))
		return refuse(s, -ECANCELED, f);
	int rc = gate_enter(&s->workers, unit_is_empty(u) ? GATE_PASS_BY : GATE_STAY, &pass);
	r->queued_ns = pass.queued_ns;
	if (rc < 0)
		return refuse(s, rc, f);
	r->dequeued_ns = pass.granted_ns;
	r->queue_ns = pass.granted_ns - pass.queued_ns;
	r->worker = pass.slot;
	v->has_worker = pass.inside;
	rc = unit_run(u, &s->tools, &v->meter, &v->at_read, r, f);
	return rc < 0 ? status_of_failure(s, rc, f) : 200;
}

static void log_request(struct service *s, struct visitor *v)
{
	v->at_work = false;
	reqlog_add(&s->log, &v->record);
	metrics_add(&s->metrics, &v->record);
	atomic_fetch_sub(&s->in_flight, 1);
}

void service_answered(struct service *s, struct visitor *v, bool sent)
{
	v->free_since_ns = clock_mono_ns();
	if (sent)
		v->record.answered_ns = v->free_since_ns;
	if (v->has_worker)
		gate_leave(&s->workers, (uint32_t)v->record.worker);
	v->has_worker = false;
	if (v->at_work)
		log_request(s, v);
	/* last, since the one who got the worker may well take our CPU: that wait is not the next request's */
	v->free_since_runqueue = v->meter_open ? meter_runqueue_ns(&v->meter) : 0;
}

void service_drain(struct service *s)
{
	atomic_store(&s->draining, true);
}

void service_abort(struct service *s)
{
	/* the gates first: else whoever is cut short would hand his worker on to the next */
	gate_close(&s->workers);
	for (size_t i = 0; i < s->config->pool_count; i++)
		gate_close(&s->pools[i]);
	stop_now(&s->stop);
}

void service_now(struct service *s, struct metrics_now *out)
{
	const struct probe_config *c = s->config;
	*out = (struct metrics_now){.workers = c->workers,
				    .queue_max = c->queue_max,
				    .rounds = c->rounds,
				    .cpu_ms = c->cpu_ms,
				    .pool_count = c->pool_count,
				    .pools = c->pools,
				    .in_flight = atomic_load(&s->in_flight),
				    .connections = atomic_load(&s->connections)};
	gate_count(&s->workers, &out->workers_busy, &out->queue_depth);
	for (size_t i = 0; i < c->pool_count; i++)
		gate_count(&s->pools[i], &out->pool_used[i], &out->pool_waiting[i]);
}
