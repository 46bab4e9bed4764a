/* forecast.h - the requests of an observed run under another limit: replayed through the model of whatif.h. Pure.
 *
 * Arrivals are true also when the run was throttled, since an open loop does not wait for answers, and so is the CPU
 * time of each request. What passed outside of the server (lateness, network) is added to each as it was observed.
 * Under another limit a request may cost another amount of CPU (busy sibling of the core, tight quota): the observed
 * one is taken.
 *
 * The phase of the period timer matters as much as the limit, and nobody chooses it: a forecast is made for
 * FORECAST_PHASES of them, evenly spread over the period, and told as the median and the range.
 */
#ifndef HEADROOM_LAB_FORECAST_H
#define HEADROOM_LAB_FORECAST_H

#include "requests.h"
#include "whatif.h"

enum { FORECAST_PHASES = 20 };

/* Requests that were answered and whose server told where their time went, by arrival. */
struct forecast_source {
	struct whatif_request *list;
	int64_t *outside_ns; /* of each: its response time outside of the server */
	size_t n, left_out;  /* left_out: the others */
	int64_t begin_ns, end_ns;
};

#define FORECAST_SOURCE_NONE ((struct forecast_source){.n = 0})

/* cpu_ms_per_request: what the cgroup was charged for a request, so that what the server did beside the request itself
 * counts as well; NAN or less than the requests told themselves: only that. 0 or a negative errno: -ENODATA no request
 * is fit for it. Release in every case. */
int forecast_source_make(struct forecast_source *out, const struct requests *r, double cpu_ms_per_request,
			 struct fault *f) MUST_CHECK;
void forecast_source_release(struct forecast_source *s);

struct forecast_server {
	unsigned workers, cpus; /* see struct whatif_model */
	uint64_t burst_usec;    /* cpu.max.burst */
};

struct forecast {
	double cpus; /* the limit; 0 = none */
	double p50_ms, p99_ms, p99_low_ms, p99_high_ms;
	double throttled_per_s; /* throttled periods, mean over the phases */
};

/* With a tick of the period timer phase_ns after the first arrival. cpus 0 = no limit. */
int forecast_at_phase(const struct forecast_source *s, const struct forecast_server *server, double cpus,
		      int64_t phase_ns, struct forecast *out, struct fault *f) MUST_CHECK;

/* One run as it was: the same limit, and the phase that was observed (from the first planned send to the next tick; of
 * no meaning without a limit). -ENODATA also when the phase of a limited run is not known. */
int forecast_of_run(const struct requests *r, double cpu_ms_per_request, double cpus, double phase_ms,
		    const struct forecast_server *server, struct forecast *out, struct fault *f) MUST_CHECK;

/* Median and range over the phases. */
int forecast_make(const struct forecast_source *s, const struct forecast_server *server, double cpus,
		  struct forecast *out, struct fault *f) MUST_CHECK;

/* The smallest limit in steps of step_cpus, up to most_cpus, with which p99 is at most wish_ms at every phase; `out` is
 * its forecast. -ENOENT: none of them does. */
int forecast_smallest(const struct forecast_source *s, const struct forecast_server *server, double step_cpus,
		      double most_cpus, double wish_ms, struct forecast *out, struct fault *f) MUST_CHECK;

#endif
