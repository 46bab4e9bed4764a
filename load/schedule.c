#include "schedule.h"

#include "replay.h"

#include <errno.h>
#include <string.h>

static int make_replay(struct schedule *s, const struct load_options *o, struct fault *f)
{
	struct replay times = {0};
	const struct replay_config config = {.time_field = o->time_field, .together = o->within_second == 1};
	int rc = replay_read(&times, o->file, &config, f);
	if (rc == 0) {
		int64_t duration_ns = o->duration_given ? o->duration_ns : 0;
		rc = plan_recorded(&s->plan, times.at_ns, times.n, o->speed, duration_ns, f);
		s->skipped = times.skipped;
	}
	replay_free(&times);
	return rc;
}

static int make_whole(struct schedule *s, const struct load_options *o, struct fault *f)
{
	struct plan *p = &s->plan;
	switch (o->pattern) {
	case PATTERN_PACED:
		if (o->rate_given)
			return plan_rate(p, o->rate, o->duration_ns, f);
		return plan_paced(p, o->interval_ns, o->duration_ns, f);
	case PATTERN_BURST: {
		double every_ns = o->rate_given ? (double)o->burst * 1e9 / o->rate : (double)o->every_ns;
		/* a rate so low that the second burst is never due */
		return plan_burst(p, o->burst, every_ns < 9e18 ? (int64_t)every_ns : INT64_MAX, o->duration_ns, f);
	}
	case PATTERN_POISSON:
		return plan_poisson(p, o->rate, o->seed, o->duration_ns, f);
	case PATTERN_RAMP:
		return plan_ramp(p, o->rate_given ? o->rate : 0, o->ramp_to, o->duration_ns, f);
	case PATTERN_FILE:
		return make_replay(s, o, f);
	default:
		return fault_set(f, -EINVAL, "this pattern has no schedule");
	}
}

int schedule_make(struct schedule *s, const struct load_options *o, struct fault *f)
{
	memset(s, 0, sizeof *s);
	int rc = make_whole(s, o, f);
	if (rc < 0)
		return rc;
	s->requests = s->plan.n;
	if (o->shard_count == 0)
		return 0;
	return plan_shard(&s->plan, o->shard_index, o->shard_count, f);
}
