#include "calibrate.h"

#include "clock.h"
#include "jsonl.h"
#include "own.h"
#include "query.h"
#include "stats.h"
#include "work.h"

#include <errno.h>
#include <string.h>

/* A window lasts 5 to 60 ms. The pause lets the scheduler of this machine, and of the one below a virtual
 * machine, place the thread anew: a slow phase (the other half of the core is busy) often ends with it. */
enum { PAUSE_MS = 50, UNIT_SAMPLES = 51 };

static int time_rounds(struct work_context *w, uint64_t rounds, int64_t *cpu_ns)
{
	uint8_t digest[WORK_DIGEST_BYTES];
	int64_t before = clock_thread_cpu_ns();
	int rc = work_rounds(w, rounds, NULL, digest);
	*cpu_ns = clock_thread_cpu_ns() - before;
	/* the compiler cannot know that libcrypto's result is of no interest: nothing is optimised away */
	return rc;
}

static int measure_window(struct work_context *w, int64_t *low_ns)
{
	int64_t samples[CALIBRATE_SAMPLES];
	for (size_t i = 0; i < ARRAY_LEN(samples); i++) {
		int rc = time_rounds(w, CALIBRATE_ROUNDS, &samples[i]);
		if (rc < 0)
			return rc;
	}
	stats_sort(samples, ARRAY_LEN(samples));
	*low_ns = stats_percentile(samples, ARRAY_LEN(samples), 100000);
	return 0;
}

/* How many of the sorted windows from `first` on agree with it. */
static size_t count_agreeing(const int64_t sorted[], size_t n, size_t first)
{
	size_t end = first;
	while (end < n && (double)sorted[end] <= (double)sorted[first] * (1 + CALIBRATE_TOLERANCE))
		end++;
	return end - first;
}

int calibrate_judge(const int64_t lows_ns[], size_t n, double *ns_per_round, struct fault *f)
{
	int64_t sorted[CALIBRATE_WINDOWS_MAX];
	if (n < CALIBRATE_WINDOWS_MIN)
		return -EAGAIN;
	if (n > CALIBRATE_WINDOWS_MAX)
		n = CALIBRATE_WINDOWS_MAX;
	memcpy(sorted, lows_ns, n * sizeof *sorted);
	stats_sort(sorted, n);
	/* at the end of patience: a fifth of the windows may have been clocked higher, each differently */
	size_t outliers = n < CALIBRATE_WINDOWS_MAX ? CALIBRATE_OUTLIERS : n / 5;
	for (size_t first = 0; first <= outliers; first++) {
		size_t agree = count_agreeing(sorted, n, first);
		if (agree >= CALIBRATE_WINDOWS_AGREE && sorted[first] > 0) {
			*ns_per_round = (double)stats_median(sorted + first, agree) / CALIBRATE_ROUNDS;
			return 0;
		}
	}
	if (n < CALIBRATE_WINDOWS_MAX)
		return -EAGAIN;
	return fault_set(
		f, -EDOM,
		"the speed of this CPU varies too much: the fastest of %zu windows took %lld ns, the median %lld; "
		"try again when it is calmer, or give --rounds",
		n, (long long)sorted[0], (long long)stats_median(sorted, n));
}

static int measure_speed(struct work_context *w, bool (*give_up)(void), struct calibration *out, struct fault *f)
{
	int64_t lows_ns[CALIBRATE_WINDOWS_MAX];
	size_t n = 0;
	int rc;
	do {
		if (give_up && give_up())
			return fault_set(f, ECANCELED, "calibrating");
		if (n)
			clock_sleep_until_ns(clock_mono_ns() + PAUSE_MS * NSEC_PER_MSEC, NULL);
		rc = measure_window(w, &lows_ns[n]);
		if (rc < 0)
			return fault_set(f, -rc, "SHA-256 rounds");
		n++;
		rc = calibrate_judge(lows_ns, n, &out->ns_per_round, f);
	} while (rc == -EAGAIN && n < CALIBRATE_WINDOWS_MAX);
	out->windows = n;
	return rc;
}

static int measure_unit(struct work_context *w, struct calibration *out, struct fault *f)
{
	int64_t samples[UNIT_SAMPLES];
	/* 51 units of 4 ms take 0.2 s; of longer ones fewer are enough */
	size_t n = out->cpu_ms > 20 ? 5 : UNIT_SAMPLES;
	for (size_t i = 0; i < n; i++) {
		int rc = time_rounds(w, out->rounds, &samples[i]);
		if (rc < 0)
			return fault_set(f, -rc, "SHA-256 rounds");
	}
	stats_sort(samples, n);
	int64_t p10 = stats_percentile(samples, n, 100000);
	out->samples = n;
	out->median_ns = stats_median(samples, n);
	out->spread = (double)stats_percentile(samples, n, STATS_P90) / (double)(p10 > 0 ? p10 : 1);
	return 0;
}

/* Without readable counters (no cgroup file system) there is no quota that could be noticed: 0. */
static uint64_t throttled_so_far(void)
{
	uint64_t periods;
	bool limited;
	return own_throttled_periods(&periods, &limited, NULL) == 0 ? periods : 0;
}

int calibrate(double cpu_ms, bool (*give_up)(void), struct calibration *out, struct fault *f)
{
	uint64_t throttled_before = throttled_so_far();
	struct work_context *w = work_open(f);
	if (!w)
		return -ENOTSUP;
	*out = (struct calibration){.cpu_ms = cpu_ms};
	int rc = measure_speed(w, give_up, out, f);
	if (rc == 0) {
		out->rounds = query_rounds(cpu_ms, 1e6 / out->ns_per_round);
		rc = measure_unit(w, out, f);
	}
	work_close(w);
	uint64_t throttled = throttled_so_far() - throttled_before;
	if (throttled && (rc == 0 || rc == -EDOM))
		return fault_set(
			f, -EDOM,
			"a CPU quota stopped this process in %llu periods, so the work cannot be measured here: "
			"calibrate outside of the quota (headroom-probe --calibrate) and give its --rounds",
			(unsigned long long)throttled);
	return rc;
}

int calibrate_write(const struct calibration *c, FILE *out)
{
	CLEANUP_JSON json_value *line = json_new_object();
	json_set_i64(line, "schema_version", 1);
	json_set_u64(line, "rounds", c->rounds);
	json_set_real(line, "cpu_ms", c->cpu_ms);
	json_set_i64(line, "median_ns", c->median_ns);
	json_set_real(line, "spread", c->spread);
	json_set_u64(line, "samples", c->samples);
	json_set_real(line, "ns_per_round", c->ns_per_round);
	json_set_u64(line, "windows", c->windows);
	json_set_bool(line, "throttled", false);
	return json_write(line, out, 0);
}
