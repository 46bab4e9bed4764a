#include "sender.h"

#include "clock.h"

#include <errno.h>

/* So close to an instant nothing else is begun: handling an answer takes about 8 us. */
#define HANDS_OFF_NS (15 * NSEC_PER_USEC)

/* Requests are sent in the order of the plan, so two cursors say all: [0, sent) are sent or given up, [sent, due) wait
 * for a connection, the rest is still to come. */
struct sender {
	struct run *run;
	const struct plan *plan;
	int64_t start_ns;
	int64_t fixed_spin_ns;
	int64_t spin_ns; /* for the next instant */
	size_t sent, due;
	bool ending; /* nothing more is sent */
};

/* Tells the core that this is a spin: saves power, and speed for the thread on its other half. */
static void relax(void)
{
#if defined(__x86_64__) || defined(__i386__)
	__builtin_ia32_pause();
#elif defined(__aarch64__)
	__asm__ volatile("yield");
#endif
}

static int64_t instant(const struct sender *s, size_t i)
{
	return s->start_ns + s->plan->offset_ns[i];
}

static void send_waiting(struct sender *s)
{
	while (s->sent < s->due && httpc_start(s->run->http, s->sent, false))
		s->sent++;
}

static void on_done(void *context, size_t tag, const struct answer *a, const char *text)
{
	struct sender *s = context;
	run_settle(s->run, tag, a, text);
	if (!s->ending)
		send_waiting(s);
}

static void find_spin(struct sender *s)
{
	if (s->fixed_spin_ns >= 0)
		s->spin_ns = s->fixed_spin_ns;
	else if (s->due < s->plan->n)
		s->spin_ns = pacer_spin_ns(plan_gap_before(s->plan, s->due));
}

/* Everything that is due by now is begun, and sent as far as connections are free. */
static int send_due(struct sender *s, int64_t now_ns)
{
	size_t first = s->due;
	while (s->due < s->plan->n && instant(s, s->due) <= now_ns) {
		if (!shots_begin(&s->run->shots, instant(s, s->due)))
			return -ENOMEM;
		s->due++;
	}
	if (s->due == first)
		return 0;
	send_waiting(s);
	for (size_t i = first > s->sent ? first : s->sent; i < s->due; i++)
		shots_at(&s->run->shots, i)->blocked = true;
	find_spin(s);
	return 0;
}

static void give_up(struct sender *s, enum answer_error error, int64_t now_ns)
{
	struct answer a = {
		.sent_ns = ANSWER_ABSENT,
		.first_byte_ns = ANSWER_ABSENT,
		.done_ns = now_ns,
		.error = error,
	};
	run_settle(s->run, s->sent++, &a, "no connection became free: more --connections are needed");
}

static void give_up_overdue(struct sender *s, int64_t now_ns)
{
	while (s->sent < s->due && now_ns - instant(s, s->sent) > s->run->timeout_ns)
		give_up(s, ANSWER_NOT_SENT, now_ns);
}

/* Sleeps until the next instant or answer; close to an instant it only looks, or spins. */
static void wait_for_something(struct sender *s, int64_t now_ns)
{
	int64_t next = s->due < s->plan->n ? instant(s, s->due) : PACER_NEVER;
	int64_t wake = next == PACER_NEVER ? next : next - s->spin_ns;
	if (s->sent < s->due && instant(s, s->sent) + s->run->timeout_ns < wake)
		wake = instant(s, s->sent) + s->run->timeout_ns + 1;
	if (now_ns < wake)
		run_wait_until(s->run, wake);
	else if (next - now_ns > HANDS_OFF_NS)
		httpc_wait(s->run->http, 0);
	else
		while (clock_mono_ns() < next)
			relax();
}

static bool is_over(const struct sender *s)
{
	return s->due == s->plan->n && s->sent == s->due && httpc_in_flight(s->run->http) == 0;
}

int sender_run(struct run *r, const struct sender_config *config, struct fault *f)
{
	struct sender s = {
		.run = r,
		.plan = config->plan,
		.start_ns = config->start_ns,
		.fixed_spin_ns = config->spin_ns,
	};
	int rc = 0;
	httpc_on_done(r->http, on_done, &s);
	find_spin(&s);
	while (!run_stopped(r) && !is_over(&s)) {
		int64_t now_ns = clock_mono_ns();
		rc = send_due(&s, now_ns);
		if (rc < 0)
			break;
		give_up_overdue(&s, now_ns);
		if (!httpc_step(r->http) && !is_over(&s))
			wait_for_something(&s, clock_mono_ns());
	}
	s.ending = true;
	httpc_abandon(r->http);
	while (s.sent < s.due)
		give_up(&s, ANSWER_INTERRUPTED, clock_mono_ns());
	return rc < 0 ? fault_set(f, -rc, "no room for more than %zu records", shots_count(&r->shots)) : 0;
}
