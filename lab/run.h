/* run.h - one run of an experiment: a probe alone under a limit, a schedule of requests against it, a sidecar beside
 * it.
 *
 * In this order: group and limit, read back; the probe inside, alone; the sidecar; a warm-up that is left out; counters
 * 0.1 s before the first planned send; the schedule, with cpu.stat read every ms; counters when the schedule and its
 * last answer are over; everything ended, proved gone, the group removed - whatever went wrong before.
 */
#ifndef HEADROOM_LAB_RUN_H
#define HEADROOM_LAB_RUN_H

#include "figures.h"
#include "limits.h"
#include "progress.h"
#include "requests.h"
#include "signals.h"
#include "ticks.h"

/* A schedule: `burst` requests at once, again and again. */
struct workload {
	const char *name; /* "even": in tables, names of cgroups, CSV */
	unsigned burst;   /* 1 = evenly spread */
	int64_t every_ns;
};

struct condition {
	double limit_cpus; /* or LIMIT_NO_CPUS */
	const struct workload *load;
};

/* The limit as text: "0.25", or "none". */
enum { LIMIT_TEXT_SIZE = 32 };
void limit_text(double cpus, char out[LIMIT_TEXT_SIZE]);

/* What is the same for all runs of an experiment. */
struct run_setup {
	struct limiter *limiter;  /* NULL with remote */
	const char *probe, *load; /* paths of the programs */
	const char *sidecar;      /* NULL = none beside the runs */
	uint64_t rounds;          /* of work per request */
	unsigned stretch;         /* 1, or how many times longer than the workload says it is between requests */
	int64_t duration_ns;      /* of the schedule */
	int64_t lead_ns; /* from starting the sender to its first planned send, at least: a slow machine gets more */
	int64_t lateness_bound_ns; /* the sender may be so late, at p99, in a valid run */
	unsigned connections;
	struct remote *remote;     /* probes that run elsewhere (remote.h); NULL = they are started here */
	const char *requests_path; /* where the sender writes its records during a run; removed afterwards */
	bool prefer;               /* the most weight for the probe's group: see limit_prefer() */
	struct signals *signals;
	struct progress *progress;
};

/* What is special about this one. */
struct run_plan {
	struct condition condition;
	unsigned repetition, position; /* from 1 */
	double phase_ms;               /* from the first planned send to the next tick of the quota's period */
};

struct run_result {
	struct figures figures;
	bool measured;            /* there are figures; else only `requests`, or nothing */
	struct requests requests; /* parsed */
	char *requests_csv;       /* as the sender wrote them; NULL = none */
	struct ticks ticks;       /* of the period timer, from the warm-up on */
	char *sidecar_log;        /* JSON lines; NULL = none */
};

/* 0, or a negative errno with a sentence: -EINTR a signal arrived, -ECHILD a program of ours failed. Also then *out
 * holds what was measured until that point. Release in every case. */
int run_condition(const struct run_setup *setup, const struct run_plan *plan, struct run_result *out,
		  struct fault *f) MUST_CHECK;
void run_result_release(struct run_result *r);

#endif
