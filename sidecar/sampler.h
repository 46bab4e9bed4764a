/* sampler.h - the loop: one thread that waits for the next sample, signals and the HTTP server's descriptor. */
#ifndef HEADROOM_SIDECAR_SAMPLER_H
#define HEADROOM_SIDECAR_SAMPLER_H

#include "finder.h"
#include "fleet.h"

struct sampler_options {
	int64_t interval_ns;     /* between samples */
	int64_t log_every_ns;    /* between summaries */
	int64_t event_window_ns; /* over which edges are judged */
	const char *listen;      /* NULL: no HTTP */
	char *const *command;    /* exec mode: run this meanwhile, and end with its status; else NULL */
};

/* Watches until SIGTERM or SIGINT (0), or until the command has ended (its status). 1 with a sentence in f when it
 * could not start. */
int sampler_run(const struct tree *t, const struct target_query *q, const struct sampler_options *options,
		const struct log *log, struct fault *f);

#endif
