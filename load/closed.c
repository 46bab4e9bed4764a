#include "closed.h"

#include "clock.h"

#include <errno.h>

#define PAUSE_NS (100 * NSEC_PER_MSEC)

struct closed {
	struct run *run;
	int64_t end_ns;
	int64_t *pause_end_ns; /* ring of the users that pause: all pause equally long, so they wake in this order */
	size_t users, first_paused, paused;
	bool ending;
	int rc;
};

static void send_next(struct closed *c)
{
	if (c->ending || clock_mono_ns() >= c->end_ns)
		return;
	size_t seq = shots_count(&c->run->shots);
	if (!shots_begin(&c->run->shots, ANSWER_ABSENT))
		c->rc = -ENOMEM;
	else if (!httpc_start(c->run->http, seq, false))
		c->rc = -EBUSY; /* cannot be: a user has a handle of its own */
}

static void on_done(void *context, size_t tag, const struct answer *a, const char *text)
{
	struct closed *c = context;
	run_settle(c->run, tag, a, text);
	if (a->error == ANSWER_WHOLE || a->error == ANSWER_TIMEOUT || a->error == ANSWER_CUT_SHORT) {
		send_next(c);
		return;
	}
	c->pause_end_ns[(c->first_paused + c->paused++) % c->users] = clock_mono_ns() + PAUSE_NS;
}

static int64_t wake_paused(struct closed *c)
{
	while (c->paused > 0 && c->pause_end_ns[c->first_paused] <= clock_mono_ns()) {
		c->first_paused = c->first_paused + 1 < c->users ? c->first_paused + 1 : 0;
		c->paused--;
		send_next(c);
	}
	return c->paused > 0 ? c->pause_end_ns[c->first_paused] : PACER_NEVER;
}

static void loop(struct closed *c)
{
	for (size_t i = 0; i < c->users; i++)
		send_next(c);
	while (c->rc == 0 && !run_stopped(c->run)) {
		int64_t wake_ns = wake_paused(c);
		if (httpc_step(c->run->http))
			continue;
		if (httpc_in_flight(c->run->http) == 0 && c->paused == 0)
			break;
		run_wait_until(c->run, wake_ns);
	}
}

int closed_run(struct run *r, const struct closed_config *config, struct fault *f)
{
	struct closed c = {
		.run = r,
		.end_ns = config->start_ns + config->duration_ns,
		.users = (size_t)config->users,
		.pause_end_ns = calloc((size_t)config->users, sizeof *c.pause_end_ns),
	};
	if (!c.pause_end_ns || config->users == 0)
		return fault_set(f, ENOMEM, "%llu users", (unsigned long long)config->users);
	httpc_on_done(r->http, on_done, &c);
	loop(&c);
	c.ending = true;
	httpc_abandon(r->http);
	free(c.pause_end_ns);
	return c.rc < 0 ? fault_set(f, -c.rc, "no room for more than %zu records", shots_count(&r->shots)) : 0;
}
