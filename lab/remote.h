/* remote.h - probes that run elsewhere, under limits that somebody else made (pods, say), each with a sidecar that is
 * asked over HTTP before and after a run.
 *
 *     struct remote r = REMOTE_NONE;
 *     rc = remote_add(&r, "0.25=http://probe/work,http://probe:9464/report", &f);   for each
 *     rc = remote_open(&r, &setup, &f);                                             waits until all answer
 *     e.setup.remote = &r; experiment_run(&e, &f);                                  remote_condition() for each run
 *     remote_close(&r);
 */
#ifndef HEADROOM_LAB_REMOTE_H
#define HEADROOM_LAB_REMOTE_H

#include "http.h"
#include "remote_reading.h"
#include "run.h"

enum { REMOTE_TARGETS_MAX = 8 };

struct remote_target {
	char *name; /* what stands before the '=' */
	char *probe_url, *report_url;
	/* known after remote_open(): */
	bool same_node;      /* its host is this one */
	double limit_cpus;   /* as its sidecar sees it; 0 = none */
	char container[128]; /* as its sidecar calls it */
};

struct remote {
	const char *program;   /* for messages */
	const char *container; /* of several beside one sidecar, the one that is meant */
	int64_t wait_ns;       /* so long a target may take until it answers, each time */
	uint64_t rounds;       /* of work, asked for with each request; 0 = as the service likes */
	uint64_t times; /* a measured request asks for so many times the rounds, one of a warm-up does not; 0 = 1 */
	struct http http;
	struct remote_target targets[REMOTE_TARGETS_MAX];
	size_t n;
};

#define REMOTE_NONE ((struct remote){.http = HTTP_CLOSED})

/* "NAME=PROBE_URL,REPORT_URL". -EINVAL with a sentence. */
int remote_add(struct remote *r, const char *text, struct fault *f) MUST_CHECK;

/* "250m", "0.25" or "none" (LIMIT_NO_CPUS) as CPUs. False for anything else. Pure. */
bool remote_limit(const char *name, double *cpus);

/* The target with that limit, or NULL. */
struct remote_target *remote_find(struct remote *r, double limit_cpus);

/* The target whose name the condition's load has, else the one with its limit; or NULL. */
struct remote_target *remote_of(struct remote *r, const struct condition *condition);

/* Waits until every target answers and its sidecar sees the limit that its name says; says on stderr what it waits for.
 * Then, unless rounds are given, takes those that the target with the most CPUs was calibrated to.
 * -ETIMEDOUT, -EINTR, -EINVAL (another limit than the name says). */
int remote_open(struct remote *r, const struct run_setup *setup, struct fault *f) MUST_CHECK;
void remote_close(struct remote *r);

/* One answer of a sidecar. */
struct remote_answer {
	json_value *document;
	struct reading reading;
	int64_t asked_ns, answered_ns; /* CLOCK_MONOTONIC here */
};

void remote_answer_release(struct remote_answer *a);

/* Asks a target's sidecar; `since`: the token of an earlier answer, or NULL. -ESTALE when it does not know the token
 * (any more), -EIO when nobody answers well, else as reading_take(). */
int remote_ask(struct remote *r, const struct remote_target *t, const char *since, struct remote_answer *out,
	       struct fault *f) MUST_CHECK;

/* Until the target answers, or the time is up; *out holds the last answer. As remote_open(). */
int remote_wait(struct remote *r, struct remote_target *t, const struct run_setup *setup, struct remote_answer *out,
		struct fault *f) MUST_CHECK;

/* One run against the target whose limit the plan names: as run_condition(), with the window between two answers of its
 * sidecar as CPU observation. It is not valid when the sidecar or the container was started anew meanwhile, when its
 * limit changed, or when the sidecar answered too late. out->sidecar_log is one line with that window: its event is
 * "run". Server instants of requests are left out: they are on another host's clock. */
int remote_condition(const struct run_setup *setup, const struct run_plan *plan, struct run_result *out,
		     struct fault *f) MUST_CHECK;

/* The URL of one request to a target, with `times` the rounds in it; to be freed. NULL when out of memory. */
char *remote_work_url(const struct remote *r, const struct remote_target *t, uint64_t times);

#endif
