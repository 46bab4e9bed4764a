#include "runtimes.h"

#include <math.h>
#include <string.h>

/* Below it a part that stays unused is not worth a warning. */
#define UNUSED_WORTH_A_WARNING 0.1

enum { WEIGHT_DEFAULT = 100 };

#define LIBUV_ADVICE                                                                                                   \
	"give the number of workers yourself (UV_THREADPOOL_SIZE=# only sizes its pool of 4 threads, which no limit changes)"
#define NO_SETTING_ADVICE "give the size of its pools yourself: #"

/* Columns: id, name, formula; what it counts, how it rounds, where it looks, reads v1, resize; setting, advice. */
static const struct runtime table[] = {
	{"go_1_25", "Go 1.25 or newer", "min(A, max(2, ceil q))", RUNTIME_COUNTS_AFFINITY, RUNTIME_ROUNDS_UP_LEAST_2,
	 RUNTIME_LOOKS_AT_LEAF, true, RUNTIME_RESIZE_LIVE, "GOMAXPROCS=#", NULL},
	{"go_before_1_25", "Go before 1.25", "A", RUNTIME_COUNTS_AFFINITY, RUNTIME_IGNORES_QUOTA, RUNTIME_LOOKS_NOWHERE,
	 false, RUNTIME_RESIZE_NEVER, "GOMAXPROCS=#", NULL},
	{"automaxprocs", "automaxprocs 1.6 (Go)", "max(1, floor q)", RUNTIME_COUNTS_AFFINITY,
	 RUNTIME_ROUNDS_DOWN_UNBOUNDED, RUNTIME_LOOKS_AT_LEAF, true, RUNTIME_RESIZE_NEVER, "GOMAXPROCS=#", NULL},
	{"jvm", "JVM (HotSpot)", "min(A, ceil q)", RUNTIME_COUNTS_AFFINITY, RUNTIME_ROUNDS_UP, RUNTIME_WALKS, true,
	 RUNTIME_RESIZE_VALUE_ONLY, "-XX:ActiveProcessorCount=#", NULL},
	{"dotnet", ".NET", "min(A, ceil q)", RUNTIME_COUNTS_AFFINITY, RUNTIME_ROUNDS_UP, RUNTIME_LOOKS_AT_LEAF, true,
	 RUNTIME_RESIZE_NEVER, "DOTNET_PROCESSOR_COUNT=#", NULL},
	/* 1.51 and 1.52 take the quota of the topmost level that has one, not the least one. In a container with a
	 * cgroup namespace there is one level to see, so the difference does not show there. */
	{"node_libuv_1_52", "Node.js with libuv 1.52 or newer", "min(A, max(1, floor q))", RUNTIME_COUNTS_AFFINITY,
	 RUNTIME_ROUNDS_DOWN, RUNTIME_WALKS, false, RUNTIME_RESIZE_EACH_CALL, "UV_THREADPOOL_SIZE=#", LIBUV_ADVICE},
	{"node_libuv_1_51", "Node.js with libuv 1.51", "q < 1: A; else min(A, floor q)", RUNTIME_COUNTS_AFFINITY,
	 RUNTIME_ROUNDS_DOWN_FROM_1, RUNTIME_WALKS, false, RUNTIME_RESIZE_EACH_CALL, "UV_THREADPOOL_SIZE=#",
	 LIBUV_ADVICE},
	{"node_libuv_1_49", "Node.js with libuv 1.49 or 1.50", "min(A, max(1, floor(q x cpu.weight / 100)))",
	 RUNTIME_COUNTS_AFFINITY, RUNTIME_ROUNDS_DOWN_WITH_WEIGHT, RUNTIME_LOOKS_AT_LEAF, false,
	 RUNTIME_RESIZE_EACH_CALL, "UV_THREADPOOL_SIZE=#", LIBUV_ADVICE},
	{"node_libuv_before_1_49", "Node.js with libuv before 1.49", "A", RUNTIME_COUNTS_AFFINITY,
	 RUNTIME_IGNORES_QUOTA, RUNTIME_LOOKS_NOWHERE, false, RUNTIME_RESIZE_EACH_CALL, "UV_THREADPOOL_SIZE=#",
	 LIBUV_ADVICE},
	{"rust_std", "Rust's available_parallelism()", "min(A, max(1, floor q))", RUNTIME_COUNTS_AFFINITY,
	 RUNTIME_ROUNDS_DOWN, RUNTIME_WALKS, true, RUNTIME_RESIZE_EACH_CALL,
	 "TOKIO_WORKER_THREADS=# RAYON_NUM_THREADS=#",
	 "set TOKIO_WORKER_THREADS=# or RAYON_NUM_THREADS=#, or give the size of other pools in the program"},
	{"num_cpus", "Rust's num_cpus", "min(A, ceil q)", RUNTIME_COUNTS_AFFINITY, RUNTIME_ROUNDS_UP,
	 RUNTIME_LOOKS_AT_LEAF, true, RUNTIME_RESIZE_NEVER, NULL, NO_SETTING_ADVICE},
	{"python_os_cpu_count", "Python's os.cpu_count()", "online", RUNTIME_COUNTS_ONLINE, RUNTIME_IGNORES_QUOTA,
	 RUNTIME_LOOKS_NOWHERE, false, RUNTIME_RESIZE_NEVER, "PYTHON_CPU_COUNT=#",
	 "set PYTHON_CPU_COUNT=# (Python 3.13 or newer) or give the number of workers yourself"},
	{"python_process_cpu_count", "Python's os.process_cpu_count()", "A", RUNTIME_COUNTS_AFFINITY,
	 RUNTIME_IGNORES_QUOTA, RUNTIME_LOOKS_NOWHERE, false, RUNTIME_RESIZE_NEVER, "PYTHON_CPU_COUNT=#", NULL},
	{"joblib_loky", "joblib (loky)", "min(A, ceil q)", RUNTIME_COUNTS_AFFINITY, RUNTIME_ROUNDS_UP,
	 RUNTIME_LOOKS_AT_LEAF, true, RUNTIME_RESIZE_EACH_CALL, "LOKY_MAX_CPU_COUNT=#", NULL},
	{"concurrent_ruby", "concurrent-ruby", "min(online, q), not rounded", RUNTIME_COUNTS_ONLINE,
	 RUNTIME_KEEPS_FRACTION, RUNTIME_LOOKS_AT_LEAF, true, RUNTIME_RESIZE_NEVER, NULL, NO_SETTING_ADVICE},
	{"nproc_9_8", "GNU nproc 9.8 or newer", "min(A, max(1, floor(q + 1/2)))", RUNTIME_COUNTS_AFFINITY,
	 RUNTIME_ROUNDS_HALF_UP, RUNTIME_WALKS, false, RUNTIME_RESIZE_EACH_RUN, "OMP_NUM_THREADS=#", NULL},
	{"nproc_before_9_8", "GNU nproc before 9.8 or busybox", "A", RUNTIME_COUNTS_AFFINITY, RUNTIME_IGNORES_QUOTA,
	 RUNTIME_LOOKS_NOWHERE, false, RUNTIME_RESIZE_EACH_RUN, "OMP_NUM_THREADS=#",
	 "set OMP_NUM_THREADS=# (GNU; busybox has no setting)"},
	{"openmp", "OpenMP or OpenBLAS", "A", RUNTIME_COUNTS_AFFINITY, RUNTIME_IGNORES_QUOTA, RUNTIME_LOOKS_NOWHERE,
	 false, RUNTIME_RESIZE_NEVER, "OMP_NUM_THREADS=# OPENBLAS_NUM_THREADS=#", NULL},
	{"nginx", "nginx with worker_processes auto", "online", RUNTIME_COUNTS_ONLINE, RUNTIME_IGNORES_QUOTA,
	 RUNTIME_LOOKS_NOWHERE, false, RUNTIME_RESIZE_NEVER, "worker_processes #;", "set worker_processes #"},
	{"lxcfs", "lxcfs --enable-cfs", "min(online, cpuset, ceil q)", RUNTIME_COUNTS_CPUSET, RUNTIME_ROUNDS_UP,
	 RUNTIME_WALKS, true, RUNTIME_RESIZE_LIVE, NULL, NO_SETTING_ADVICE},
};

size_t runtimes_count(void)
{
	return ARRAY_LEN(table);
}

const struct runtime *runtimes_at(size_t i)
{
	return &table[i];
}

const struct runtime *runtimes_find(const char *id)
{
	for (size_t i = 0; i < ARRAY_LEN(table); i++)
		if (strcmp(table[i].id, id) == 0)
			return &table[i];
	return NULL;
}

const char *runtime_resize_name(enum runtime_resize r)
{
	static const char *const names[] = {"never", "value only", "each call", "each run", "live"};
	return (size_t)r < ARRAY_LEN(names) ? names[r] : "unknown";
}

const char *runtime_fit_name(enum runtime_fit f)
{
	static const char *const names[] = {"unknown", "fits", "too_many", "too_few", "blind_to_ancestor", "no_limit"};
	return (size_t)f < ARRAY_LEN(names) ? names[f] : "unknown";
}

static const struct cpu_quota no_quota = {.quota_usec = QUOTA_NONE, .period_usec = CPU_PERIOD_DEFAULT_USEC};

static bool is_limit(const struct cpu_quota *q)
{
	return q->quota_usec != QUOTA_NONE;
}

bool runtime_view_make(struct runtime_view *out, const struct snapshot *s, const struct cpu_counts *counts,
		       enum hierarchy cpu_controller)
{
	struct limit limit = limit_of(s);
	if (limit.status == LIMIT_UNKNOWN || !counts->have_nproc || counts->nproc == 0)
		return false;
	*out = (struct runtime_view){
		.affinity = counts->nproc,
		.online = counts->have_online ? counts->online : 0,
		.cpuset = counts->have_cpuset ? counts->cpuset : 0,
		.hierarchy = cpu_controller,
		.own = s->levels[0].state == QUOTA_READ ? s->levels[0].quota : no_quota,
		.binding = limit.status == LIMIT_SET ? limit.quota : no_quota,
	};
	/* v1: the kernel's mask can be wider than the cpuset for a moment after a change; the cpuset holds */
	if (out->cpuset > 0 && out->cpuset < out->affinity)
		out->affinity = out->cpuset;
	out->visible = out->binding;
	return true;
}

/* What the runtime counts when it sees no quota; 0 = not known. */
static unsigned counted(const struct runtime *r, const struct runtime_view *v)
{
	unsigned cpuset = v->cpuset > 0 ? v->cpuset : v->affinity;
	switch (r->counts) {
	case RUNTIME_COUNTS_ONLINE:
		return v->online;
	case RUNTIME_COUNTS_CPUSET:
		return v->online > 0 && v->online < cpuset ? v->online : cpuset;
	case RUNTIME_COUNTS_AFFINITY:
		break;
	}
	return v->affinity;
}

/* It reads no quota on any level: not at all, or not of this version of cgroups. */
static bool reads_none(const struct runtime *r, const struct runtime_view *v)
{
	return r->levels == RUNTIME_LOOKS_NOWHERE || (v->hierarchy == HIERARCHY_V1 && !r->reads_v1);
}

/* The quota that the runtime gets to see. */
static struct cpu_quota seen_quota(const struct runtime *r, const struct runtime_view *v)
{
	if (reads_none(r, v))
		return no_quota;
	return r->levels == RUNTIME_LOOKS_AT_LEAF ? v->own : v->visible;
}

/* The number of CPUs made from a quota of q CPUs, before it is bounded; infinity = the quota is ignored. */
static double rounded(const struct runtime *r, double q, unsigned weight)
{
	double w = weight > 0 ? weight : WEIGHT_DEFAULT;
	switch (r->rounding) {
	case RUNTIME_ROUNDS_UP:
		return ceil(q);
	case RUNTIME_ROUNDS_UP_LEAST_2:
		return fmax(2, ceil(q));
	case RUNTIME_ROUNDS_DOWN:
	case RUNTIME_ROUNDS_DOWN_UNBOUNDED:
		return fmax(1, floor(q));
	case RUNTIME_ROUNDS_DOWN_FROM_1:
		return q < 1 ? INFINITY : floor(q);
	case RUNTIME_ROUNDS_DOWN_WITH_WEIGHT:
		return fmax(1, floor(q * w / WEIGHT_DEFAULT));
	case RUNTIME_ROUNDS_HALF_UP:
		return fmax(1, floor(q + 0.5));
	case RUNTIME_KEEPS_FRACTION:
		return q;
	case RUNTIME_IGNORES_QUOTA:
		break;
	}
	return INFINITY;
}

static double cpus_for_quota(const struct runtime *r, const struct runtime_view *v, const struct cpu_quota *seen)
{
	unsigned base = counted(r, v);
	if (base == 0)
		return NAN;
	if (!is_limit(seen))
		return base;
	double cpus = rounded(r, cpu_quota_cpus(seen), v->weight);
	return r->rounding == RUNTIME_ROUNDS_DOWN_UNBOUNDED ? cpus : fmin(base, cpus);
}

double runtime_cpus(const struct runtime *r, const struct runtime_view *v)
{
	struct cpu_quota seen = seen_quota(r, v);
	return cpus_for_quota(r, v, &seen);
}

/* ---- judging ---- */

/* The most CPUs that are not too many. */
static double most_that_fit(const struct runtime *r, double allowed)
{
	return fmax(r->rounding == RUNTIME_ROUNDS_UP_LEAST_2 ? 2 : 1, ceil(allowed));
}

/* Would it be right if it saw the limit that binds? Runtimes that read no quota here are blind in another way. */
static bool blind_to_ancestor(const struct runtime *r, const struct runtime_view *v, double allowed)
{
	struct cpu_quota seen = seen_quota(r, v);
	return !reads_none(r, v) && cpu_quota_is_below(&v->binding, &seen) &&
	       cpus_for_quota(r, v, &v->binding) <= most_that_fit(r, allowed);
}

static enum runtime_fit fit_of(const struct runtime *r, const struct runtime_view *v, double assumed, double allowed)
{
	if (isnan(assumed) || isnan(allowed))
		return RUNTIME_UNKNOWN;
	if (assumed > most_that_fit(r, allowed))
		return blind_to_ancestor(r, v, allowed) ? RUNTIME_BLIND_TO_ANCESTOR : RUNTIME_TOO_MANY;
	if (!is_limit(&v->binding) && v->affinity >= v->online)
		return RUNTIME_NO_LIMIT;
	if (allowed - assumed > allowed * UNUSED_WORTH_A_WARNING)
		return RUNTIME_TOO_FEW;
	return RUNTIME_FITS;
}

/* min(A, binding quota) */
static double allowed_cpus(const struct runtime_view *v)
{
	if (v->affinity == 0)
		return NAN;
	return is_limit(&v->binding) ? fmin(v->affinity, cpu_quota_cpus(&v->binding)) : v->affinity;
}

/* ---- words ---- */

enum { NUMBER_SIZE = 32, CURE_SIZE = 192 };

/* "1 CPU", "0.25 CPUs", "12 CPUs" */
static void put_cpus(double cpus, char out[NUMBER_SIZE])
{
	snprintf(out, NUMBER_SIZE, "%.*g CPU%s", cpus < 1000 ? 4 : 8, cpus, cpus == 1 ? "" : "s");
}

/* Copies a template with every '#' replaced; cut if it is too long. */
static void put_template(const char *template, double number, char *out, size_t size)
{
	size_t at = 0;
	char digits[NUMBER_SIZE];
	snprintf(digits, sizeof digits, "%.0f", number);
	out[0] = '\0';
	for (const char *p = template; *p && at + 1 < size; p++) {
		char one[2] = {*p, '\0'};
		int n = snprintf(out + at, size - at, "%s", *p == '#' ? digits : one);
		at += n > 0 ? (size_t)n : 0;
	}
}

static void put_cure(const struct runtime *r, double number, char out[CURE_SIZE])
{
	if (r->advice) {
		put_template(r->advice, number, out, CURE_SIZE);
		return;
	}
	snprintf(out, CURE_SIZE, "set ");
	put_template(r->setting, number, out + strlen(out), CURE_SIZE - strlen(out));
}

/* Why a runtime sees no quota although there is one. */
static const char *why_unseen(const struct runtime *r, const struct runtime_view *v)
{
	if (r->levels == RUNTIME_LOOKS_NOWHERE)
		return "it does not look at the quota";
	return reads_none(r, v) ? "it does not read the quota of cgroup v1"
				: "the quota is on a cgroup that it does not see";
}

/* Why a number is too high: the first that holds. */
static const char *why_too_many(const struct runtime *r, const struct runtime_view *v)
{
	struct cpu_quota seen = seen_quota(r, v);
	bool quota_binds = is_limit(&v->binding) && cpu_quota_cpus(&v->binding) < v->affinity;
	if (quota_binds && !is_limit(&seen))
		return why_unseen(r, v);
	if (quota_binds && r->rounding == RUNTIME_ROUNDS_DOWN_FROM_1)
		return "it ignores a quota below 1";
	if (quota_binds && r->rounding == RUNTIME_ROUNDS_DOWN_WITH_WEIGHT)
		return "it multiplies the quota by cpu.weight";
	if (r->rounding == RUNTIME_ROUNDS_DOWN_UNBOUNDED && is_limit(&seen))
		return "it looks at the quota only, not at the CPUs it may run on";
	return "it counts the CPUs of the node, not those it may run on";
}

static const char *why_too_few(const struct runtime *r, const struct runtime_view *v)
{
	if (r->rounding == RUNTIME_ROUNDS_DOWN_WITH_WEIGHT && v->weight > 0 && v->weight < WEIGHT_DEFAULT)
		return "it multiplies the quota by cpu.weight / 100";
	return "it rounds down";
}

/* What more threads than the limit come to: throttling where the quota binds, else waiting for a CPU. */
static void put_cost(const struct runtime_view *v, double assumed, char *out, size_t size)
{
	const struct cpu_quota *q = &v->binding;
	double running = fmin(assumed, v->affinity);
	if (!is_limit(q) || cpu_quota_cpus(q) >= running) {
		snprintf(out, size, "they wait for one another");
		return;
	}
	snprintf(out, size, "%.6g busy threads use up the %.4g ms of every %.4g ms in %.3g ms, then all stand still",
		 running, (double)q->quota_usec / 1000, (double)q->period_usec / 1000,
		 (double)q->quota_usec / 1000 / running);
}

struct words {
	char assumed[NUMBER_SIZE], allowed[NUMBER_SIZE];
	char cure[CURE_SIZE], cost[128];
};

static void say_fits(const struct runtime *r, const struct runtime_view *v, const struct words *w,
		     struct runtime_judgement *j)
{
	if (j->assumed > ceil(j->allowed))
		snprintf(j->sentence, sizeof j->sentence,
			 "%s takes %s for the %s allowed, its least by design: %s; %s to change that.", r->name,
			 w->assumed, w->allowed, w->cost, w->cure);
	else if (j->assumed > j->allowed)
		snprintf(j->sentence, sizeof j->sentence,
			 "%s takes %s, the smallest whole number that can use the %s allowed.", r->name, w->assumed,
			 w->allowed);
	else
		snprintf(j->sentence, sizeof j->sentence, "%s takes %s of the %s allowed%s.", r->name, w->assumed,
			 w->allowed,
			 is_limit(&v->binding) && cpu_quota_cpus(&v->binding) > v->affinity
				 ? " (the quota is above the CPUs it may run on)"
				 : "");
}

static void say_too_many(const struct runtime *r, const struct runtime_view *v, const struct words *w,
			 struct runtime_judgement *j)
{
	snprintf(j->sentence, sizeof j->sentence, "%s takes %s where %s %s allowed, because %s: %s; %s.", r->name,
		 w->assumed, w->allowed, j->allowed == 1 ? "is" : "are", why_too_many(r, v), w->cost, w->cure);
}

static void say_too_few(const struct runtime *r, const struct runtime_view *v, const struct words *w,
			struct runtime_judgement *j)
{
	snprintf(j->sentence, sizeof j->sentence, "%s takes %s of the %s allowed, because %s: %.4g stays unused; %s.",
		 r->name, w->assumed, w->allowed, why_too_few(r, v), j->unused, w->cure);
}

static void say_blind(const struct runtime *r, const struct runtime_view *v, const struct words *w,
		      struct runtime_judgement *j)
{
	char own[NUMBER_SIZE] = "no limit";
	struct cpu_quota seen = seen_quota(r, v);
	if (is_limit(&seen))
		put_cpus(cpu_quota_cpus(&seen), own);
	snprintf(j->sentence, sizeof j->sentence,
		 "%s takes %s, because %s has %s and it sees no further, but a cgroup above allows %s: %s; %s.",
		 r->name, w->assumed,
		 r->levels == RUNTIME_LOOKS_AT_LEAF ? "its own cgroup" : "what it sees of the cgroups", own, w->allowed,
		 w->cost, w->cure);
}

static void say_no_limit(const struct runtime *r, const struct runtime_view *v, const struct words *w,
			 struct runtime_judgement *j)
{
	(void)v;
	snprintf(j->sentence, sizeof j->sentence,
		 "No CPU limit is visible: %s takes all %s of the node, and its pools grow with the node it is put on.",
		 r->name, w->assumed);
}

static void say_unknown(const struct runtime *r, const struct runtime_view *v, const struct words *w,
			struct runtime_judgement *j)
{
	(void)w;
	snprintf(j->sentence, sizeof j->sentence, "What %s takes cannot be told: the number of CPUs %s is not known.",
		 r->name, v->affinity == 0 ? "it may run on" : "of the node");
}

void runtime_judge(const struct runtime *r, const struct runtime_view *v, struct runtime_judgement *out)
{
	static void (*const say[])(const struct runtime *, const struct runtime_view *, const struct words *,
				   struct runtime_judgement *) = {
		[RUNTIME_UNKNOWN] = say_unknown,         [RUNTIME_FITS] = say_fits,
		[RUNTIME_TOO_MANY] = say_too_many,       [RUNTIME_TOO_FEW] = say_too_few,
		[RUNTIME_BLIND_TO_ANCESTOR] = say_blind, [RUNTIME_NO_LIMIT] = say_no_limit,
	};
	struct words w = {0};
	struct runtime_judgement j = {.assumed = runtime_cpus(r, v), .allowed = allowed_cpus(v)};
	j.fit = fit_of(r, v, j.assumed, j.allowed);
	if (j.fit != RUNTIME_UNKNOWN) {
		j.unused = fmax(0, j.allowed - j.assumed);
		put_cpus(j.assumed, w.assumed);
		put_cpus(j.allowed, w.allowed);
		put_cure(r, ceil(j.allowed), w.cure);
		put_cost(v, j.assumed, w.cost, sizeof w.cost);
		if (r->setting && j.fit != RUNTIME_NO_LIMIT)
			put_template(r->setting, ceil(j.allowed), j.setting, sizeof j.setting);
	}
	say[j.fit](r, v, &w, &j);
	*out = j;
}
