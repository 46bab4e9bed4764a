/* schedule.h - from the options to a plan; reads the recorded file when there is one. */
#ifndef HEADROOM_SCHEDULE_H
#define HEADROOM_SCHEDULE_H

#include "options.h"
#include "plan.h"

struct schedule {
	struct plan plan;  /* the share of this sender */
	uint64_t requests; /* of the whole schedule */
	uint64_t skipped;  /* lines of the file that gave no time */
};

/* 0 or a negative errno with a sentence; to be freed with plan_free(&s->plan) in any case. */
int schedule_make(struct schedule *s, const struct load_options *o, struct fault *f) MUST_CHECK;

#endif
