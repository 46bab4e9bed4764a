#include "metrics.h"

#include "clock.h"
#include "opts.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

/* ---- which format ---- */

/* The name of an entry ends at a blank, a parameter or the next entry. */
static bool names(const char *entry, const char *type)
{
	size_t len = strcspn(entry, " \t;,");
	return len == strlen(type) && strncasecmp(entry, type, len) == 0;
}

/* The q of an entry's parameters: 1 when there is none, 0 when it is no number. */
static double entry_quality(const char *entry, const char *end)
{
	for (const char *p = entry; (p = memchr(p, ';', (size_t)(end - p))) != NULL;) {
		p++;
		p += strspn(p, " \t");
		if (strncasecmp(p, "q=", 2) == 0)
			return strtod(p + 2, NULL);
	}
	return 1;
}

/* The best quality of a media type in an Accept header, 0 when it is not there. */
static double quality(const char *accept, const char *type)
{
	double best = 0;
	for (const char *entry = accept; *entry; entry += *entry == ',') {
		entry += strspn(entry, " \t");
		const char *end = entry + strcspn(entry, ",");
		if (names(entry, type))
			best = fmax(best, entry_quality(entry, end));
		entry = end;
	}
	return best;
}

enum metrics_format metrics_choose(const char *accept)
{
	double open = quality(accept, "application/openmetrics-text");
	return open > 0 && open >= quality(accept, "text/plain") ? METRICS_OPENMETRICS : METRICS_TEXT;
}

const char *metrics_content_type(enum metrics_format format)
{
	return format == METRICS_OPENMETRICS ? "application/openmetrics-text; version=1.0.0; charset=utf-8"
					     : "text/plain; version=0.0.4; charset=utf-8";
}

/* ---- writing ---- */

struct page {
	FILE *out;
	enum metrics_format format;
	const struct fleet *fleet;
};

enum type { COUNTER, GAUGE, HISTOGRAM };

/* The family's name has no _total; in the text format the TYPE line of a counter needs it. */
static void family(const struct page *p, const char *name, enum type type, const char *unit, const char *help)
{
	static const char *const types[] = {"counter", "gauge", "histogram"};
	bool open = p->format == METRICS_OPENMETRICS;
	const char *suffix = type == COUNTER && !open ? "_total" : "";
	fprintf(p->out, "# HELP %s%s %s\n# TYPE %s%s %s\n", name, suffix, help, name, suffix, types[type]);
	if (open && *unit)
		fprintf(p->out, "# UNIT %s %s\n", name, unit);
}

/* Label values: quotes, backslashes and newlines are escaped. */
static void label(FILE *out, const char *name, const char *value)
{
	fprintf(out, "%s=\"", name);
	for (const char *c = value; *c; c++) {
		if (*c == '\n')
			fputs("\\n", out);
		else if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else
			fputc(*c, out);
	}
	fputc('"', out);
}

static void labels(const struct page *p, const struct watch *w, const char *extra_name, const char *extra)
{
	fputc('{', p->out);
	if (w->who.pod[0]) {
		label(p->out, "namespace", w->who.namespace_name);
		fputc(',', p->out);
		label(p->out, "pod", w->who.pod);
		fputc(',', p->out);
	}
	label(p->out, "container", w->who.container);
	if (w->who.scope != SCOPE_CONTAINER) {
		fputc(',', p->out);
		label(p->out, "scope", scope_name(w->who.scope));
	}
	if (extra_name) {
		fputc(',', p->out);
		label(p->out, extra_name, extra);
	}
	fputc('}', p->out);
}

static void sample(const struct page *p, const struct watch *w, const char *name, enum type type, double value)
{
	fprintf(p->out, "%s%s", name, type == COUNTER ? "_total" : "");
	labels(p, w, NULL, NULL);
	fprintf(p->out, " %.15g\n", value);
}

/* One value of one watch; NaN is not written: not there is not 0. */
typedef double getter(const struct watch *w);

static void per_watch(const struct page *p, const char *name, enum type type, const char *unit, getter *get,
		      const char *help)
{
	bool any = false;
	for (size_t i = 0; i < p->fleet->n; i++) {
		double value = get(p->fleet->watches[i]);
		if (isnan(value))
			continue;
		if (!any)
			family(p, name, type, unit, help);
		any = true;
		sample(p, p->fleet->watches[i], name, type, value);
	}
}

/* ---- the values ---- */

static double counter_value(const struct watch *w, size_t level, enum counter c, double scale)
{
	const struct counters *of = &w->now.snap.levels[level].counters;
	return w->open && counters_have(of, c) ? (double)of->value[c] * scale : NAN;
}

static double usage_seconds(const struct watch *w)
{
	return counter_value(w, 0, COUNTER_USAGE, 1e-6);
}

static double user_seconds(const struct watch *w)
{
	return counter_value(w, 0, COUNTER_USER, 1e-6);
}

static double system_seconds(const struct watch *w)
{
	return counter_value(w, 0, COUNTER_SYSTEM, 1e-6);
}

static double periods(const struct watch *w)
{
	return counter_value(w, 0, COUNTER_NR_PERIODS, 1);
}

static double throttled_periods(const struct watch *w)
{
	return counter_value(w, 0, COUNTER_NR_THROTTLED, 1);
}

static double throttled_seconds(const struct watch *w)
{
	return counter_value(w, 0, COUNTER_THROTTLED, 1e-6);
}

static double burst_periods(const struct watch *w)
{
	return counter_value(w, 0, COUNTER_NR_BURSTS, 1);
}

static double above(const struct watch *w, enum counter c, double scale)
{
	double sum = NAN;
	for (size_t i = 1; w->open && i < w->now.snap.n_levels; i++) {
		double value = counter_value(w, i, c, scale);
		if (!isnan(value))
			sum = isnan(sum) ? value : sum + value;
	}
	return sum;
}

static double throttled_periods_above(const struct watch *w)
{
	return above(w, COUNTER_NR_THROTTLED, 1);
}

static double throttled_seconds_above(const struct watch *w)
{
	return above(w, COUNTER_THROTTLED, 1e-6);
}

static double psi_seconds(const struct watch *w, enum psi_resource r, bool full)
{
	const struct psi *psi = &w->now.snap.psi[r];
	if (!w->open || w->now.snap.psi_status[r] != PSI_OK || (full && !psi->has_full))
		return NAN;
	return (double)(full ? psi->full.total_usec : psi->some.total_usec) / 1e6;
}

#define PSI_GETTER(name, resource, full)                                                                               \
	static double name(const struct watch *w)                                                                      \
	{                                                                                                              \
		return psi_seconds(w, resource, full);                                                                 \
	}
PSI_GETTER(psi_cpu_waiting, PSI_CPU, false)
PSI_GETTER(psi_cpu_stalled, PSI_CPU, true)
PSI_GETTER(psi_io_waiting, PSI_IO, false)
PSI_GETTER(psi_io_stalled, PSI_IO, true)
PSI_GETTER(psi_memory_waiting, PSI_MEMORY, false)
PSI_GETTER(psi_memory_stalled, PSI_MEMORY, true)

static double limit_cores(const struct watch *w)
{
	return w->open && w->limit.status == LIMIT_SET ? cpu_quota_cpus(&w->limit.quota) : NAN;
}

static double effective_cores(const struct watch *w)
{
	return w->open ? cpus_effective(&w->cpus, &w->limit) : NAN;
}

static double nproc(const struct watch *w)
{
	return w->open && w->cpus.have_nproc ? (double)w->cpus.nproc : NAN;
}

static double readable(const struct watch *w)
{
	return w->open;
}

static double runqueue_seconds(const struct watch *w)
{
	return w->processes && w->runqueue.state == RUNQUEUE_OK ? (double)w->runqueue.wait_ns / 1e9 : NAN;
}

static double threads(const struct watch *w)
{
	return w->processes && w->runqueue.state != RUNQUEUE_NONE ? (double)w->runqueue.threads : NAN;
}

static double exhausted_periods(const struct watch *w)
{
	return w->open && w->demand.quota_usec != QUOTA_NONE ? (double)w->demand.exhausted : NAN;
}

static double restarts(const struct watch *w)
{
	return (double)w->restarts;
}

/* In the order of the page. */
static const struct {
	const char *name;
	enum type type;
	const char *unit;
	getter *get;
	const char *help;
} families[] = {
	{"headroom_container_readable", GAUGE, "", readable,
	 "1 if the container's cgroup can be read, 0 if only its run-queue wait can."},
	{"headroom_container_cpu_usage_seconds", COUNTER, "seconds", usage_seconds,
	 "CPU time used by the cgroup and everything below it."},
	{"headroom_container_cpu_user_seconds", COUNTER, "seconds", user_seconds, "CPU time in user mode."},
	{"headroom_container_cpu_system_seconds", COUNTER, "seconds", system_seconds, "CPU time in the kernel."},
	{"headroom_container_cpu_cfs_periods", COUNTER, "", periods,
	 "Active quota periods (idle ones are not counted by the kernel)."},
	{"headroom_container_cpu_cfs_throttled_periods", COUNTER, "", throttled_periods,
	 "Periods at whose end a run queue was throttled by the container's own quota."},
	{"headroom_container_cpu_cfs_throttled_seconds", COUNTER, "seconds", throttled_seconds,
	 "Time run queues were throttled by the container's own quota, summed over CPUs: can grow faster than the clock."},
	{"headroom_container_cpu_cfs_burst_periods", COUNTER, "", burst_periods,
	 "Periods that used more than the quota (cpu.max.burst)."},
	{"headroom_container_cpu_cfs_throttled_periods_above", COUNTER, "", throttled_periods_above,
	 "Periods throttled by quotas of visible cgroups above (pod, slice)."},
	{"headroom_container_cpu_cfs_throttled_above_seconds", COUNTER, "seconds", throttled_seconds_above,
	 "Time throttled by quotas of visible cgroups above, summed over CPUs."},
	{"headroom_container_pressure_cpu_waiting_seconds", COUNTER, "seconds", psi_cpu_waiting,
	 "PSI some: wall time in which some task of the container waited for a CPU (also when throttled)."},
	{"headroom_container_pressure_cpu_stalled_seconds", COUNTER, "seconds", psi_cpu_stalled,
	 "PSI full: wall time in which every task of the container waited for a CPU."},
	{"headroom_container_pressure_io_waiting_seconds", COUNTER, "seconds", psi_io_waiting,
	 "PSI some: wall time in which some task waited for block I/O."},
	{"headroom_container_pressure_io_stalled_seconds", COUNTER, "seconds", psi_io_stalled,
	 "PSI full: wall time in which every task waited for block I/O."},
	{"headroom_container_pressure_memory_waiting_seconds", COUNTER, "seconds", psi_memory_waiting,
	 "PSI some: wall time in which some task waited for memory."},
	{"headroom_container_pressure_memory_stalled_seconds", COUNTER, "seconds", psi_memory_stalled,
	 "PSI full: wall time in which every task waited for memory."},
	{"headroom_container_runqueue_wait_seconds", COUNTER, "seconds", runqueue_seconds,
	 "Time its threads were runnable but did not run (schedstat), summed over threads; includes being throttled."},
	{"headroom_container_threads", GAUGE, "", threads, "Threads of the container that are visible."},
	{"headroom_container_cpu_limit_cores", GAUGE, "cores", limit_cores,
	 "The least quota / period over the visible levels, in CPUs; absent when there is none."},
	{"headroom_container_cpu_effective_cores", GAUGE, "cores", effective_cores,
	 "min(nproc, cpuset, limit): the CPUs it can really use."},
	{"headroom_container_nproc", GAUGE, "", nproc,
	 "CPUs of its affinity mask: what thread pools are usually sized by."},
	{"headroom_container_cpu_periods_exhausted", COUNTER, "", exhausted_periods,
	 "Quota periods whose budget ran out, by sampling, since the sidecar began to watch."},
	{"headroom_container_cgroup_restarts", COUNTER, "", restarts,
	 "Times its cgroup was made anew while it was watched."},
};

static void demand_histogram(const struct page *p)
{
	static const char name[] = "headroom_container_cpu_period_demand_cores";
	bool any = false;
	for (size_t i = 0; i < p->fleet->n; i++) {
		const struct watch *w = p->fleet->watches[i];
		uint64_t count = 0;
		if (!w->open)
			continue;
		if (!any)
			family(p, name, HISTOGRAM, "cores",
			       "CPU use inside every single quota period (100 ms without a quota), in CPUs.");
		any = true;
		for (size_t b = 0; b <= DEMAND_BUCKETS; b++) {
			char bound[32];
			count += w->demand.buckets[b];
			/* spelled the same in both formats: OpenMetrics wants a point in it */
			if (b < DEMAND_BUCKETS)
				snprintf(bound, sizeof bound, demand_bounds_cores[b] < 1 ? "%g" : "%.1f",
					 demand_bounds_cores[b]);
			else
				strcpy(bound, "+Inf");
			fprintf(p->out, "%s_bucket", name);
			labels(p, w, "le", bound);
			fprintf(p->out, " %llu\n", (unsigned long long)count);
		}
		fprintf(p->out, "%s_sum", name);
		labels(p, w, NULL, NULL);
		fprintf(p->out, " %.15g\n%s_count", w->demand.sum_cores, name);
		labels(p, w, NULL, NULL);
		fprintf(p->out, " %llu\n", (unsigned long long)w->demand.periods);
	}
}

/* ---- ourselves ---- */

static void own(const struct page *p, const char *name, enum type type, const char *unit, double value,
		const char *help)
{
	family(p, name, type, unit, help);
	fprintf(p->out, "%s%s %.15g\n", name, type == COUNTER ? "_total" : "", value);
}

static double resident_bytes(void)
{
	char line[128];
	CLEANUP_FCLOSE FILE *in = fopen("/proc/self/statm", "re");
	if (!in || !fgets(line, sizeof line, in))
		return NAN;
	/* in pages: total, resident, ... */
	const char *resident = strchr(line, ' ');
	return resident ? (double)strtoull(resident, NULL, 10) * (double)sysconf(_SC_PAGESIZE) : NAN;
}

static void ourselves(const struct page *p)
{
	const struct vitals *v = &p->fleet->vitals;
	struct rusage usage;
	getrusage(RUSAGE_SELF, &usage);
	double cpu = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) +
		     (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
	family(p, "headroom_build_info", GAUGE, "", "Always 1; the version is in the label.");
	fprintf(p->out, "headroom_build_info{version=\"%s\"} 1\n", opts_version());
	own(p, "headroom_sidecar_samples", COUNTER, "", (double)v->ticks, "Samples taken.");
	own(p, "headroom_sidecar_late_ticks", COUNTER, "", (double)v->late_ticks,
	    "Samples begun more than half an interval late.");
	own(p, "headroom_sidecar_missed_ticks", COUNTER, "", (double)v->missed_ticks,
	    "Instants that passed without a sample.");
	own(p, "headroom_sidecar_log_lines_dropped", COUNTER, "", (double)p->fleet->log.dropped,
	    "Log lines that stdout could not take at once.");
	uint64_t throttled;
	uint64_t throttled_usec;
	if (fleet_own_throttling(p->fleet, &throttled, &throttled_usec)) {
		own(p, "headroom_sidecar_cpu_cfs_throttled_periods", COUNTER, "", (double)throttled,
		    "Periods in which the sidecar itself was throttled; absent without a limit.");
		own(p, "headroom_sidecar_cpu_cfs_throttled_seconds", COUNTER, "seconds", (double)throttled_usec / 1e6,
		    "Time the sidecar itself was throttled, summed over CPUs.");
	}
	own(p, "process_cpu_seconds", COUNTER, "seconds", cpu, "CPU time of this process.");
	own(p, "process_start_time_seconds", GAUGE, "seconds", (double)v->started_wall_ns / 1e9,
	    "Start of this process since the epoch.");
	double resident = resident_bytes();
	if (!isnan(resident))
		own(p, "process_resident_memory_bytes", GAUGE, "bytes", resident, "Resident memory of this process.");
}

char *metrics_render(const struct fleet *fleet, enum metrics_format format, size_t *len)
{
	char *text = NULL;
	struct page p = {.out = open_memstream(&text, len), .format = format, .fleet = fleet};
	if (!p.out)
		return NULL;
	/* samples that are a period or more apart tell nothing about single periods */
	bool coarse = fleet->vitals.interval_ns >= CPU_PERIOD_DEFAULT_USEC * NSEC_PER_USEC;
	for (size_t i = 0; i < ARRAY_LEN(families); i++)
		if (!coarse || families[i].get != exhausted_periods)
			per_watch(&p, families[i].name, families[i].type, families[i].unit, families[i].get,
				  families[i].help);
	if (!coarse)
		demand_histogram(&p);
	ourselves(&p);
	if (format == METRICS_OPENMETRICS)
		fputs("# EOF\n", p.out);
	bool failed = ferror(p.out);
	if (fclose(p.out) != 0 || failed) {
		free(text);
		return NULL;
	}
	return text;
}
