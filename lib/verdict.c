#include "verdict.h"

#include <inttypes.h>
#include <math.h>

const struct verdict_thresholds verdict_default_thresholds = {
	.throttled_share = 0.05,
	.throttled_periods = 2,
	.contention_share = 0.10,
	.runqueue_share = 0.20,
	.io_share = 0.05,
	.steal_share = 0.05,
	.queue_share = 0.50,
	.own_cores = 0.10,
};

const char *cause_id(enum cause c)
{
	static const char *const ids[CAUSES] = {
		"unreadable", "throttled", "throttled_above", "contention",
		"io_wait",    "queue",     "own_code",        "cannot_tell",
	};
	return ids[c];
}

const char *contention_by_id(enum contention_by b)
{
	static const char *const ids[] = {"unknown", "own_threads", "neighbours", "hypervisor"};
	return ids[b];
}

/* What the detectors share: the input, and the figures that are used more than once. */
struct bench {
	const struct verdict_input *in;
	const struct verdict_thresholds *t;
	const struct window *w;
	double seconds;
	struct verdict *out;         /* evidence and shares */
	struct verdict_words *words; /* of the detector at work */
};

/* Adds a line of evidence; a value that is not there (NaN) is left out and does not hold. */
static bool weigh(struct bench *b, const char *name, double value, double threshold)
{
	bool holds = !isnan(value) && value >= threshold;
	if (!isnan(value) && b->out->n_evidence < EVIDENCE_MAX)
		b->out->evidence[b->out->n_evidence++] =
			(struct evidence){.name = name, .value = value, .threshold = threshold, .holds = holds};
	return holds;
}

static void show(struct bench *b, const char *name, double value)
{
	weigh(b, name, value, NAN);
}

/* Both are upper bounds of what throttling can explain: throttled_usec is summed over CPUs, pressure is a union. */
static double stopped_share(const struct bench *b)
{
	double usec = 0;
	for (size_t i = 0; i < b->w->n_levels; i++)
		usec += (double)window_count(b->w, i, COUNTER_THROTTLED);
	return b->seconds > 0 ? usec / 1e6 / b->seconds : NAN;
}

static double unexplained_pressure(const struct bench *b)
{
	double some = window_psi_share(b->w, PSI_CPU);
	double stopped = stopped_share(b);
	return isnan(some) || isnan(stopped) ? NAN : fmax(0, some - stopped);
}

/* ---- throttled ---- */

/* Where others have the CPUs, the quota runs out now and then at a period's end, which is not what is waited for
 * (tried: 10 of 79 periods throttled, 33 ms of stop, 5,796 ms of pressure). Where the quota is the cause, the two are
 * about equal. */
static bool is_side_issue(const struct bench *b)
{
	double unexplained = unexplained_pressure(b);
	return unexplained >= b->t->contention_share && stopped_share(b) < unexplained / 4;
}

static bool level_is_throttled(struct bench *b, size_t level, const char *share_name, const char *count_name)
{
	const struct counters *d = &b->w->levels[level].delta;
	double throttled = counters_have(d, COUNTER_NR_THROTTLED) ? (double)d->value[COUNTER_NR_THROTTLED] : NAN;
	bool share = weigh(b, share_name, window_throttled_share(b->w, level), b->t->throttled_share);
	bool count = weigh(b, count_name, throttled, b->t->throttled_periods);
	return share && count && !is_side_issue(b);
}

static double stop_ms_per_period(const struct window *w, size_t level)
{
	uint64_t n = window_count(w, level, COUNTER_NR_THROTTLED);
	return n ? (double)window_count(w, level, COUNTER_THROTTLED) / 1e3 / (double)n : NAN;
}

static void describe_throttling(struct bench *b, size_t level, const char *whose)
{
	const struct window *w = b->w;
	char size[32] = " (not there any more)";
	if (w->levels[level].limited)
		snprintf(size, sizeof size, " of %.4g CPUs", cpu_quota_cpus(&w->levels[level].quota));
	snprintf(b->words->sentence, sizeof b->words->sentence,
		 "waits for %s quota%s: %" PRIu64 " of %" PRIu64
		 " active periods were throttled (%.1f a second), %.1f ms of "
		 "stop for each (summed over CPUs)",
		 whose, size, window_count(w, level, COUNTER_NR_THROTTLED), window_count(w, level, COUNTER_NR_PERIODS),
		 (double)window_count(w, level, COUNTER_NR_THROTTLED) / b->seconds, stop_ms_per_period(w, level));
	snprintf(
		b->words->disproof, sizeof b->words->disproof,
		"in a test, change only the limit: if the slow requests stay as slow while nr_throttled stops growing, it was not "
		"the quota");
}

static bool detect_throttled(struct bench *b)
{
	bool holds = level_is_throttled(b, 0, "throttled_share_of_active_periods", "throttled_periods");
	show(b, "stop_ms_per_throttled_period", stop_ms_per_period(b->w, 0));
	if (!holds)
		return false;
	describe_throttling(b, 0, "its own");
	snprintf(
		b->words->next, sizeof b->words->next,
		"raise the CPU limit, or let fewer threads run at once (GOMAXPROCS, -XX:ActiveProcessorCount, OMP_NUM_THREADS ... = "
		"%.0f), or spread the work: a burst spends the quota of a period early",
		b->w->levels[0].limited ? fmax(1, floor(cpu_quota_cpus(&b->w->levels[0].quota))) : 1);
	return true;
}

/* The ancestor with the largest share of throttled periods, 0 when none has any. */
static size_t most_throttled_ancestor(const struct window *w)
{
	size_t worst = 0;
	double share = 0;
	for (size_t i = 1; i < w->n_levels; i++) {
		double s = window_throttled_share(w, i);
		if (!isnan(s) && s > share) {
			share = s;
			worst = i;
		}
	}
	return worst;
}

/* cpu.stat.local counts stops by any level, so what its own quota does not explain comes from above, visible or not. */
static double stopped_from_above_share(const struct bench *b)
{
	if (!b->w->have_local_throttled || b->seconds <= 0)
		return NAN;
	uint64_t own = window_count(b->w, 0, COUNTER_THROTTLED);
	uint64_t local = b->w->local_throttled_usec;
	return local > own ? (double)(local - own) / 1e6 / b->seconds : 0;
}

static bool detect_throttled_above(struct bench *b)
{
	size_t level = most_throttled_ancestor(b->w);
	bool visible = level > 0 && level_is_throttled(b, level, "throttled_share_of_active_periods_above",
						       "throttled_periods_above");
	bool local = weigh(b, "stopped_from_above_share_of_time", stopped_from_above_share(b), b->t->contention_share);
	if (!visible && !local)
		return false;
	if (visible)
		describe_throttling(b, level, "the quota of a cgroup above it: a");
	else
		snprintf(
			b->words->sentence, sizeof b->words->sentence,
			"waits for the quota of a cgroup above it, which is not visible from here: stopped for %.0f%% of the time "
			"(cpu.stat.local), while its own quota does not explain it",
			stopped_from_above_share(b) * 100);
	snprintf(
		b->words->next, sizeof b->words->next,
		"look at the pod's or slice's limit (the sum of its containers shares it) and raise that one; the container's own limit "
		"is not what binds");
	if (!visible)
		snprintf(
			b->words->disproof, sizeof b->words->disproof,
			"read nr_throttled of the pod's cgroup (host view): if it does not grow, no quota above stopped it");
	return true;
}

/* ---- contention ---- */

/* Also without PSI (v1): of the time in which its threads wanted to run, the part they waited, without the stops. */
static double unexplained_runqueue_wait(const struct bench *b)
{
	const struct verdict_input *in = b->in;
	double stopped_ns = 0;
	if (!in->have_runqueue || in->run_ns + in->runqueue_wait_ns == 0)
		return NAN;
	for (size_t i = 0; i < b->w->n_levels; i++)
		stopped_ns += (double)window_count(b->w, i, COUNTER_THROTTLED) * 1e3;
	double wait_ns = fmax(0, (double)in->runqueue_wait_ns - stopped_ns);
	return wait_ns / ((double)in->run_ns + (double)in->runqueue_wait_ns);
}

static double steal_share(const struct verdict_input *in)
{
	return in->have_ticks && in->ticks.total ? (double)in->ticks.steal / (double)in->ticks.total : NAN;
}

static double idle_share(const struct verdict_input *in)
{
	return in->have_ticks && in->ticks.total ? (double)(in->ticks.idle + in->ticks.iowait) / (double)in->ticks.total
						 : NAN;
}

/* The node's busy CPUs that are not ours, in CPUs. */
static double other_cores(const struct bench *b)
{
	double own = window_cores(b->w);
	const struct cpu_ticks *t = &b->in->ticks;
	if (!b->in->have_ticks || isnan(own) || b->seconds <= 0)
		return NAN;
	double busy = (double)(t->total - t->idle - t->iowait - t->steal) / 100 / b->seconds;
	return fmax(0, busy - own);
}

/* Its threads keep (nearly) every CPU that it may run on busy: whatever the rest of the node does. */
static bool fills_its_cpus(const struct bench *b, double own)
{
	return b->in->nproc > 0 && own >= 0.9 * b->in->nproc;
}

static enum contention_by who(const struct bench *b)
{
	double own = window_cores(b->w);
	double others = other_cores(b);
	double steal = steal_share(b->in);
	if (!isnan(steal) && steal >= b->t->steal_share)
		return CONTENTION_HYPERVISOR;
	if (fills_its_cpus(b, own))
		return CONTENTION_OWN_THREADS;
	if (isnan(others))
		return CONTENTION_UNKNOWN;
	/* On a full node whatever the others use is missing here, also less than it uses itself. Where CPUs are idle,
	 * its threads come all at once or may not run there, and only much work of others is more likely. */
	double enough = idle_share(b->in) < 0.25 ? own / 4 : own;
	return others > enough ? CONTENTION_NEIGHBOURS : CONTENTION_OWN_THREADS;
}

static void describe_contention(struct bench *b, double pressure, double wait)
{
	static const char *const sentences[] = {
		[CONTENTION_UNKNOWN] = "other work on the CPUs",
		[CONTENTION_OWN_THREADS] = "CPUs that its own threads keep busy",
		[CONTENTION_NEIGHBOURS] = "CPUs that its neighbours on this node keep busy",
		[CONTENTION_HYPERVISOR] = "CPUs that the hypervisor gives to others (steal)",
	};
	static const char *const next[] = {
		[CONTENTION_UNKNOWN] = "compare with the node's CPU use: is it full, and by whom?",
		[CONTENTION_OWN_THREADS] =
			"start fewer threads, or give it more CPUs: more threads than CPUs only wait for each other",
		[CONTENTION_NEIGHBOURS] =
			"raise its CPU request (its weight against the neighbours), or move it or them to another node",
		[CONTENTION_HYPERVISOR] = "choose an instance type without shared or burstable CPUs, or move the node",
	};
	b->words->by = who(b);
	int n = snprintf(b->words->sentence, sizeof b->words->sentence,
			 "waits for %s, without being throttled:", sentences[b->words->by]);
	if (!isnan(pressure))
		n += snprintf(b->words->sentence + n, sizeof b->words->sentence - (size_t)n,
			      " for %.0f%% of the time some task waited", pressure * 100);
	if (!isnan(wait))
		snprintf(b->words->sentence + n, sizeof b->words->sentence - (size_t)n,
			 "%s run-queue wait is %.0f%% of its threads' runnable time", isnan(pressure) ? "" : ";",
			 wait * 100);
	snprintf(b->words->next, sizeof b->words->next, "%s", next[b->words->by]);
	snprintf(
		b->words->disproof, sizeof b->words->disproof, "%s",
		b->in->ancestors_hidden
			? "ancestors are hidden from here: a quota above looks the same if the node's CPUs are idle meanwhile"
			: "if the node's CPUs are idle while it waits, it is not contention");
}

static bool detect_contention(struct bench *b)
{
	double pressure = unexplained_pressure(b);
	double wait = unexplained_runqueue_wait(b);
	double steal = steal_share(b->in);
	bool by_pressure = weigh(b, "pressure_not_explained_by_throttling", pressure, b->t->contention_share);
	bool by_wait = weigh(b, "runqueue_wait_share_of_runnable_time", wait, b->t->runqueue_share);
	bool by_steal = weigh(b, "steal_share_of_node", steal, b->t->steal_share);
	show(b, "idle_share_of_node", idle_share(b->in));
	b->out->contention_share = pressure;
	/* the container's own pressure is the better witness where it is there */
	if (isnan(pressure) ? !by_wait && !by_steal : !by_pressure)
		return false;
	describe_contention(b, pressure, wait);
	return true;
}

/* ---- the rest ---- */

static bool detect_io(struct bench *b)
{
	double share = window_psi_share(b->w, PSI_IO);
	b->out->io_share = share;
	if (!weigh(b, "io_pressure_share_of_time", share, b->t->io_share))
		return false;
	snprintf(
		b->words->sentence, sizeof b->words->sentence,
		"waits for block I/O: for %.0f%% of the time some task of the container waited for a disk, while the CPU figures are quiet",
		share * 100);
	snprintf(
		b->words->next, sizeof b->words->next,
		"find what writes or reads in this container (logs, fsync, swap), and look at the device's utilisation on the node");
	snprintf(
		b->words->disproof, sizeof b->words->disproof,
		"io.pressure counts every task of the container: if the slow requests never touch the disk, it is a bystander");
	return true;
}

static bool detect_queue(struct bench *b)
{
	double share =
		b->in->have_queue && b->in->request_ns ? (double)b->in->queue_ns / (double)b->in->request_ns : NAN;
	if (!weigh(b, "queue_share_of_request_time", share, b->t->queue_share))
		return false;
	snprintf(
		b->words->sentence, sizeof b->words->sentence,
		"waits in the server's own queue: %.0f%% of the requests' time passes before a worker takes them, while CPU and disk are free",
		share * 100);
	snprintf(
		b->words->next, sizeof b->words->next,
		"add workers up to (CPU time + wait time) / CPU time x effective CPUs, or look at the pool that the workers wait for");
	snprintf(b->words->disproof, sizeof b->words->disproof,
		 "if the queue time stays with twice the workers, something behind them is full");
	return true;
}

static bool detect_own_code(struct bench *b)
{
	double cores = window_cores(b->w);
	if (!weigh(b, "cpus_used", cores, b->t->own_cores))
		return false;
	snprintf(b->words->sentence, sizeof b->words->sentence,
		 "its own code: it used %.2f CPUs and nothing held it up (no throttling, no pressure)", cores);
	snprintf(b->words->next, sizeof b->words->next,
		 "profile it (perf, async-profiler, pprof): the time is spent in the program itself");
	snprintf(
		b->words->disproof, sizeof b->words->disproof,
		"if a profile shows its threads asleep in system calls during slow requests, they wait for something outside: network, locks, "
		"another service");
	return true;
}

static void cannot_tell(struct bench *b)
{
	double cores = window_cores(b->w);
	if (isnan(cores))
		snprintf(b->words->sentence, sizeof b->words->sentence,
			 "cannot tell: its CPU use is not known, and no figure that is there shows a cause");
	else
		snprintf(
			b->words->sentence, sizeof b->words->sentence,
			"cannot tell: it used %.2f CPUs, was not throttled and waited for neither CPU nor disk: it idles, or waits for something that "
			"the kernel does not count (network, locks, another service)",
			cores);
	snprintf(b->words->next, sizeof b->words->next,
		 "look while it is slow, with requests running; then trace where its threads sleep%s",
		 b->in->ancestors_hidden ? "; ancestors are hidden from here, so look at the pod's limit as well" : "");
	snprintf(b->words->disproof, sizeof b->words->disproof,
		 "a longer window that contains the slow requests may show a cause");
}

static void unreadable(const struct verdict_input *in, struct verdict *out)
{
	out->cause = CAUSE_UNREADABLE;
	snprintf(out->words.sentence, sizeof out->words.sentence, "unreadable: %s",
		 in->unreadable ? in->unreadable
				: "the cgroup was made anew during the window, its counters began again");
	snprintf(
		out->words.next, sizeof out->words.next, "%s",
		in->unreadable
			? "make the container's cgroup readable first (see the sentence above), or check that it is the right one"
			: "wait for a whole window of the new cgroup");
	snprintf(out->words.disproof, sizeof out->words.disproof, "nothing is concluded");
}

/* In the order of the decision. */
static const struct {
	enum cause cause;
	bool (*detect)(struct bench *b);
} detectors[] = {
	{CAUSE_THROTTLED, detect_throttled},   {CAUSE_THROTTLED_ABOVE, detect_throttled_above},
	{CAUSE_CONTENTION, detect_contention}, {CAUSE_IO, detect_io},
	{CAUSE_QUEUE, detect_queue},           {CAUSE_OWN_CODE, detect_own_code},
};

static double throttled_share_of_time(const struct bench *b)
{
	double usec = 0;
	bool any = false;
	for (size_t i = 0; i < b->w->n_levels; i++) {
		any |= counters_have(&b->w->levels[i].delta, COUNTER_THROTTLED);
		usec += (double)window_count(b->w, i, COUNTER_THROTTLED);
	}
	return any && b->seconds > 0 ? fmin(1, usec / 1e6 / b->seconds) : NAN;
}

void verdict_judge(const struct verdict_input *in, const struct verdict_thresholds *t, struct verdict *out)
{
	*out = (struct verdict){.throttled_share = NAN, .contention_share = NAN, .io_share = NAN};
	if (!in->window || in->window->restarted || in->unreadable) {
		unreadable(in, out);
		return;
	}
	struct verdict_words words = {0};
	struct bench b = {
		.in = in,
		.t = t,
		.w = in->window,
		.seconds = (double)in->window->duration_ns / 1e9,
		.out = out,
		.words = &words,
	};
	out->cause = CAUSE_CANNOT_TELL;
	out->throttled_share = throttled_share_of_time(&b);
	/* every detector gives its evidence; the first that holds gives the words */
	for (size_t i = 0; i < ARRAY_LEN(detectors); i++) {
		bool holds = detectors[i].detect(&b);
		if (!holds || out->cause != CAUSE_CANNOT_TELL)
			continue;
		out->cause = detectors[i].cause;
		out->words = words;
	}
	if (out->cause == CAUSE_CANNOT_TELL) {
		b.words = &out->words;
		cannot_tell(&b);
	}
}
