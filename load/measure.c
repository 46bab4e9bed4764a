#include "measure.h"

#include "clock.h"
#include "closed.h"
#include "scribe.h"
#include "sender.h"

#include <errno.h>
#include <string.h>

/* From the end of the warm-up to the first instant, when nobody chose that. */
#define LEAD_NS (50 * NSEC_PER_MSEC)

/* A server closes connections that it finds idle: with a start that was agreed on, they are opened shortly before it.
 */
#define WARM_UP_BEFORE_NS (2 * NSEC_PER_SEC)

/* Two seconds: the second for which a server stands still, and the one in which it catches up. */
#define STALL_NS (2 * NSEC_PER_SEC)

/* Answers that take no longer than this find their connections open. */
#define ONCE_NS (10 * NSEC_PER_MSEC)

/* The most leaves room below the usual limit of 1024 open files. */
enum { FEWEST = 8, MOST = 900 };

static uint64_t clamp(uint64_t n)
{
	return n < FEWEST ? FEWEST : n > MOST ? MOST : n;
}

uint64_t measure_connections(const struct measure *m)
{
	if (!m->schedule)
		return m->threads;
	if (m->options->connections_given)
		return m->options->connections;
	return clamp(plan_most_within(&m->schedule->plan, STALL_NS));
}

uint64_t measure_warm_up(const struct measure *m)
{
	const struct load_options *o = m->options;
	if (o->warmup_given)
		return o->warmup;
	if (!m->schedule || o->connections_given)
		return measure_connections(m);
	return clamp(plan_most_within(&m->schedule->plan, ONCE_NS));
}

static struct httpc_config http_config(const struct measure *m)
{
	const struct load_options *o = m->options;
	return (struct httpc_config){
		.url = o->url,
		.method = o->method,
		.body = o->body,
		.body_len = o->body_len,
		.headers = o->headers.values,
		.n_headers = o->headers.n,
		.cacert = o->cacert,
		.proxy = o->proxy,
		.connections = (size_t)measure_connections(m),
		.timeout_ns = o->timeout_ns,
		.http2 = o->http2,
		.insecure = o->insecure,
	};
}

/* The instant that was asked for, or 0. Taken once: a wall clock that is stepped later moves nothing. */
static int64_t wished_start(const struct load_options *o)
{
	if (o->start_mono_given)
		return (int64_t)o->start_mono_ns;
	return o->start_wall_ns ? clock_mono_ns() + (o->start_wall_ns - clock_wall_ns()) : 0;
}

static int warm_up(struct measure *m, struct run *run, int64_t start_ns, struct fault *f)
{
	const struct load_options *o = m->options;
	if (start_ns && run_sleep_until(run, start_ns - WARM_UP_BEFORE_NS) < 0)
		return fault_set(f, -EINTR, "interrupted before the first instant");
	/* with HTTP/2 requests share connections: fresh ones would not be used again */
	return run_warm_up(run, measure_warm_up(m), o->warmup_url, !o->http2, f);
}

static int choose_start(struct result *r, int64_t wished_ns, struct fault *f)
{
	int64_t now_ns = clock_mono_ns();
	r->start_mono_ns = wished_ns ? wished_ns : now_ns + LEAD_NS;
	if (r->start_mono_ns < now_ns)
		return fault_set(f, -ETIME,
				 "the first instant was %.3f s ago when the connections were ready: start earlier",
				 (double)(now_ns - r->start_mono_ns) / 1e9);
	r->start_wall_ns = clock_wall_ns() + (r->start_mono_ns - now_ns);
	return 0;
}

static int follow(struct measure *m, struct run *run, struct result *r, struct fault *f)
{
	const struct load_options *o = m->options;
	if (!m->schedule) {
		const struct closed_config config = {m->threads, r->start_mono_ns, o->duration_ns};
		int rc = run_sleep_until(run, r->start_mono_ns);
		return rc < 0 ? fault_set(f, rc, "interrupted before the first request") : closed_run(run, &config, f);
	}
	const struct sender_config config = {
		.plan = &m->schedule->plan,
		.start_ns = r->start_mono_ns,
		.spin_ns = o->spin_given ? o->spin_ns : -1,
	};
	return sender_run(run, &config, f);
}

/* A closed loop can keep a CPU busy for good, which the kernel allows real-time threads for 95 % of each second only:
 * the rest would be a pause of 50 ms. And it has no instants to keep. */
static enum pacer_priority priority_of(const struct measure *m)
{
	enum pacer_priority wish = (enum pacer_priority)m->options->priority;
	return wish == PACER_AUTO && !m->schedule ? PACER_NORMAL : wish;
}

/* The measured part. The scribe starts first: it would inherit the priority. */
static int execute(struct measure *m, struct run *run, struct result *r, struct fault *f)
{
	const char *scheduling;
	struct scribe scribe = {
		.shots = &run->shots,
		.run = {m->options->lateness_bound_ns, m->schedule ? 0 : m->threads},
		.planned = r->planned,
		.start_ns = r->start_mono_ns,
		.csv_fd = m->requests_fd,
		.live = scribe_wants_live_line(),
		.first_seq = m->first_seq,
	};
	int rc = scribe_start(&scribe, f);
	if (rc < 0)
		return rc;
	rc = pacer_prepare_thread(priority_of(m), &scheduling, f);
	int64_t cpu_ns = clock_process_cpu_ns();
	if (rc == 0) {
		snprintf(r->scheduling, sizeof r->scheduling, "%s", scheduling);
		rc = follow(m, run, r, f);
	}
	r->cpu_s = (double)(clock_process_cpu_ns() - cpu_ns) / 1e9;
	pacer_relax_thread();
	m->write_error = -scribe_stop(&scribe);
	m->first_seq += shots_count(&run->shots);
	return rc;
}

static void describe(const struct measure *m, struct result *r)
{
	const struct load_options *o = m->options;
	snprintf(r->url, sizeof r->url, "%s", o->url);
	snprintf(r->pattern, sizeof r->pattern, "%s", load_pattern_names[o->pattern]);
	r->open_loop = m->schedule != NULL;
	r->lateness_bound_ns = o->lateness_bound_ns;
	r->warmup = measure_warm_up(m);
	r->connections = measure_connections(m);
	r->threads = m->schedule ? 0 : m->threads;
	r->shard_index = o->shard_index;
	r->shard_count = o->shard_count;
	r->seed = o->seed;
	r->schedule_ns = r->duration_ns = m->schedule ? m->schedule->plan.duration_ns : o->duration_ns;
	r->planned = m->schedule ? m->schedule->plan.n : 0;
	r->schedule_n = m->schedule ? m->schedule->requests : 0;
	r->replay_skipped = m->schedule ? m->schedule->skipped : 0;
}

static void conclude(const struct run *run, struct result *r)
{
	r->interrupted_by = run->stopped_by;
	r->connections_opened = run->connections_opened;
	for (int i = 0; i < ANSWER_ERRORS; i++)
		snprintf(r->error_text[i], RESULT_TEXT_SIZE, "%s", run->error_text[i]);
	result_count(r, &run->shots);
	if (!r->open_loop)
		r->planned = shots_count(&run->shots);
	/* a closed loop ends with its last answer, and so does what is left of an interrupted run */
	if (!r->open_loop || (run->stopped_by && r->elapsed_ns < r->duration_ns))
		r->duration_ns = r->elapsed_ns;
	result_judge(r);
}

int measure_run(struct measure *m, struct result *r, struct fault *f)
{
	static struct run run; /* a table of chunks: too large for the stack */
	const struct httpc_config config = http_config(m);
	int64_t wished_ns = m->schedule ? wished_start(m->options) : 0;
	describe(m, r);
	int rc = run_open(&run, &config, f);
	if (rc == 0)
		rc = shots_init(&run.shots, m->schedule ? m->schedule->plan.n : 0, f);
	if (rc == 0)
		rc = warm_up(m, &run, wished_ns, f);
	if (rc == 0)
		rc = choose_start(r, wished_ns, f);
	if (rc == 0)
		rc = execute(m, &run, r, f);
	if (rc == 0)
		conclude(&run, r);
	r->interrupted_by = run.stopped_by;
	run_close(&run);
	return rc;
}
