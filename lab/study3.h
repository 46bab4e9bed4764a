/* study3.h - how many threads: cases, published figures, the points to measure, and the judgement whether throughput
 * stops growing where the concurrency law (law.h) says. Pure.
 *
 * Each case is a service whose request holds the bottleneck for a part of its time only. A closed loop of 1, 2, 3, ...
 * threads asks it. The law's N uses what a request really cost while it was measured (the probe tells the CPU time and
 * the deliberate wait of every request), since the same work costs more CPU when the sibling of a hardware thread is
 * busy.
 *
 * The measured knee:
 *
 *   fit           law_knee() over all points, when at least one lies below 0.85 of the law's N
 *   service time  else, since the law's N is too small for a point before it (N = 0.5 for pure computing at 0.5 CPUs):
 *                 the plateau, divided by what one thread would do alone if nothing held it up,
 *                 1 / (CPU + wait + pool of one request, as the probe measured them under this load)
 *
 * The published shape has come back when, for each case,
 *
 *   - every point has all its runs, valid, and 3 or more points lie at or behind the law's N
 *   - the knee is within 15% of the law's N
 *   - throughput grows from point to point below 0.85 N
 *   - throughput does not grow behind N: nowhere more than 1.15 times that of the first point there (it may fall: more
 *     threads on sibling hardware threads make each request cost more CPU)
 *   - the mean response grows behind N: at the last point at least 1.15 times that of the first
 */
#ifndef HEADROOM_LAB_STUDY3_H
#define HEADROOM_LAB_STUDY3_H

#include "fault.h"

enum { STUDY3_CASES = 3, STUDY3_POINTS_MAX = 16, STUDY3_THREADS_MAX = 900 };

struct study3_case {
	const char *name; /* of the CSV: "wait", "cpu", "pool" */
	const char *text;
	double cpu_ms, wait_ms;
	unsigned pool_units; /* 0 = the CPUs are the bottleneck */
	double hold_ms;      /* of a unit, beside cpu_ms and wait_ms */
};
extern const struct study3_case study3_cases[STUDY3_CASES];

/* What the authors measured with 2 CPUs; the pool is ours. */
struct study3_published {
	size_t n;
	double law_threads;
	struct {
		double threads, mean_ms, requests_per_s;
	} points[8];
};
extern const struct study3_published study3_published[STUDY3_CASES];

struct study3_threads {
	size_t n;
	uint64_t list[STUDY3_POINTS_MAX]; /* ascending */
};

/* Points around the law's N: up to 4 before it, and 3 or more at or behind it. */
void study3_choose_threads(double law, struct study3_threads *out);

/* "2,5,10": ascending, 1 to STUDY3_THREADS_MAX each. -EINVAL with a sentence. */
int study3_parse_threads(const char *text, struct study3_threads *out, struct fault *f) MUST_CHECK;

/* One number of threads; of several valid runs the mean. NAN where there is nothing. */
struct study3_point {
	uint64_t threads;
	size_t runs; /* valid */
	double mean_ms, p50_ms, p99_ms, requests_per_s, cpu_cores_mean, of_limit;
	double cpu_ms, wait_ms; /* of a request, measured */
	uint64_t nr_throttled;  /* sum; UINT64_MAX = not there */
};

/* Nothing known but the threads. */
void study3_point_init(struct study3_point *p, uint64_t threads);

enum study3_method { STUDY3_FIT, STUDY3_SERVICE_TIME };
extern const char *const study3_method_names[];

struct study3_outcome {
	const struct study3_case *of;
	size_t n; /* 0 = the case was no part of the study */
	struct study3_point points[STUDY3_POINTS_MAX];
	double cpu_ms, wait_ms; /* of a request, mean over the points, more requests counting more */
	double law_nominal;     /* of what was asked for */
	double law_threads;     /* of what was measured */
	double max_rate;        /* requests/s that the bottleneck can carry, by the measured figures */
	enum study3_method method;
	double knee_threads;
	double difference; /* (knee - law) / law */
};

/* The law's N of a case as asked for. */
double study3_law(const struct study3_case *c, double cpus);

/* Fills everything behind `points`. */
void study3_evaluate(struct study3_outcome *o, double cpus);

enum { STUDY3_DIFFERENCES_MAX = 24 };

struct study3_judgement {
	size_t n; /* 0: as published */
	char differences[STUDY3_DIFFERENCES_MAX][160];
};

void study3_judge(const struct study3_outcome *outcomes, size_t repetitions, struct study3_judgement *out);

/* What the points of one case show, in words; "" without points. */
enum { STUDY3_TEXT_SIZE = 512 };
void study3_sentence(const struct study3_outcome *o, double cpus, char out[STUDY3_TEXT_SIZE]);

#endif
