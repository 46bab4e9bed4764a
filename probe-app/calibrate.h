/* calibrate.h - how many rounds of SHA-256 take how much CPU time on this machine.
 *
 * Measured is the thread's own CPU time, so that other processes which take the CPU away do not count. What
 * remains as noise is what slows the CPU itself down: the other hardware thread of the core, the host's
 * other guests, the clock frequency. Nearly all of it makes rounds slower, and it comes and goes. So
 * samples are taken in short windows over 3 s or more, a window counts with its 10th percentile, and the
 * windows that are fastest, and agree with each other, are the answer: the median of all of them.
 *
 * Measured on 2 virtual CPUs kept busy by compilers (load average 4 to 16), in three series: 27 times like that and 27
 * times with four more busy loops gave 51 results, each within 0.8 % of its series' median, and 3 refusals while
 * the clock kept moving between two speeds, for which a fifth of the windows may now be faster
 * (tests/live/probe-calibration). From one series to the next the host's clock moved the result by 11 %. What cannot
 * be seen from inside is a slow phase that lasts all the time: a hardware thread next to ours that is busy from
 * beginning to end, a clock that the whole host has turned down.
 *
 * Refused when no such agreement is reached, and when a CPU quota stopped the process meanwhile: then
 * the same work costs more CPU time (caches are cold after each stop).
 */
#ifndef HEADROOM_PROBE_CALIBRATE_H
#define HEADROOM_PROBE_CALIBRATE_H

#include "fault.h"

enum {
	CALIBRATE_ROUNDS = 1000,    /* of one sample: 0.1 to 1 ms */
	CALIBRATE_SAMPLES = 60,     /* of one window */
	CALIBRATE_WINDOWS_MIN = 50, /* with the pauses between them: 3 s */
	CALIBRATE_WINDOWS_MAX = 150,
	CALIBRATE_WINDOWS_AGREE = 5, /* that many must be as fast as the fastest */
	CALIBRATE_OUTLIERS = 2,      /* not counting so many that are faster still: a CPU clocked higher for 5 ms */
};

/* Windows agree when they differ by at most this. */
#define CALIBRATE_TOLERANCE 0.01

struct calibration {
	double ns_per_round;
	uint64_t rounds; /* that take cpu_ms */
	double cpu_ms;
	int64_t median_ns; /* a unit of `rounds`, measured afterwards: CPU time, median of `samples` */
	double spread;     /* its p90 / p10 */
	uint64_t samples;
	uint64_t windows; /* that were needed */
};

/* Judges the windows so far; lows_ns = the 10th percentile of each, in ns per CALIBRATE_ROUNDS rounds. 0 with
 * *ns_per_round set, -EAGAIN = more windows are needed, -EDOM = refused, with a sentence. Pure. */
int calibrate_judge(const int64_t lows_ns[], size_t n, double *ns_per_round, struct fault *f) MUST_CHECK;

/* Calibrates: 3 s, up to 20 s on a busy machine. 0, -EDOM when refused (with a sentence that says what to
 * do), -ECANCELED when give_up (asked between the windows; may be NULL) said so, or another negative errno.
 * cpu_ms > 0. */
int calibrate(double cpu_ms, bool (*give_up)(void), struct calibration *out, struct fault *f) MUST_CHECK;

/* One JSON line on `out`. 0 or a negative errno. */
int calibrate_write(const struct calibration *c, FILE *out) MUST_CHECK;

#endif
