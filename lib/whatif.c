#include "whatif.h"

#include <errno.h>

static const int64_t slice_ns = 5 * NSEC_PER_MSEC;
static const int64_t kept_ns = 1 * NSEC_PER_MSEC;

enum { NOBODY = -1 };

struct worker {
	int64_t request; /* index, or NOBODY */
	int64_t cpu_left_ns, wait_until_ns;
};

struct cpu {
	int64_t local_ns; /* quota it has taken and not used */
	bool stopped;
};

struct replay {
	const struct whatif_request *requests;
	size_t n, next, done;
	const struct whatif_model *model;
	int64_t *ended_ns;
	struct whatif_outcome *out;
	struct worker workers[WHATIF_WORKERS_MAX];
	struct cpu cpus[WHATIF_WORKERS_MAX];
	unsigned n_cpus, first; /* `first`: whose turn it is when more want to run than there are CPUs */
	int64_t period_ns, quota_ns, pool_ns, pool_max_ns, next_tick_ns;
	bool limited, active;
};

/* ---- the pool ---- */

static void tick(struct replay *r)
{
	bool standing = false;
	for (unsigned i = 0; i < r->n_cpus; i++) {
		standing |= r->cpus[i].stopped;
		r->cpus[i].stopped = false;
	}
	r->out->nr_periods += r->active;
	r->out->nr_throttled += standing;
	r->active = false;
	r->pool_ns += r->quota_ns;
	if (r->pool_ns > r->pool_max_ns)
		r->pool_ns = r->pool_max_ns;
	r->next_tick_ns += r->period_ns;
}

/* True if the CPU may run for a step. */
static bool draw(struct replay *r, struct cpu *c)
{
	if (!r->limited)
		return true;
	if (c->stopped)
		return false;
	if (c->local_ns > 0)
		return true;
	int64_t taken = r->pool_ns < slice_ns ? r->pool_ns : slice_ns;
	r->pool_ns -= taken;
	c->local_ns += taken;
	c->stopped = c->local_ns <= 0;
	return !c->stopped;
}

static void give_back(struct replay *r, struct cpu *c)
{
	if (c->local_ns <= kept_ns)
		return;
	r->pool_ns += c->local_ns - kept_ns;
	c->local_ns = kept_ns;
}

/* ---- workers ---- */

static void take_request(struct replay *r, struct worker *w, int64_t now_ns)
{
	if (w->request != NOBODY || r->next >= r->n || r->requests[r->next].arrived_ns > now_ns)
		return;
	w->request = (int64_t)r->next;
	w->cpu_left_ns = r->requests[r->next].cpu_ns;
	w->wait_until_ns = 0;
	r->next++;
}

static void end_request(struct replay *r, struct worker *w, int64_t at_ns)
{
	int64_t arrived_ns = r->requests[w->request].arrived_ns;
	r->ended_ns[w->request] = at_ns > arrived_ns ? at_ns : arrived_ns;
	w->request = NOBODY;
	r->done++;
}

static bool wants_cpu(const struct worker *w)
{
	return w->request != NOBODY && w->cpu_left_ns > 0;
}

/* The CPU time of a request is over at at_ns: its deliberate wait begins, if it has one. */
static void after_cpu(struct replay *r, struct worker *w, int64_t at_ns)
{
	int64_t wait_ns = r->requests[w->request].wait_ns;
	if (wait_ns > 0)
		w->wait_until_ns = at_ns + wait_ns;
	else
		end_request(r, w, at_ns);
}

static void run_step(struct replay *r, struct worker *w, struct cpu *c, int64_t now_ns)
{
	int64_t run_ns = w->cpu_left_ns < WHATIF_STEP_NS ? w->cpu_left_ns : WHATIF_STEP_NS;
	r->active = true;
	if (!draw(r, c)) {
		r->out->stopped_ns += WHATIF_STEP_NS;
		return;
	}
	w->cpu_left_ns -= run_ns;
	if (r->limited)
		c->local_ns -= run_ns;
	if (w->cpu_left_ns == 0)
		after_cpu(r, w, now_ns + run_ns);
}

/* Gives the CPUs to those who want one, in turns. */
static void run_workers(struct replay *r, int64_t now_ns)
{
	unsigned used = 0;
	unsigned workers = r->model->workers;
	for (unsigned k = 0; k < workers && used < r->n_cpus; k++) {
		struct worker *w = &r->workers[(r->first + k) % workers];
		if (wants_cpu(w))
			run_step(r, w, &r->cpus[used++], now_ns);
	}
	for (unsigned i = used; i < r->n_cpus && r->limited; i++)
		give_back(r, &r->cpus[i]);
	r->first = (r->first + 1) % workers;
}

/* Ends what has waited long enough and takes what has arrived. Returns whether anybody wants a CPU. */
static bool settle(struct replay *r, int64_t now_ns)
{
	bool wanted = false;
	for (unsigned i = 0; i < r->model->workers; i++) {
		struct worker *w = &r->workers[i];
		if (w->request != NOBODY && w->cpu_left_ns == 0) {
			if (!w->wait_until_ns)
				after_cpu(r, w, now_ns);
			if (w->request != NOBODY && w->wait_until_ns <= now_ns)
				end_request(r, w, w->wait_until_ns);
		}
		take_request(r, w, now_ns);
		wanted |= wants_cpu(w);
	}
	return wanted;
}

/* Nobody wants a CPU: the next instant at which that can change, on the grid of steps. */
static int64_t next_event_ns(const struct replay *r, int64_t now_ns)
{
	int64_t next = INT64_MAX;
	if (r->next < r->n)
		next = r->requests[r->next].arrived_ns;
	for (unsigned i = 0; i < r->model->workers; i++) {
		const struct worker *w = &r->workers[i];
		if (w->request != NOBODY && w->cpu_left_ns == 0 && w->wait_until_ns < next)
			next = w->wait_until_ns;
	}
	return next > now_ns ? next : now_ns + WHATIF_STEP_NS;
}

static void start(struct replay *r)
{
	const struct whatif_model *m = r->model;
	r->limited = m->quota.quota_usec != QUOTA_NONE;
	r->n_cpus = m->cpus < m->workers ? m->cpus : m->workers;
	r->period_ns = (int64_t)m->quota.period_usec * NSEC_PER_USEC;
	r->quota_ns = r->limited ? (int64_t)m->quota.quota_usec * NSEC_PER_USEC : 0;
	r->pool_max_ns = r->quota_ns + (int64_t)m->burst_usec * NSEC_PER_USEC;
	r->pool_ns = r->pool_max_ns;
	for (unsigned i = 0; i < m->workers; i++)
		r->workers[i].request = NOBODY;
	/* the first tick behind the first arrival */
	int64_t begin = r->n ? r->requests[0].arrived_ns : 0;
	int64_t behind = (begin % r->period_ns - m->phase_ns % r->period_ns) % r->period_ns;
	r->next_tick_ns = begin + r->period_ns - (behind < 0 ? behind + r->period_ns : behind);
}

/* Those of the kernel (kernel/sched/core.c: tg_set_cfs_bandwidth). A smaller quota or a longer period would let a
 * replay last for ever. */
static bool is_within_bounds(const struct whatif_model *m)
{
	const struct cpu_quota *q = &m->quota;
	const uint64_t least_usec = 1000;
	/* sums of these, in ns, stay numbers */
	const uint64_t most_usec = INT64_MAX / NSEC_PER_USEC / 4;
	return m->workers >= 1 && m->workers <= WHATIF_WORKERS_MAX && m->cpus >= 1 && q->period_usec >= least_usec &&
	       q->period_usec <= USEC_PER_SEC && m->burst_usec <= most_usec && q->quota_usec >= least_usec &&
	       (q->quota_usec <= most_usec || q->quota_usec == QUOTA_NONE);
}

int whatif_replay(const struct whatif_request *requests, size_t n, const struct whatif_model *model, int64_t *ended_ns,
		  struct whatif_outcome *outcome)
{
	*outcome = (struct whatif_outcome){0};
	if (!is_within_bounds(model))
		return -EINVAL;
	struct replay r = {.requests = requests, .n = n, .model = model, .ended_ns = ended_ns, .out = outcome};
	start(&r);
	int64_t now_ns = n ? requests[0].arrived_ns : 0;
	while (r.done < n) {
		while (r.limited && r.next_tick_ns <= now_ns)
			tick(&r);
		if (settle(&r, now_ns)) {
			run_workers(&r, now_ns);
			now_ns += WHATIF_STEP_NS;
		} else {
			for (unsigned i = 0; i < r.n_cpus && r.limited; i++)
				give_back(&r, &r.cpus[i]);
			now_ns = r.done < n ? next_event_ns(&r, now_ns) : now_ns;
		}
	}
	if (r.limited)
		tick(&r);
	return 0;
}
