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

/* A schedule of requests. */
struct workload {
	const char *name;        /* "even": in tables, file names, CSV */
	const char *text;        /* "1 request every 50 ms" */
	const char *const *args; /* options of headroom-load, NULL-terminated */
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
	struct limiter *limiter;
	const char *probe, *load; /* paths of the programs */
	const char *sidecar;      /* NULL = none beside the runs */
	uint64_t rounds;          /* of work per request */
	int64_t duration_ns;      /* of the schedule */
	int64_t lead_ns;          /* from starting the sender to the first planned send */
	unsigned connections;
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
