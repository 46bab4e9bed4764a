#include "metrics.h"

#include "opts.h"
#include "process.h"

#include <math.h>
#include <string.h>

const char metrics_type_text[] = "text/plain; version=0.0.4; charset=utf-8";
const char metrics_type_openmetrics[] = "application/openmetrics-text; version=1.0.0; charset=utf-8";

const int metrics_statuses[METRICS_STATUSES] = {200, 400, 405, 413, 500, 503, 507};

static const struct part_description {
	const char *name, *help;
} descriptions[METRICS_PARTS] = {
	[PART_QUEUE] = {"headroom_probe_queue_seconds", "Time in the queue for a worker."},
	[PART_CPU] = {"headroom_probe_cpu_seconds", "CPU time of the worker."},
	[PART_RUNQUEUE] = {"headroom_probe_runqueue_wait_seconds",
			   "Ready to run but without a CPU: stopped by the quota, or others were running."},
	[PART_WAIT] = {"headroom_probe_wait_seconds", "Deliberate wait."},
	[PART_TOTAL] = {"headroom_probe_request_seconds", "From the arrival of a request to the end of its work."},
};

void metrics_init(struct metrics *m)
{
	*m = (struct metrics){.lock = PTHREAD_MUTEX_INITIALIZER};
}

void metrics_destroy(struct metrics *m)
{
	pthread_mutex_destroy(&m->lock);
}

static size_t status_index(int64_t status)
{
	size_t i = 0;
	while (i < METRICS_STATUSES && metrics_statuses[i] != status)
		i++;
	return i;
}

void metrics_add(struct metrics *m, const struct record *r)
{
	pthread_mutex_lock(&m->lock);
	m->by_status[status_index(r->status)]++;
	if (r->status == 200) {
		buckets_add(&m->parts[PART_QUEUE], r->queue_ns);
		buckets_add(&m->parts[PART_CPU], r->cpu_ns);
		buckets_add(&m->parts[PART_RUNQUEUE], r->runqueue_wait_ns);
		buckets_add(&m->parts[PART_WAIT], r->wait_ns);
		buckets_add(&m->parts[PART_TOTAL], r->ended_ns - r->arrived_ns);
	}
	pthread_mutex_unlock(&m->lock);
}

/* q=0 means "not this one"; finer preferences are not worth a parser: whoever lists it can read it. */
bool metrics_wants_openmetrics(const char *accept)
{
	const char *at = accept ? strcasestr(accept, "application/openmetrics-text") : NULL;
	if (!at)
		return false;
	size_t len = strcspn(at, ",");
	const char *q = memmem(at, len, "q=0", 3);
	if (!q)
		return true;
	size_t digits = strspn(q + 3, ".0");
	return q[3 + digits] >= '1' && q[3 + digits] <= '9';
}

/* ---- writing ------------------------------------------------------------------------------------------------ */

/* In OpenMetrics the family of a counter has no _total, and units are declared. */
static void write_head(FILE *out, bool openmetrics, const char *name, const char *type, const char *help)
{
	size_t len = strlen(name);
	static const char seconds[] = "_seconds";
	static const char bytes[] = "_bytes";
	if (openmetrics && strcmp(type, "counter") == 0)
		len -= strlen("_total");
	fprintf(out, "# HELP %.*s %s\n# TYPE %.*s %s\n", (int)len, name, help, (int)len, name, type);
	if (!openmetrics)
		return;
	if (len > strlen(seconds) && memcmp(name + len - strlen(seconds), seconds, strlen(seconds)) == 0)
		fprintf(out, "# UNIT %.*s seconds\n", (int)len, name);
	if (len > strlen(bytes) && memcmp(name + len - strlen(bytes), bytes, strlen(bytes)) == 0)
		fprintf(out, "# UNIT %.*s bytes\n", (int)len, name);
}

/* NaN = not known: left out, since a metric that is not there is told apart from 0 everywhere. */
static void write_number(FILE *out, bool om, const char *name, const char *type, const char *help, double value)
{
	if (isnan(value))
		return;
	write_head(out, om, name, type, help);
	fprintf(out, "%s %.15g\n", name, value);
}

static void write_histogram(FILE *out, bool om, const struct part_description *d, const struct buckets *b)
{
	uint64_t so_far = 0;
	write_head(out, om, d->name, "histogram", d->help);
	for (size_t i = 0; i < BUCKETS; i++) {
		so_far += b->counts[i];
		fprintf(out, "%s_bucket{le=\"%s\"} %llu\n", d->name, bucket_bounds_text[i], (unsigned long long)so_far);
	}
	fprintf(out, "%s_bucket{le=\"+Inf\"} %llu\n", d->name, (unsigned long long)b->total);
	fprintf(out, "%s_sum %.15g\n", d->name, (double)b->sum_ns / (double)NSEC_PER_SEC);
	fprintf(out, "%s_count %llu\n", d->name, (unsigned long long)b->total);
}

static void write_statuses(FILE *out, bool om, const struct metrics *m)
{
	static const char name[] = "headroom_probe_requests_total";
	write_head(out, om, name, "counter", "Requests for work, by status of the answer.");
	for (size_t i = 0; i < METRICS_STATUSES; i++)
		fprintf(out, "%s{code=\"%d\"} %llu\n", name, metrics_statuses[i], (unsigned long long)m->by_status[i]);
	fprintf(out, "%s{code=\"other\"} %llu\n", name, (unsigned long long)m->by_status[METRICS_STATUSES]);
}

static void write_pools(FILE *out, bool om, const struct metrics_now *now)
{
	static const struct {
		const char *name, *help;
	} gauges[] = {
		{"headroom_probe_pool_units", "Units of a pool."},
		{"headroom_probe_pool_used", "Units of a pool that are held."},
		{"headroom_probe_pool_waiting", "Requests that wait for a unit of a pool."},
	};
	for (size_t g = 0; now->pool_count && g < ARRAY_LEN(gauges); g++) {
		write_head(out, om, gauges[g].name, "gauge", gauges[g].help);
		for (size_t i = 0; i < now->pool_count; i++) {
			uint32_t values[] = {now->pools[i].units, now->pool_used[i], now->pool_waiting[i]};
			fprintf(out, "%s{pool=\"%s\"} %u\n", gauges[g].name, now->pools[i].name, values[g]);
		}
	}
}

static void write_now(FILE *out, bool om, const struct metrics_now *now)
{
	write_number(out, om, "headroom_probe_workers", "gauge", "Requests that can be at work at a time.",
		     now->workers);
	write_number(out, om, "headroom_probe_workers_busy", "gauge", "Workers at work.", now->workers_busy);
	write_number(out, om, "headroom_probe_queue_depth", "gauge", "Requests that wait for a worker.",
		     now->queue_depth);
	write_number(out, om, "headroom_probe_queue_limit", "gauge", "Requests that may wait for a worker.",
		     now->queue_max);
	write_number(out, om, "headroom_probe_in_flight", "gauge", "Requests for work read but not yet answered.",
		     (double)now->in_flight);
	write_number(out, om, "headroom_probe_connections", "gauge", "Open connections.", (double)now->connections);
	write_number(out, om, "headroom_probe_unit_rounds", "gauge", "Rounds of SHA-256 in the default unit of work.",
		     (double)now->rounds);
	write_number(out, om, "headroom_probe_unit_cpu_seconds", "gauge",
		     "CPU time that those rounds take by calibration.", now->cpu_ms / 1000);
	write_pools(out, om, now);
}

static void write_process(FILE *out, bool om)
{
	struct process_figures p;
	process_read(&p);
	write_number(out, om, "process_cpu_seconds_total", "counter", "CPU time of this process.", p.cpu_seconds);
	write_number(out, om, "process_start_time_seconds", "gauge", "Start of this process since 1970.",
		     p.start_time_seconds);
	write_number(out, om, "process_resident_memory_bytes", "gauge", "Resident memory.", p.resident_bytes);
	write_number(out, om, "process_virtual_memory_bytes", "gauge", "Virtual memory.", p.virtual_bytes);
	write_number(out, om, "process_open_fds", "gauge", "Open file descriptors.", p.open_fds);
	write_number(out, om, "process_max_fds", "gauge", "File descriptors that may be open.", p.max_fds);
	write_number(out, om, "process_threads", "gauge", "Threads.", p.threads);
}

static void write_all(FILE *out, const struct metrics *m, const struct metrics_now *now, bool om)
{
	write_head(out, om, "headroom_probe_build_info", "gauge", "The version, as a label.");
	fprintf(out, "headroom_probe_build_info{version=\"%s\"} 1\n", opts_version());
	write_statuses(out, om, m);
	for (size_t i = 0; i < METRICS_PARTS; i++)
		write_histogram(out, om, &descriptions[i], &m->parts[i]);
	write_now(out, om, now);
	write_process(out, om);
	if (om)
		fputs("# EOF\n", out);
}

char *metrics_text(struct metrics *m, const struct metrics_now *now, bool openmetrics, size_t *len)
{
	char *text = NULL;
	struct metrics copy;
	pthread_mutex_lock(&m->lock);
	copy = *m;
	pthread_mutex_unlock(&m->lock);
	FILE *out = open_memstream(&text, len);
	if (!out)
		return NULL;
	write_all(out, &copy, now, openmetrics);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
