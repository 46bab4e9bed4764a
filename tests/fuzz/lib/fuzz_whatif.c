/* fuzz_whatif.c - the replay of requests under another quota, and the concurrency law. The input: a model, then one
 * (gap, CPU time, wait) for each request.
 * seeds:
 */
#include "../fuzz.h"
#include "law.h"
#include "whatif.h"

enum { REQUESTS_MAX = 12 };

struct raw_model {
	uint64_t quota_usec, period_usec, burst_usec;
	int64_t phase_ns;
	uint16_t workers, cpus;
};

struct raw_request {
	uint16_t gap_ms;
	uint16_t cpu_us, wait_us;
};

static struct whatif_model model_of(const struct raw_model *raw)
{
	return (struct whatif_model){
		.quota = {raw->quota_usec, raw->period_usec},
		.burst_usec = raw->burst_usec,
		.phase_ns = raw->phase_ns,
		.workers = raw->workers,
		.cpus = raw->cpus,
	};
}

static size_t take_requests(struct fuzz_input *in, struct whatif_request requests[REQUESTS_MAX])
{
	struct raw_request raw;
	int64_t at_ns = 0;
	size_t n = 0;
	while (n < REQUESTS_MAX && fuzz_take(in, &raw, sizeof raw)) {
		at_ns += raw.gap_ms % 300 * NSEC_PER_MSEC;
		requests[n++] = (struct whatif_request){at_ns, raw.cpu_us * NSEC_PER_USEC, raw.wait_us * NSEC_PER_USEC};
	}
	return n;
}

/* No request is done sooner than its own work takes, within a step. */
static void check_ends(const struct whatif_request *requests, size_t n, const int64_t *ended_ns)
{
	for (size_t i = 0; i < n; i++) {
		int64_t least_ns = requests[i].arrived_ns + requests[i].cpu_ns + requests[i].wait_ns;
		FUZZ_HOLDS(ended_ns[i] >= requests[i].arrived_ns);
		FUZZ_HOLDS(ended_ns[i] + WHATIF_STEP_NS >= least_ns);
	}
}

static void check_model(const struct whatif_model *model, const struct whatif_request *requests, size_t n)
{
	int64_t ended_ns[REQUESTS_MAX] = {0};
	int64_t free_ns[REQUESTS_MAX] = {0};
	struct whatif_outcome outcome;
	struct whatif_model unlimited = *model;
	if (whatif_replay(requests, n, model, ended_ns, &outcome) < 0)
		return;
	check_ends(requests, n, ended_ns);
	FUZZ_HOLDS(outcome.nr_throttled <= outcome.nr_periods && outcome.stopped_ns >= 0);
	unlimited.quota.quota_usec = QUOTA_NONE;
	FUZZ_HOLDS(whatif_replay(requests, n, &unlimited, free_ns, &outcome) == 0);
	check_ends(requests, n, free_ns);
	FUZZ_HOLDS(outcome.nr_throttled == 0 && outcome.stopped_ns == 0);
}

static void check_law(const uint8_t *data, size_t size)
{
	struct law_point points[8];
	size_t n = size / sizeof *points < 8 ? size / sizeof *points : 8;
	double v[3] = {0};
	memcpy(points, data, n * sizeof *points);
	memcpy(v, data, size < sizeof v ? size : sizeof v);
	double threads = law_threads(v[0], v[1], v[2]);
	FUZZ_HOLDS(isnan(threads) || threads >= 0);
	threads = law_threads_for_pool(v[0], v[1], v[2]);
	FUZZ_HOLDS(isnan(threads) || threads >= 0);
	FUZZ_HOLDS(isnan(law_max_rate(v[0], v[1])) || law_max_rate(v[0], v[1]) >= 0);
	(void)law_knee(points, n);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct raw_model raw;
	struct whatif_request requests[REQUESTS_MAX];
	check_law(data, size);
	if (!fuzz_take(&in, &raw, sizeof raw))
		return 0;
	size_t n = take_requests(&in, requests);
	struct whatif_model model = model_of(&raw);
	check_model(&model, requests, n);
	/* the same with figures that a kernel would accept */
	model.quota = (struct cpu_quota){1000 + raw.quota_usec % 1000000, 1000 + raw.period_usec % 999001};
	model.burst_usec = raw.burst_usec % 1000000;
	model.workers = 1 + raw.workers % 16;
	model.cpus = 1 + raw.cpus % 16;
	check_model(&model, requests, n);
	return 0;
}
