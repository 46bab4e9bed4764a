/* The ordered detectors: each alone, their order, what happens when a witness is missing, and the table of study 2. */
#include "tests/unit/check.h"

#include "verdict.h"

#include <math.h>

#define assert_near(a, b, epsilon) assert_true(fabs((a) - (b)) <= (epsilon))

static const struct verdict_thresholds *const usual = &verdict_default_thresholds;

static void set(struct counters *c, enum counter which, uint64_t value)
{
	c->have |= 1U << which;
	c->value[which] = value;
}

static void throttle(struct window *w, size_t level, uint64_t periods, uint64_t throttled, uint64_t usec)
{
	set(&w->levels[level].delta, COUNTER_NR_PERIODS, periods);
	set(&w->levels[level].delta, COUNTER_NR_THROTTLED, throttled);
	set(&w->levels[level].delta, COUNTER_THROTTLED, usec);
}

static void limit(struct window *w, size_t level, uint64_t quota_usec)
{
	w->levels[level].limited = true;
	w->levels[level].quota = (struct cpu_quota){quota_usec, 100000};
}

static void pressure(struct window *w, enum psi_resource r, uint64_t usec)
{
	w->have_psi[r] = true;
	w->psi_some_usec[r] = usec;
}

/* 10 s, no quota, quiet. */
static struct window quiet(uint64_t usage_usec)
{
	struct window w = {.duration_ns = 10 * NSEC_PER_SEC, .n_levels = 1};
	set(&w.levels[0].delta, COUNTER_USAGE, usage_usec);
	pressure(&w, PSI_CPU, 100);
	pressure(&w, PSI_IO, 0);
	return w;
}

static struct verdict_input input(const struct window *w)
{
	return (struct verdict_input){.window = w, .limit = {.status = LIMIT_NONE}, .nproc = 2};
}

static void node(struct verdict_input *in, double busy_cpus, double cpus, double steal_cpus)
{
	double seconds = (double)in->window->duration_ns / 1e9;
	in->have_ticks = true;
	in->ticks.total = (uint64_t)(cpus * seconds * 100);
	in->ticks.steal = (uint64_t)(steal_cpus * seconds * 100);
	in->ticks.idle = in->ticks.total - in->ticks.steal - (uint64_t)(busy_cpus * seconds * 100);
}

static struct verdict judge(const struct verdict_input *in)
{
	struct verdict v;
	verdict_judge(in, usual, &v);
	assert_true(v.cause < CAUSES);
	assert_true(v.words.sentence[0] && v.words.next[0] && v.words.disproof[0]);
	assert_null(strstr(v.words.sentence, "nan"));
	assert_null(strstr(v.words.next, "nan"));
	assert_true(v.n_evidence <= EVIDENCE_MAX);
	for (size_t i = 0; i < v.n_evidence; i++)
		assert_true(v.evidence[i].value >= 0);
	return v;
}

static const struct evidence *find(const struct verdict *v, const char *name)
{
	for (size_t i = 0; i < v->n_evidence; i++)
		if (strcmp(v->evidence[i].name, name) == 0)
			return &v->evidence[i];
	return NULL;
}

/* ---- names ---------------------------------------------------------------------------------------------------------
 */

static void test_ids(void **state)
{
	(void)state;
	static const char *const wanted[CAUSES] = {"unreadable", "throttled", "throttled_above", "contention",
						   "io_wait",    "queue",     "own_code",        "cannot_tell"};
	for (enum cause c = 0; c < CAUSES; c++)
		assert_string_equal(cause_id(c), wanted[c]);
	assert_string_equal(contention_by_id(CONTENTION_UNKNOWN), "unknown");
	assert_string_equal(contention_by_id(CONTENTION_OWN_THREADS), "own_threads");
	assert_string_equal(contention_by_id(CONTENTION_NEIGHBOURS), "neighbours");
	assert_string_equal(contention_by_id(CONTENTION_HYPERVISOR), "hypervisor");
}

/* ---- study 2: the published figures
 * ---------------------------------------------------------------------------------- */

static void test_study_2(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		int64_t duration_ms;
		uint64_t usage_usec, throttled_periods, throttled_usec, psi_cpu_usec, psi_io_usec;
		enum cause wanted;
	} rows[] = {
		{"A nothing", 1851, 1850000, 0, 0, 120, 0, CAUSE_OWN_CODE},
		{"B quota 0.3", 11379, 3340000, 114, 7952000, 7886000, 0, CAUSE_THROTTLED},
		{"C 12 processes", 4623, 1850000, 0, 0, 1395000, 0, CAUSE_CONTENTION},
		{"D disk writes", 1965, 1850000, 0, 0, 410, 306000, CAUSE_IO},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct window w = {.duration_ns = rows[i].duration_ms * NSEC_PER_MSEC, .n_levels = 2};
		set(&w.levels[0].delta, COUNTER_USAGE, rows[i].usage_usec);
		if (rows[i].throttled_periods) {
			limit(&w, 0, 30000);
			throttle(&w, 0, rows[i].throttled_periods, rows[i].throttled_periods, rows[i].throttled_usec);
		}
		pressure(&w, PSI_CPU, rows[i].psi_cpu_usec);
		pressure(&w, PSI_IO, rows[i].psi_io_usec);
		struct verdict_input in = input(&w);
		struct verdict v = judge(&in);
		assert_case(v.cause == rows[i].wanted, rows[i].what);
		/* the node's figures are a help, no condition; 10 CPUs, as there */
		in.nproc = 10;
		node(&in, rows[i].wanted == CAUSE_CONTENTION ? 9.9 : 1.2, 10, 0);
		v = judge(&in);
		assert_case(v.cause == rows[i].wanted, rows[i].what);
		if (v.cause == CAUSE_CONTENTION)
			assert_case(v.words.by == CONTENTION_NEIGHBOURS, rows[i].what);
	}
}

/* Its second table: the work under 1.0, 0.7, 0.5 and 0.3 CPU. */
static void test_study_2_quotas(void **state)
{
	(void)state;
	static const struct {
		uint64_t quota_usec, usage_usec;
		int64_t duration_ms;
		enum cause wanted;
	} rows[] = {
		{100000, 1833000, 1834, CAUSE_OWN_CODE},
		{70000, 1891000, 2666, CAUSE_THROTTLED},
		{50000, 2087000, 4128, CAUSE_THROTTLED},
		{30000, 3342000, 11046, CAUSE_THROTTLED},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct window w = {.duration_ns = rows[i].duration_ms * NSEC_PER_MSEC, .n_levels = 1};
		uint64_t periods = (uint64_t)rows[i].duration_ms / 100;
		uint64_t stopped_usec = (uint64_t)rows[i].duration_ms * 1000 - rows[i].usage_usec;
		bool tight = rows[i].quota_usec < 100000;
		set(&w.levels[0].delta, COUNTER_USAGE, rows[i].usage_usec);
		limit(&w, 0, rows[i].quota_usec);
		throttle(&w, 0, periods, tight ? periods - 1 : 0, tight ? stopped_usec : 0);
		pressure(&w, PSI_CPU, tight ? stopped_usec : 100);
		pressure(&w, PSI_IO, 0);
		struct verdict_input in = input(&w);
		assert_int_equal(judge(&in).cause, rows[i].wanted);
	}
}

/* ---- unreadable
 * ------------------------------------------------------------------------------------------------------ */

static void test_unreadable(void **state)
{
	(void)state;
	struct window w = quiet(9000000);
	struct verdict_input in = input(&w);
	in.unreadable = "the app runs as 1000:1000, this sidecar as 65532:65532";
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_UNREADABLE);
	assert_non_null(strstr(v.words.sentence, "1000:1000"));
	assert_int_equal(v.n_evidence, 0);
	assert_true(isnan(v.throttled_share) && isnan(v.contention_share) && isnan(v.io_share));
	in = input(&w);
	in.window = NULL;
	assert_int_equal(judge(&in).cause, CAUSE_UNREADABLE);
}

static void test_restarted(void **state)
{
	(void)state;
	struct window w = quiet(9000000);
	w.restarted = true;
	throttle(&w, 0, 100, 100, 5000000);
	struct verdict_input in = input(&w);
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_UNREADABLE);
	assert_non_null(strstr(v.words.sentence, "anew"));
	assert_true(isnan(v.throttled_share));
}

/* ---- throttled
 * -------------------------------------------------------------------------------------------------------- */

static void test_throttled(void **state)
{
	(void)state;
	struct window w = quiet(2500000);
	limit(&w, 0, 25000);
	throttle(&w, 0, 100, 80, 6000000);
	pressure(&w, PSI_CPU, 6100000);
	struct verdict_input in = input(&w);
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_THROTTLED);
	assert_near(v.throttled_share, 0.6, 1e-9);
	assert_near(find(&v, "throttled_share_of_active_periods")->value, 0.8, 1e-9);
	assert_true(find(&v, "throttled_share_of_active_periods")->holds);
	assert_near(find(&v, "stop_ms_per_throttled_period")->value, 75, 1e-9);
	assert_true(isnan(find(&v, "stop_ms_per_throttled_period")->threshold));
	assert_false(find(&v, "stop_ms_per_throttled_period")->holds);
	/* the pressure is explained by the stops */
	assert_true(v.contention_share < 0.02);
	assert_non_null(strstr(v.words.sentence, "0.25 CPUs"));
	assert_non_null(strstr(v.words.sentence, "80 of 100"));
}

/* Few active periods, most of them throttled, little CPU time: that is real pain. */
static void test_throttled_rarely_active(void **state)
{
	(void)state;
	struct window w = quiet(300000);
	limit(&w, 0, 25000);
	throttle(&w, 0, 12, 8, 480000);
	struct verdict_input in = input(&w);
	assert_int_equal(judge(&in).cause, CAUSE_THROTTLED);
}

/* One throttled period in a thousand, or a single one, explains nothing. */
static void test_throttled_too_little(void **state)
{
	(void)state;
	struct window w = quiet(5000000);
	limit(&w, 0, 100000);
	throttle(&w, 0, 100, 1, 3000);
	struct verdict_input in = input(&w);
	assert_int_equal(judge(&in).cause, CAUSE_OWN_CODE);
	throttle(&w, 0, 3, 1, 3000);
	assert_int_equal(judge(&in).cause, CAUSE_OWN_CODE);
	throttle(&w, 0, 100, 4, 12000);
	assert_int_equal(judge(&in).cause, CAUSE_OWN_CODE);
	throttle(&w, 0, 100, 5, 15000);
	assert_int_equal(judge(&in).cause, CAUSE_THROTTLED);
}

/* throttled_usec is summed over CPUs: it can be longer than the window, and the share of time stays a share. */
static void test_throttled_longer_than_the_clock(void **state)
{
	(void)state;
	struct window w = quiet(2500000);
	limit(&w, 0, 25000);
	throttle(&w, 0, 100, 100, 67000000);
	pressure(&w, PSI_CPU, 9900000);
	struct verdict_input in = input(&w);
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_THROTTLED);
	assert_near(v.throttled_share, 1, 0);
	assert_near(v.contention_share, 0, 0);
	assert_null(strstr(v.words.sentence, "% of the time"));
}

/* The limit was taken away at the end of the window: no figure to name, and still the cause. */
static void test_throttled_limit_gone(void **state)
{
	(void)state;
	struct window w = quiet(2500000);
	throttle(&w, 0, 100, 80, 6000000);
	struct verdict_input in = input(&w);
	assert_int_equal(judge(&in).cause, CAUSE_THROTTLED);
}

/* ---- from above
 * --------------------------------------------------------------------------------------------------------- */

static void test_throttled_above(void **state)
{
	(void)state;
	struct window w = quiet(3000000);
	w.n_levels = 3;
	throttle(&w, 0, 0, 0, 0);
	limit(&w, 2, 30000);
	throttle(&w, 2, 100, 99, 7000000);
	pressure(&w, PSI_CPU, 7000000);
	struct verdict_input in = input(&w);
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_THROTTLED_ABOVE);
	assert_near(v.throttled_share, 0.7, 1e-9);
	assert_true(v.contention_share < 0.01);
	assert_non_null(strstr(v.words.sentence, "0.3 CPUs"));
	/* its own quota comes first when both hold */
	limit(&w, 0, 30000);
	throttle(&w, 0, 100, 50, 3000000);
	v = judge(&in);
	assert_int_equal(v.cause, CAUSE_THROTTLED);
	assert_true(find(&v, "throttled_share_of_active_periods_above")->holds);
}

/* Hidden, but cpu.stat.local shows stops that its own quota does not explain. */
static void test_throttled_above_hidden(void **state)
{
	(void)state;
	struct window w = quiet(3000000);
	throttle(&w, 0, 0, 0, 0);
	w.have_local_throttled = true;
	w.local_throttled_usec = 7000000;
	pressure(&w, PSI_CPU, 7000000);
	struct verdict_input in = input(&w);
	in.ancestors_hidden = true;
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_THROTTLED_ABOVE);
	assert_non_null(strstr(v.words.sentence, "not visible"));
	/* what its own quota explains is no sign of another one */
	limit(&w, 0, 30000);
	throttle(&w, 0, 100, 99, 7000000);
	v = judge(&in);
	assert_int_equal(v.cause, CAUSE_THROTTLED);
	assert_false(find(&v, "stopped_from_above_share_of_time")->holds);
}

/* Hidden and no cpu.stat.local: pressure is all that is seen; the words must say what it could be. */
static void test_hidden_ancestors_without_local(void **state)
{
	(void)state;
	struct window w = quiet(3000000);
	pressure(&w, PSI_CPU, 7000000);
	struct verdict_input in = input(&w);
	in.ancestors_hidden = true;
	node(&in, 0.35, 2, 0);
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_CONTENTION);
	assert_non_null(strstr(v.words.disproof, "quota above"));
	assert_true(find(&v, "idle_share_of_node")->value > 0.8);
	in.ancestors_hidden = false;
	v = judge(&in);
	assert_null(strstr(v.words.disproof, "quota above"));
}

/* ---- contention
 * ----------------------------------------------------------------------------------------------------------- */

static void test_contention_threshold(void **state)
{
	(void)state;
	struct window w = quiet(5000000);
	struct verdict_input in = input(&w);
	pressure(&w, PSI_CPU, 999000);
	assert_int_equal(judge(&in).cause, CAUSE_OWN_CODE);
	pressure(&w, PSI_CPU, 1001000);
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_CONTENTION);
	assert_int_equal(v.words.by, CONTENTION_UNKNOWN); /* no figures of the node */
	assert_near(v.contention_share, 0.1001, 1e-9);
}

/* Pressure that is more than the stops explain. */
static void test_contention_beside_little_throttling(void **state)
{
	(void)state;
	struct window w = quiet(5000000);
	limit(&w, 0, 100000);
	throttle(&w, 0, 100, 2, 100000);
	pressure(&w, PSI_CPU, 3100000);
	struct verdict_input in = input(&w);
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_CONTENTION);
	assert_near(v.contention_share, 0.3, 1e-9);
	assert_near(v.throttled_share, 0.01, 1e-9);
}

/* Measured: 30 ms a period for a loop that others let run for 22: now and then the quota runs out at a period's end. */
static void test_throttling_beside_much_contention(void **state)
{
	(void)state;
	struct window w = quiet(1980000);
	w.duration_ns = 7870 * NSEC_PER_MSEC;
	limit(&w, 0, 30000);
	throttle(&w, 0, 79, 10, 33000);
	pressure(&w, PSI_CPU, 5796000);
	struct verdict_input in = input(&w);
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_CONTENTION);
	assert_true(find(&v, "throttled_share_of_active_periods")->holds);
	/* without PSI nothing says that it is a side issue */
	w.have_psi[PSI_CPU] = false;
	assert_int_equal(judge(&in).cause, CAUSE_THROTTLED);
	/* half and half: the quota first */
	pressure(&w, PSI_CPU, 5796000);
	throttle(&w, 0, 79, 60, 2800000);
	assert_int_equal(judge(&in).cause, CAUSE_THROTTLED);
	/* the same with a quota above */
	w.n_levels = 2;
	throttle(&w, 0, 0, 0, 0);
	limit(&w, 1, 30000);
	throttle(&w, 1, 79, 10, 33000);
	assert_int_equal(judge(&in).cause, CAUSE_CONTENTION);
	throttle(&w, 1, 79, 60, 2800000);
	assert_int_equal(judge(&in).cause, CAUSE_THROTTLED_ABOVE);
}

static void test_contention_by(void **state)
{
	(void)state;
	static const struct {
		const char *what;
		double own, busy, cpus, steal, nproc;
		enum contention_by wanted;
	} rows[] = {
		{"one thread among twelve others", 0.6, 2, 2, 0, 2, CONTENTION_NEIGHBOURS},
		{"eight threads of its own on a free node", 1.95, 2, 2, 0, 2, CONTENTION_OWN_THREADS},
		{"its own threads fill its two CPUs; the node's other sixty-two are busy with others", 1.98, 40, 64, 0,
		 2, CONTENTION_OWN_THREADS},
		{"half of its two CPUs, all of the node busy", 1.0, 64, 64, 0, 2, CONTENTION_NEIGHBOURS},
		{"two threads on two CPUs, others take two fifths", 1.2, 2, 2, 0, 2, CONTENTION_NEIGHBOURS},
		{"bursts of its own on a half idle node", 0.8, 1.0, 2, 0, 2, CONTENTION_OWN_THREADS},
		{"the hypervisor takes a third", 1.0, 1.2, 2, 0.66, 2, CONTENTION_HYPERVISOR},
		{"a little steal is none", 1.9, 1.95, 2, 0.05, 2, CONTENTION_OWN_THREADS},
		{"affinity not known", 0.6, 2, 2, 0, NAN, CONTENTION_NEIGHBOURS},
		{"affinity not known, own", 1.9, 2, 2, 0, NAN, CONTENTION_OWN_THREADS},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct window w = quiet((uint64_t)(rows[i].own * 10e6));
		pressure(&w, PSI_CPU, 5000000);
		struct verdict_input in = input(&w);
		in.nproc = rows[i].nproc;
		node(&in, rows[i].busy, rows[i].cpus, rows[i].steal);
		struct verdict v = judge(&in);
		assert_case(v.cause == CAUSE_CONTENTION, rows[i].what);
		assert_case(v.words.by == rows[i].wanted, rows[i].what);
	}
}

/* v1 without PSI: the run-queue wait alone, without what throttling explains. */
static void test_runqueue_without_psi(void **state)
{
	(void)state;
	struct window w = quiet(5000000);
	w.have_psi[PSI_CPU] = false;
	struct verdict_input in = input(&w);
	in.have_runqueue = true;
	in.run_ns = 5000000000;
	in.runqueue_wait_ns = 5000000000;
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_CONTENTION);
	assert_true(isnan(v.contention_share));
	assert_near(find(&v, "runqueue_wait_share_of_runnable_time")->value, 0.5, 1e-9);
	assert_null(find(&v, "pressure_not_explained_by_throttling"));
	in.runqueue_wait_ns = 1000000000; /* 1 / 6 */
	assert_int_equal(judge(&in).cause, CAUSE_OWN_CODE);
	/* five of the six seconds of waiting were stops */
	in.run_ns = 3000000000;
	in.runqueue_wait_ns = 6000000000;
	limit(&w, 0, 30000);
	throttle(&w, 0, 100, 1, 5000000);
	v = judge(&in);
	assert_near(find(&v, "runqueue_wait_share_of_runnable_time")->value, 1.0 / 9, 1e-9);
	assert_int_equal(v.cause, CAUSE_OWN_CODE);
}

static void test_no_witness_at_all(void **state)
{
	(void)state;
	struct window w = {.duration_ns = 10 * NSEC_PER_SEC, .n_levels = 1};
	struct verdict_input in = input(&w);
	in.nproc = NAN;
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_CANNOT_TELL);
	assert_true(isnan(v.throttled_share) && isnan(v.contention_share) && isnan(v.io_share));
	assert_int_equal(v.n_evidence, 0);
	/* a process that was seen but neither ran nor waited */
	in.have_runqueue = true;
	v = judge(&in);
	assert_int_equal(v.cause, CAUSE_CANNOT_TELL);
}

/* The container's own pressure is the better witness: where it is there, steal of the node alone is no contention. */
static void test_steal(void **state)
{
	(void)state;
	struct window w = quiet(5000000);
	struct verdict_input in = input(&w);
	node(&in, 1, 2, 0.5);
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_OWN_CODE);
	assert_true(find(&v, "steal_share_of_node")->holds);
	w.have_psi[PSI_CPU] = false;
	v = judge(&in);
	assert_int_equal(v.cause, CAUSE_CONTENTION);
	assert_int_equal(v.words.by, CONTENTION_HYPERVISOR);
}

/* ---- the rest
 * --------------------------------------------------------------------------------------------------------------- */

static void test_io(void **state)
{
	(void)state;
	struct window w = quiet(5000000);
	struct verdict_input in = input(&w);
	pressure(&w, PSI_IO, 490000);
	assert_int_equal(judge(&in).cause, CAUSE_OWN_CODE);
	pressure(&w, PSI_IO, 510000);
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_IO);
	assert_near(v.io_share, 0.051, 1e-9);
	/* contention goes before it */
	pressure(&w, PSI_CPU, 2000000);
	v = judge(&in);
	assert_int_equal(v.cause, CAUSE_CONTENTION);
	assert_true(find(&v, "io_pressure_share_of_time")->holds);
	assert_near(v.io_share, 0.051, 1e-9);
}

static void test_queue(void **state)
{
	(void)state;
	struct window w = quiet(5000000);
	struct verdict_input in = input(&w);
	in.have_queue = true;
	in.request_ns = 1000;
	in.queue_ns = 499;
	assert_int_equal(judge(&in).cause, CAUSE_OWN_CODE);
	in.queue_ns = 501;
	assert_int_equal(judge(&in).cause, CAUSE_QUEUE);
	in.request_ns = in.queue_ns = 0;
	assert_int_equal(judge(&in).cause, CAUSE_OWN_CODE);
}

static void test_cannot_tell(void **state)
{
	(void)state;
	struct window w = quiet(900000);
	struct verdict_input in = input(&w);
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_CANNOT_TELL);
	assert_null(strstr(v.words.next, "pod's limit"));
	in.ancestors_hidden = true;
	assert_non_null(strstr(judge(&in).words.next, "pod's limit"));
	set(&w.levels[0].delta, COUNTER_USAGE, 1100000);
	assert_int_equal(judge(&in).cause, CAUSE_OWN_CODE);
}

/* Every detector at once: the order decides, and all of them are in the evidence. */
static void test_order(void **state)
{
	(void)state;
	struct window w = quiet(5000000);
	w.n_levels = 2;
	w.have_local_throttled = true;
	w.local_throttled_usec = 9000000;
	limit(&w, 0, 30000);
	limit(&w, 1, 30000);
	throttle(&w, 0, 100, 50, 1000000);
	throttle(&w, 1, 100, 50, 1000000);
	pressure(&w, PSI_CPU, 9000000);
	pressure(&w, PSI_IO, 9000000);
	struct verdict_input in = input(&w);
	in.have_runqueue = in.have_queue = true;
	in.run_ns = in.runqueue_wait_ns = 5000000000;
	in.queue_ns = in.request_ns = 100;
	node(&in, 1.5, 2, 0.4);
	struct verdict v = judge(&in);
	assert_int_equal(v.cause, CAUSE_THROTTLED);
	size_t holds = 0;
	for (size_t i = 0; i < v.n_evidence; i++)
		holds += v.evidence[i].holds;
	assert_int_equal(holds, 2 + 3 + 3 + 1 + 1 + 1);
	/* taking away the first leaves the second, and so on */
	throttle(&w, 0, 100, 0, 0);
	assert_int_equal(judge(&in).cause, CAUSE_THROTTLED_ABOVE);
	throttle(&w, 1, 100, 0, 0);
	w.have_local_throttled = false;
	assert_int_equal(judge(&in).cause, CAUSE_CONTENTION);
	pressure(&w, PSI_CPU, 0);
	assert_int_equal(judge(&in).cause, CAUSE_IO);
	pressure(&w, PSI_IO, 0);
	assert_int_equal(judge(&in).cause, CAUSE_QUEUE);
	in.have_queue = false;
	assert_int_equal(judge(&in).cause, CAUSE_OWN_CODE);
	set(&w.levels[0].delta, COUNTER_USAGE, 0);
	assert_int_equal(judge(&in).cause, CAUSE_CANNOT_TELL);
}

/* Nothing is divided by a window of no length. */
static void test_empty_window(void **state)
{
	(void)state;
	struct window w = quiet(0);
	w.duration_ns = 0;
	throttle(&w, 0, 0, 0, 0);
	struct verdict_input in = input(&w);
	assert_int_equal(judge(&in).cause, CAUSE_CANNOT_TELL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ids),
		cmocka_unit_test(test_study_2),
		cmocka_unit_test(test_study_2_quotas),
		cmocka_unit_test(test_unreadable),
		cmocka_unit_test(test_restarted),
		cmocka_unit_test(test_throttled),
		cmocka_unit_test(test_throttled_rarely_active),
		cmocka_unit_test(test_throttled_too_little),
		cmocka_unit_test(test_throttled_longer_than_the_clock),
		cmocka_unit_test(test_throttled_limit_gone),
		cmocka_unit_test(test_throttled_above),
		cmocka_unit_test(test_throttled_above_hidden),
		cmocka_unit_test(test_hidden_ancestors_without_local),
		cmocka_unit_test(test_contention_threshold),
		cmocka_unit_test(test_contention_beside_little_throttling),
		cmocka_unit_test(test_throttling_beside_much_contention),
		cmocka_unit_test(test_contention_by),
		cmocka_unit_test(test_runqueue_without_psi),
		cmocka_unit_test(test_no_witness_at_all),
		cmocka_unit_test(test_steal),
		cmocka_unit_test(test_io),
		cmocka_unit_test(test_queue),
		cmocka_unit_test(test_cannot_tell),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_empty_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
