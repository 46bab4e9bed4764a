#include "json_result.h"

#include "clock.h"
#include "stats.h"

#include <errno.h>
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

static void set_server_means(json_value *o, const struct result *r)
{
	json_value *means = json_new_object();
	for (int k = 0; k < ANSWER_FIELDS; k++) {
		char key[40];
		/* a mean of instants says nothing */
		if (r->server_n[k] == 0 || k == ANSWER_ARRIVED || k == ANSWER_STARTED || k == ANSWER_ENDED)
			continue;
		snprintf(key, sizeof key, "%.*s_ms", (int)strlen(answer_field_column((enum answer_field)k)) - 3,
			 answer_field_column((enum answer_field)k));
		json_set_real(means, key, r->server_sum_ns[k] / (double)r->server_n[k] / 1e6);
	}
	json_set_value(o, "server_means", means);
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
	set_server_means(o, r);
	set_shard(o, r);
	json_set_value(o, "histogram", from_histogram(&r->latency.histogram));
	json_set_value(o, "service_histogram", from_histogram(&r->service.histogram));
	json_set_value(o, "lateness_histogram", from_histogram(&r->lateness.histogram));
	set_samples(o, "samples_ns", &r->latency, keep);
	set_samples(o, "service_samples_ns", &r->service, keep);
	set_samples(o, "lateness_samples_ns", &r->lateness, keep);
	return o;
}
