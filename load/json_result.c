#include "json_result.h"

#include "clock.h"
#include "stats.h"

#include <errno.h>
#include <math.h>
#include <string.h>

/* --- writing ---------------------------------------------------------------------------------------------------- */

static void set_ms(json_value *o, const char *key, bool there, double ns)
{
	if (there)
		json_set_real(o, key, ns / 1e6);
	else
		json_set_null(o, key);
}

static void set_percentile(json_value *o, const char *key, const struct dist *d, uint32_t ppm)
{
	set_ms(o, key, dist_count(d) > 0, (double)dist_percentile(d, ppm));
}

static void set_counts(json_value *o, const struct result *r)
{
	json_set_u64(o, "planned", r->planned);
	json_set_u64(o, "sent", r->sent);
	json_set_u64(o, "ok", r->ok);
	json_set_u64(o, "failed", r->failed);
	json_set_u64(o, "unfinished", r->unfinished);
	json_set_u64(o, "blocked", r->blocked);
	json_set_u64(o, "blocked_late", r->blocked_late);
}

static void set_times(json_value *o, const struct result *r)
{
	json_set_real(o, "duration_s", (double)r->duration_ns / 1e9);
	json_set_real(o, "elapsed_s", (double)r->elapsed_ns / 1e9);
	json_set_real(o, "rate_per_s", result_rate(r));
	set_percentile(o, "p50_ms", &r->latency, STATS_P50);
	set_percentile(o, "p90_ms", &r->latency, STATS_P90);
	set_percentile(o, "p99_ms", &r->latency, STATS_P99);
	set_percentile(o, "p999_ms", &r->latency, STATS_P999);
	set_percentile(o, "max_ms", &r->latency, STATS_MAX);
	set_ms(o, "mean_ms", dist_count(&r->latency) > 0, dist_mean_ns(&r->latency));
	set_percentile(o, "service_p50_ms", &r->service, STATS_P50);
	set_percentile(o, "service_p99_ms", &r->service, STATS_P99);
	set_percentile(o, "lateness_p50_ms", &r->lateness, STATS_P50);
	set_percentile(o, "lateness_p99_ms", &r->lateness, STATS_P99);
	set_percentile(o, "lateness_max_ms", &r->lateness, STATS_MAX);
	set_ms(o, "lateness_bound_ms", r->open_loop, (double)r->lateness_bound_ns);
	json_set_u64(o, "samples", dist_count(&r->latency));
	json_set_bool(o, "exact", r->latency.exact);
	json_set_real(o, "relative_error", dist_error(&r->latency));
}

static void set_outcomes(json_value *o, const struct result *r)
{
	json_value *by_status = json_new_object();
	json_value *errors = json_new_object();
	json_value *texts = json_new_object();
	for (int i = 0; i < RESULT_STATUSES; i++) {
		char key[16];
		snprintf(key, sizeof key, "%d", i);
		if (r->by_status[i])
			json_set_u64(by_status, key, r->by_status[i]);
	}
	for (int i = ANSWER_WHOLE + 1; i < ANSWER_ERRORS; i++) {
		if (r->errors[i] == 0)
			continue;
		json_set_u64(errors, answer_error_name((enum answer_error)i), r->errors[i]);
		json_set_text(texts, answer_error_name((enum answer_error)i), r->error_text[i]);
	}
	json_set_value(o, "by_status", by_status);
	json_set_value(o, "errors", errors);
	json_set_value(o, "error_texts", texts);
}

static void set_circumstances(json_value *o, const struct result *r)
{
	char wall[CLOCK_RFC3339_SIZE];
	clock_rfc3339(r->start_wall_ns, wall);
	json_set_text(o, "start_wall", wall);
	json_set_i64(o, "start_wall_ns", r->start_wall_ns);
	json_set_i64(o, "start_mono_ns", r->start_mono_ns);
	json_set_real(o, "cpu_s", r->cpu_s);
	json_set_u64(o, "warmup", r->warmup);
	json_set_u64(o, "connections", r->connections);
	json_set_u64(o, "connections_opened", r->connections_opened);
	json_set_text(o, "scheduling", r->scheduling);
	json_set_u64(o, "bytes", r->bytes);
	if (r->interrupted_by)
		json_set_i64(o, "interrupted_by", r->interrupted_by);
	else
		json_set_null(o, "interrupted_by");
	json_set_u64(o, "replay_lines_skipped", r->replay_skipped);
	if (r->threads)
		json_set_u64(o, "threads", r->threads);
	else
		json_set_null(o, "threads");
	double cpus = result_target_cpus(r);
	if (cpus >= 0)
		json_set_real(o, "target_cpus", cpus);
	else
		json_set_null(o, "target_cpus");
}

/* "server_queue_ns" -> "queue" */
static void server_key(int field, char key[32])
{
	const char *column = answer_field_column((enum answer_field)field);
	snprintf(key, 32, "%.*s", (int)(strlen(column) - strlen("server_") - strlen("_ns")),
		 column + strlen("server_"));
}

static void set_server(json_value *o, const struct result *r)
{
	json_value *server = json_new_object();
	for (int k = 0; k < ANSWER_FIELDS; k++) {
		char key[32];
		/* a mean of instants says nothing */
		if (r->server_n[k] == 0 || answer_field_is_instant((enum answer_field)k))
			continue;
		json_value *figure = json_new_object();
		json_set_u64(figure, "answers", r->server_n[k]);
		json_set_real(figure, "mean_ms", r->server_sum_ns[k] / (double)r->server_n[k] / 1e6);
		json_set_real(figure, "sum_ns", r->server_sum_ns[k]);
		server_key(k, key);
		json_set_value(server, key, figure);
	}
	json_set_value(o, "server", server);
}

static void set_shard(json_value *o, const struct result *r)
{
	json_value *schedule = json_new_object();
	json_set_real(schedule, "duration_s", (double)r->schedule_ns / 1e9);
	json_set_u64(schedule, "requests", r->schedule_n);
	json_set_u64(schedule, "seed", r->seed);
	json_set_value(o, "schedule", schedule);
	if (r->shard_count == 0) {
		json_set_null(o, "shard");
	} else {
		json_value *shard = json_new_object();
		json_set_u64(shard, "index", r->shard_index);
		json_set_u64(shard, "count", r->shard_count);
		json_set_value(o, "shard", shard);
	}
	if (r->merged_from)
		json_set_u64(o, "merged_from", r->merged_from);
	else
		json_set_null(o, "merged_from");
}

static json_value *from_histogram(const struct histogram *h)
{
	json_value *o = json_new_object();
	json_value *buckets = json_new_array();
	json_set_u64(o, "sub_bits", h->sub_bits);
	json_set_i64(o, "highest_ns", h->highest);
	json_set_u64(o, "count", h->total);
	json_set_u64(o, "clipped", h->clipped);
	json_set_i64(o, "min_ns", h->min);
	json_set_i64(o, "max_ns", h->max);
	json_set_real(o, "sum_ns", h->sum);
	for (size_t i = 0; i < h->buckets; i++) {
		if (h->counts[i] == 0)
			continue;
		json_value *pair = json_new_array();
		json_add_i64(pair, (int64_t)i);
		json_add_i64(pair, (int64_t)h->counts[i]);
		json_add_value(buckets, pair);
	}
	json_set_value(o, "buckets", buckets);
	return o;
}

static void set_samples(json_value *o, const char *key, const struct dist *d, uint64_t keep)
{
	if (!d->exact || d->n > keep) {
		json_set_null(o, key);
		return;
	}
	json_value *samples = json_new_array();
	for (size_t i = 0; i < d->n; i++)
		json_add_i64(samples, d->samples[i]);
	json_set_value(o, key, samples);
}

/* In the order in which a person reads: what, counts, times, whether to believe it; the bulk at the end. */
json_value *json_from_result(const struct result *r, uint64_t keep)
{
	json_value *o = json_new_object();
	json_set_u64(o, "schema_version", JSON_RESULT_SCHEMA);
	json_set_text(o, "url", r->url);
	json_set_text(o, "pattern", r->pattern);
	set_counts(o, r);
	set_times(o, r);
	json_set_bool(o, "valid", r->valid);
	json_set_text(o, "invalid_reason", r->valid ? NULL : r->invalid_reason);
	set_outcomes(o, r);
	set_circumstances(o, r);
	set_server(o, r);
	set_shard(o, r);
	json_set_value(o, "histogram", from_histogram(&r->latency.histogram));
	json_set_value(o, "service_histogram", from_histogram(&r->service.histogram));
	json_set_value(o, "lateness_histogram", from_histogram(&r->lateness.histogram));
	set_samples(o, "samples_ns", &r->latency, keep);
	set_samples(o, "service_samples_ns", &r->service, keep);
	set_samples(o, "lateness_samples_ns", &r->lateness, keep);
	return o;
}

/* --- reading ----------------------------------------------------------------------------------------------------- */

/* A number that must be there and not negative. */
static int get_count(const json_value *o, const char *key, uint64_t *out, struct fault *f)
{
	return json_get_u64(o, key, out) ? 0 : fault_set(f, -EINVAL, "no count \"%s\"", key);
}

static int get_number(const json_value *o, const char *key, double *out, struct fault *f)
{
	return json_get_real(o, key, out) ? 0 : fault_set(f, -EINVAL, "no number \"%s\"", key);
}

static int get_name(const json_value *o, const char *key, char *out, size_t size, struct fault *f)
{
	const char *text = json_get_text(o, key);
	if (!text)
		return fault_set(f, -EINVAL, "no text \"%s\"", key);
	snprintf(out, size, "%s", text);
	return 0;
}

static int get_counts(const json_value *o, struct result *r, struct fault *f)
{
	const struct {
		const char *key;
		uint64_t *into;
	} counts[] = {
		{"planned", &r->planned},
		{"sent", &r->sent},
		{"ok", &r->ok},
		{"failed", &r->failed},
		{"unfinished", &r->unfinished},
		{"blocked", &r->blocked},
		{"blocked_late", &r->blocked_late},
		{"bytes", &r->bytes},
		{"warmup", &r->warmup},
		{"connections", &r->connections},
		{"connections_opened", &r->connections_opened},
		{"replay_lines_skipped", &r->replay_skipped},
	};
	for (size_t i = 0; i < ARRAY_LEN(counts); i++) {
		int rc = get_count(o, counts[i].key, counts[i].into, f);
		if (rc < 0)
			return rc;
	}
	return 0;
}

static int get_times(const json_value *o, struct result *r, struct fault *f)
{
	double duration_s = 0;
	double elapsed_s = 0;
	double bound_ms;
	int rc = get_number(o, "duration_s", &duration_s, f);
	if (rc == 0)
		rc = get_number(o, "elapsed_s", &elapsed_s, f);
	if (rc == 0)
		rc = get_number(o, "cpu_s", &r->cpu_s, f);
	if (rc < 0)
		return rc;
	if (!(duration_s >= 0 && duration_s < 1e9 && elapsed_s >= 0 && elapsed_s < 1e9))
		return fault_set(f, -EINVAL, "durations out of range");
	r->duration_ns = llround(duration_s * 1e9);
	r->elapsed_ns = llround(elapsed_s * 1e9);
	r->open_loop = json_get_real(o, "lateness_bound_ms", &bound_ms) && bound_ms >= 0 && bound_ms < 1e12;
	r->lateness_bound_ns = r->open_loop ? llround(bound_ms * 1e6) : 0;
	if (!json_get_i64(o, "start_wall_ns", &r->start_wall_ns) ||
	    !json_get_i64(o, "start_mono_ns", &r->start_mono_ns))
		return fault_set(f, -EINVAL, "no \"start_wall_ns\" or \"start_mono_ns\"");
	return 0;
}

static void get_outcomes(const json_value *o, struct result *r)
{
	const json_value *by_status = json_get(o, "by_status");
	const json_value *errors = json_get(o, "errors");
	for (int i = 0; i < RESULT_STATUSES; i++) {
		char key[16];
		snprintf(key, sizeof key, "%d", i);
		json_get_u64(by_status, key, &r->by_status[i]);
	}
	for (int i = ANSWER_WHOLE + 1; i < ANSWER_ERRORS; i++) {
		const char *name = answer_error_name((enum answer_error)i);
		const char *text = json_get_text(json_get(o, "error_texts"), name);
		json_get_u64(errors, name, &r->errors[i]);
		if (text)
			snprintf(r->error_text[i], RESULT_TEXT_SIZE, "%s", text);
	}
}

static void get_server(const json_value *o, struct result *r)
{
	const json_value *server = json_get(o, "server");
	for (int k = 0; k < ANSWER_FIELDS; k++) {
		char key[32];
		server_key(k, key);
		const json_value *figure = json_get(server, key);
		if (!json_get_u64(figure, "answers", &r->server_n[k]) ||
		    !json_get_real(figure, "sum_ns", &r->server_sum_ns[k]))
			r->server_n[k] = 0;
	}
}

static int get_shard(const json_value *o, struct result *r, struct fault *f)
{
	const json_value *shard = json_get(o, "shard");
	const json_value *schedule = json_get(o, "schedule");
	double schedule_s = 0;
	uint64_t index = 0;
	uint64_t count = 0;
	json_get_u64(schedule, "requests", &r->schedule_n);
	json_get_u64(schedule, "seed", &r->seed);
	if (json_get_real(schedule, "duration_s", &schedule_s) && schedule_s >= 0 && schedule_s < 1e9)
		r->schedule_ns = llround(schedule_s * 1e9);
	json_get_u64(o, "threads", &r->threads);
	if (!json_get_u64(shard, "count", &count))
		return 0;
	if (!json_get_u64(shard, "index", &index) || count < 1 || count > 10000 || index >= count)
		return fault_set(f, -EINVAL, "\"shard\" makes no sense");
	r->shard_index = (unsigned)index;
	r->shard_count = (unsigned)count;
	return 0;
}

/* Counts go in at the low end of their bucket; what the buckets do not know is set afterwards. */
static int get_histogram(const json_value *o, struct histogram *h, struct fault *f)
{
	const json_value *buckets = json_get(o, "buckets");
	uint64_t sub_bits = 0;
	uint64_t count = 0;
	int64_t highest = 0;
	if (!json_get_u64(o, "sub_bits", &sub_bits) || !json_get_i64(o, "highest_ns", &highest) ||
	    sub_bits != h->sub_bits || highest != h->highest)
		return fault_set(f, -EINVAL, "its buckets differ from those of this version");
	for (size_t i = 0; i < json_length(buckets); i++) {
		int64_t bucket;
		int64_t n;
		const json_value *pair = json_at(buckets, i);
		if (!json_as_i64(json_at(pair, 0), &bucket) || !json_as_i64(json_at(pair, 1), &n) || bucket < 0 ||
		    n < 0 || (size_t)bucket >= h->buckets)
			return fault_set(f, -EINVAL, "bucket %zu makes no sense", i);
		histogram_record_n(h, histogram_bucket_low(h, (size_t)bucket), (uint64_t)n);
	}
	if (!json_get_u64(o, "count", &count) || count != h->total || !json_get_u64(o, "clipped", &h->clipped) ||
	    !json_get_i64(o, "min_ns", &h->min) || !json_get_i64(o, "max_ns", &h->max) ||
	    !json_get_real(o, "sum_ns", &h->sum))
		return fault_set(f, -EINVAL, "its counts do not add up");
	return 0;
}

static int get_dist(const json_value *o, const char *histogram, const char *samples, struct dist *d, struct fault *f)
{
	const json_value *list = json_get(o, samples);
	size_t n = json_length(list);
	int rc = get_histogram(json_get(o, histogram), &d->histogram, f);
	if (rc < 0)
		return fault_prefix(f, rc, "\"%s\"", histogram);
	d->exact = n == d->histogram.total;
	if (!d->exact)
		return n ? fault_set(f, -EINVAL, "\"%s\" and \"%s\" differ in number", samples, histogram) : 0;
	histogram_reset(&d->histogram);
	for (size_t i = 0; i < n; i++) {
		int64_t ns;
		if (!json_as_i64(json_at(list, i), &ns))
			return fault_set(f, -EINVAL, "\"%s\": number %zu is no integer", samples, i);
		dist_add(d, ns);
	}
	dist_seal(d);
	return 0;
}

static int get_validity(const json_value *o, struct result *r, struct fault *f)
{
	int64_t signal = 0;
	const char *reason = json_get_text(o, "invalid_reason");
	if (!json_get_bool(o, "valid", &r->valid))
		return fault_set(f, -EINVAL, "no \"valid\"");
	if (!r->valid)
		snprintf(r->invalid_reason, RESULT_REASON_SIZE, "%s", reason ? reason : "no reason given");
	if (json_get_i64(o, "interrupted_by", &signal))
		r->interrupted_by = (int)signal;
	return 0;
}

int json_to_result(const json_value *object, struct result *r, struct fault *f)
{
	uint64_t version = 0;
	int rc = result_init(r, 0, f);
	if (rc < 0)
		return rc;
	if (!json_get_u64(object, "schema_version", &version) || version != JSON_RESULT_SCHEMA)
		return fault_set(f, -EINVAL, "not a result of headroom-load (schema_version %d)", JSON_RESULT_SCHEMA);
	if ((rc = get_name(object, "url", r->url, sizeof r->url, f)) < 0 ||
	    (rc = get_name(object, "pattern", r->pattern, sizeof r->pattern, f)) < 0 ||
	    (rc = get_name(object, "scheduling", r->scheduling, sizeof r->scheduling, f)) < 0 ||
	    (rc = get_counts(object, r, f)) < 0 || (rc = get_times(object, r, f)) < 0 ||
	    (rc = get_shard(object, r, f)) < 0 || (rc = get_validity(object, r, f)) < 0 ||
	    (rc = get_dist(object, "histogram", "samples_ns", &r->latency, f)) < 0 ||
	    (rc = get_dist(object, "service_histogram", "service_samples_ns", &r->service, f)) < 0 ||
	    (rc = get_dist(object, "lateness_histogram", "lateness_samples_ns", &r->lateness, f)) < 0)
		return rc;
	get_outcomes(object, r);
	get_server(object, r);
	return 0;
}
