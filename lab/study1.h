/* study1.h - the same requests per second, even or in bursts, under a CPU limit: conditions, published figures, and the
 * judgement whether the published shape came back. Pure.
 *
 * Absolute times differ from machine to machine; the shape is what must come back:
 *
 *   - mean CPU use is below half of every limit (more where requests cost more CPU than when they were calibrated:
 *     study1_mean_bound()), and the same for even and burst within a factor of 1.5 (on a virtual
 *     machine the same work was seen to cost 3.9 ms of CPU in one run and 5.2 ms in the next)
 *   - even: no throttled periods. Tolerance: 2% of the active ones, at least one (a machine that stalls for 100 ms lets
 *     requests pile up, and they then come in a burst whatever the schedule says)
 *   - burst at the least limit: throttled periods, and a p99 of at least 3 times that of even (published: 20 times)
 *   - burst at the larger limit: fewer throttled periods, and a p99 that is not above that at the least limit by more
 *     than 10%
 *   - without a limit: no throttled periods; even takes about as long as the work (p99 at most 4 times its own
 *     p50), burst about as long as its requests one after the other (p99 at most 1.75 times 8 x that)
 *   - every condition has all its runs, valid
 */
#ifndef HEADROOM_LAB_STUDY1_H
#define HEADROOM_LAB_STUDY1_H

#include "summary.h"

enum { STUDY1_CONDITIONS = 6, STUDY1_BURST = 8, STUDY1_CONNECTIONS = 8 };

/* 0.25 even, 0.25 burst, 0.5 even, 0.5 burst, none even, none burst. */
extern const struct condition study1_conditions[STUDY1_CONDITIONS];

/* What the authors measured over 3 runs of 20 s; NAN = they did not. */
struct study1_published {
	double cpu_cores_mean, of_limit, p99_ms, p99_low_ms, p99_high_ms, nr_throttled;
};
extern const struct study1_published study1_published[STUDY1_CONDITIONS];

enum { STUDY1_DIFFERENCES_MAX = 24 };

struct study1_judgement {
	size_t n; /* 0: shape as published */
	char differences[STUDY1_DIFFERENCES_MAX][160];
};

/* s: the six summaries in the order of the conditions; each is to have `repetitions` runs. Those whose condition has no
 * load were no part of the study, and nothing is said about them; those at 0.25 must be there. calibrated_ms is the CPU
 * time that a request cost when the work was calibrated, NAN when that is not known. */
void study1_judge(const struct summary *s, size_t repetitions, double calibrated_ms, struct study1_judgement *out);

/* How much of its limit the mean CPU use may be: half of it for requests at their calibrated cost. Where one cost more
 * (a busy sibling of the core makes it 1.6 times as much), the bound grows with it, up to 0.9: the published shape is a
 * mean below the limit with throttled periods all the same. */
double study1_mean_bound(double cpu_ms_per_request, double calibrated_ms);

/* When the last request of a burst is done, in ms after its begin, if nothing but the quota is waited for: one worker,
 * a full budget at the begin, filled up again phase_ms later and every 100 ms. Values above 0. */
double study1_burst_end_ms(double work_ms, double budget_ms, double phase_ms);

/* What the figures show, in words that one can repeat to a colleague: one paragraph. */
enum { STUDY1_TEXT_SIZE = 1024 };
void study1_sentence(const struct summary *s, double requests_per_s, char out[STUDY1_TEXT_SIZE]);

/* Of the p99 of burst at the least limit: what came from where, for requests at or above p95. Empty when unknown. */
void study1_parts_sentence(const struct summary *s, char out[STUDY1_TEXT_SIZE]);

#endif
