/* fuzz_plan.c - schedules from the options of a user: words as --rate, --interval, --duration, --shard, --threads.
 * seeds:
 */
#include "../fuzz.h"
#include "load/options.h"
#include "load/plan.h"
#include "units.h"

/* More is only slow. */
enum { REQUESTS_MOST = 20000 };

static void check_plan(int rc, struct plan *p, const struct fault *f, int64_t duration_ns)
{
	fuzz_check_fault(rc, f);
	if (rc == 0) {
		FUZZ_HOLDS(p->n >= 1 && p->duration_ns == duration_ns);
		FUZZ_HOLDS(p->offset_ns[0] >= 0 && p->offset_ns[p->n - 1] < duration_ns);
		for (size_t i = 1; i < p->n; i++)
			FUZZ_HOLDS(p->offset_ns[i] >= p->offset_ns[i - 1]);
		FUZZ_HOLDS(plan_gap_before(p, p->n - 1) >= 0 && plan_most_within(p, 1) >= 1);
	}
	plan_free(p);
}

/* All shares together are the whole. */
static void check_shares(int64_t interval_ns, int64_t duration_ns, unsigned count)
{
	size_t n = 0;
	struct plan whole;
	FUZZ_HOLDS(plan_paced(&whole, interval_ns, duration_ns, NULL) == 0);
	for (unsigned i = 0; i < count; i++) {
		struct plan share;
		FUZZ_HOLDS(plan_paced(&share, interval_ns, duration_ns, NULL) == 0);
		FUZZ_HOLDS(plan_shard(&share, i, count, NULL) == 0);
		n += share.n;
		plan_free(&share);
	}
	FUZZ_HOLDS(n == whole.n);
	plan_free(&whole);
}

static void check_schedules(const char *rate_text, const char *to_text, const char *interval_text,
			    const char *duration_text, uint64_t size)
{
	struct plan p;
	struct fault f = {0};
	double rate;
	double to;
	int64_t interval_ns;
	int64_t duration_ns;
	if (units_parse_duration_ns(duration_text, &duration_ns, NULL) < 0 || duration_ns < 1)
		return;
	double duration_s = (double)duration_ns / 1e9;
	if (units_parse_rate(rate_text, &rate, NULL) == 0 && duration_s * rate < REQUESTS_MOST) {
		check_plan(plan_rate(&p, rate, duration_ns, &f), &p, &f, duration_ns);
		check_plan(plan_poisson(&p, rate, size, duration_ns, &f), &p, &f, duration_ns);
		if (units_parse_rate(to_text, &to, NULL) == 0 && duration_s * to < REQUESTS_MOST)
			check_plan(plan_ramp(&p, rate, to, duration_ns, &f), &p, &f, duration_ns);
	}
	if (units_parse_duration_ns(interval_text, &interval_ns, NULL) < 0 || interval_ns < 1)
		return;
	if ((double)duration_ns / (double)interval_ns * (double)size < REQUESTS_MOST)
		check_plan(plan_burst(&p, size, interval_ns, duration_ns, &f), &p, &f, duration_ns);
	if (duration_ns / interval_ns < 100)
		check_shares(interval_ns, duration_ns, 1 + (unsigned)(size % 5));
}

static void check_words(const char *shard, const char *threads_text, uint64_t *size)
{
	struct fault f = {0};
	unsigned index;
	unsigned count;
	uint64_t threads[LOAD_THREADS_MAX];
	size_t n = 0;
	int rc = options_parse_shard(shard, &index, &count, &f);
	fuzz_check_fault(rc, &f);
	FUZZ_HOLDS(rc < 0 || (index < count && count <= 10000));
	rc = options_parse_threads(threads_text, threads, &n, &f);
	fuzz_check_fault(rc, &f);
	FUZZ_HOLDS(n <= LOAD_THREADS_MAX);
	*size = rc == 0 ? threads[0] : 8;
	for (size_t i = 0; rc == 0 && i < n; i++)
		FUZZ_HOLDS(threads[i] >= 1 && threads[i] <= 10000);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = fuzz_text(data, size);
	static char none[] = "";
	char *words[6] = {none, none, none, none, none, none};
	uint64_t number;
	char *rest = text;
	for (size_t i = 0; i < ARRAY_LEN(words) && rest; i++)
		words[i] = strsep(&rest, "\n");
	check_words(words[4], words[5], &number);
	check_schedules(words[0], words[1], words[2], words[3], number);
	return 0;
}
