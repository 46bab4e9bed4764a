#include "merge.h"

#include <errno.h>
#include <string.h>

/* Shards that were started together begin within this of each other: what clocks kept by NTP differ by, and more. */
#define APART_NS (100 * NSEC_PER_MSEC)

/* --- may they be joined? ------------------------------------------------------------------------------------------ */

static int check_same_run(const struct merge_item *a, const struct merge_item *b, struct fault *f)
{
	const struct result *x = &a->result;
	const struct result *y = &b->result;
	if (strcmp(x->pattern, y->pattern) != 0 || x->threads != y->threads)
		return fault_set(f, -EINVAL, "%s is %s, %s is %s: they cannot be joined", a->source, x->pattern,
				 b->source, y->pattern);
	if (strcmp(x->url, y->url) != 0)
		return fault_set(f, -EINVAL, "%s is about %.80s, %s about %.80s", a->source, x->url, b->source, y->url);
	if (x->schedule_n != y->schedule_n || x->schedule_ns != y->schedule_ns || x->seed != y->seed)
		return fault_set(f, -EINVAL, "%s and %s follow different schedules", a->source, b->source);
	if (x->shard_count != y->shard_count)
		return fault_set(f, -EINVAL, "%s is one of %u shards, %s one of %u", a->source, x->shard_count,
				 b->source, y->shard_count);
	return 0;
}

static int check_all_shards(const struct merge_item *items, size_t n, struct fault *f)
{
	unsigned count = items[0].result.shard_count;
	for (unsigned k = 0; k < count; k++) {
		const struct merge_item *found = NULL;
		for (size_t i = 0; i < n; i++) {
			if (items[i].result.shard_index != k)
				continue;
			if (found)
				return fault_set(f, -EINVAL, "shard %u/%u is there twice: %s and %s", k, count,
						 found->source, items[i].source);
			found = &items[i];
		}
		if (!found)
			return fault_set(f, -EINVAL, "shard %u/%u is missing", k, count);
	}
	return 0;
}

static int check_repetitions(const struct merge_item *items, size_t n, struct fault *f)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < i; k++)
			if (items[i].result.start_wall_ns == items[k].result.start_wall_ns)
				return fault_set(f, -EINVAL, "%s and %s are the same run", items[k].source,
						 items[i].source);
	return 0;
}

int merge_check(const struct merge_item *items, size_t n, struct fault *f)
{
	if (n == 0)
		return fault_set(f, -EINVAL, "there is no result to merge");
	for (size_t i = 1; i < n; i++) {
		int rc = check_same_run(&items[0], &items[i], f);
		if (rc < 0)
			return rc;
	}
	return items[0].result.shard_count ? check_all_shards(items, n, f) : check_repetitions(items, n, f);
}

/* --- joining ------------------------------------------------------------------------------------------------------ */

static int join_dist(struct dist *into, const struct dist *from, struct fault *f)
{
	if (!into->exact) {
		int rc = histogram_add(&into->histogram, &from->histogram);
		return rc < 0 ? fault_set(f, rc, "histograms of different shapes") : 0;
	}
	for (size_t i = 0; i < from->n; i++)
		dist_add(into, from->samples[i]);
	return 0;
}

static void join_counts(struct result *into, const struct result *from)
{
	into->planned += from->planned;
	into->sent += from->sent;
	into->ok += from->ok;
	into->failed += from->failed;
	into->unfinished += from->unfinished;
	into->blocked += from->blocked;
	into->blocked_late += from->blocked_late;
	into->bytes += from->bytes;
	into->warmup += from->warmup;
	into->connections += from->connections;
	into->connections_opened += from->connections_opened;
	into->replay_skipped += from->replay_skipped;
	into->cpu_s += from->cpu_s;
	for (int i = 0; i < RESULT_STATUSES; i++)
		into->by_status[i] += from->by_status[i];
	for (int i = 0; i < ANSWER_ERRORS; i++) {
		if (into->errors[i] == 0)
			memcpy(into->error_text[i], from->error_text[i], sizeof into->error_text[i]);
		into->errors[i] += from->errors[i];
	}
	for (int i = 0; i < ANSWER_FIELDS; i++) {
		into->server_n[i] += from->server_n[i];
		into->server_sum_ns[i] += from->server_sum_ns[i];
	}
}

/* Side by side for shards, one after the other for repetitions. */
static void join_times(struct result *into, const struct result *from)
{
	if (from->shard_count == 0) {
		into->duration_ns += from->duration_ns;
		into->elapsed_ns += from->elapsed_ns;
	} else {
		into->duration_ns = from->duration_ns > into->duration_ns ? from->duration_ns : into->duration_ns;
		into->elapsed_ns = from->elapsed_ns > into->elapsed_ns ? from->elapsed_ns : into->elapsed_ns;
	}
	if (from->start_wall_ns < into->start_wall_ns) {
		into->start_wall_ns = from->start_wall_ns;
		into->start_mono_ns = from->start_mono_ns;
	}
}

static void join_validity(struct result *into, const struct merge_item *item)
{
	if (!into->interrupted_by)
		into->interrupted_by = item->result.interrupted_by;
	if (item->result.valid || !into->valid)
		return;
	into->valid = false;
	snprintf(into->invalid_reason, RESULT_REASON_SIZE, "%.80s: %.160s", item->source, item->result.invalid_reason);
}

static void judge_together(struct result *into, const struct merge_item *items, size_t n)
{
	for (size_t i = 0; into->shard_count && into->valid && i < n; i++) {
		int64_t apart_ns = items[i].result.start_wall_ns - into->start_wall_ns;
		if (apart_ns <= APART_NS)
			continue;
		into->valid = false;
		snprintf(into->invalid_reason, RESULT_REASON_SIZE,
			 "%.80s began %.3f s after the first shard: start them together with --start-at",
			 items[i].source, (double)apart_ns / 1e9);
	}
	/* shares that are each within the bounds can miss a request between them */
	result_judge(into);
}

/* What is the same in all of them, and the neutral element for the rest. */
static void begin_from(struct result *into, const struct result *first, size_t n)
{
	snprintf(into->url, sizeof into->url, "%s", first->url);
	snprintf(into->pattern, sizeof into->pattern, "%s", first->pattern);
	snprintf(into->scheduling, sizeof into->scheduling, "%s", first->scheduling);
	into->open_loop = first->open_loop;
	into->threads = first->threads;
	into->lateness_bound_ns = first->lateness_bound_ns;
	into->start_wall_ns = first->start_wall_ns;
	into->start_mono_ns = first->start_mono_ns;
	into->shard_count = first->shard_count;
	into->schedule_n = first->schedule_n;
	into->schedule_ns = first->schedule_ns;
	into->seed = first->seed;
	into->merged_from = (unsigned)n;
}

/* Samples of some and none of others are no distribution: one without makes all go by their histograms. */
static int join_dists(const struct merge_item *items, size_t n, size_t offset, struct result *into, struct fault *f)
{
	struct dist *to = (struct dist *)(void *)((char *)into + offset);
	for (size_t i = 0; i < n; i++)
		to->exact = to->exact &&
			    ((const struct dist *)(const void *)((const char *)&items[i].result + offset))->exact;
	for (size_t i = 0; i < n; i++) {
		int rc = join_dist(to, (const void *)((const char *)&items[i].result + offset), f);
		if (rc < 0)
			return rc;
	}
	dist_seal(to);
	return 0;
}

int merge_join(const struct merge_item *items, size_t n, struct result *into, struct fault *f)
{
	int rc = result_init(into, 0, f);
	if (rc < 0)
		return rc;
	begin_from(into, &items[0].result, n);
	for (size_t i = 0; i < n; i++) {
		join_counts(into, &items[i].result);
		join_times(into, &items[i].result);
		join_validity(into, &items[i]);
	}
	if ((rc = join_dists(items, n, offsetof(struct result, latency), into, f)) < 0 ||
	    (rc = join_dists(items, n, offsetof(struct result, service), into, f)) < 0 ||
	    (rc = join_dists(items, n, offsetof(struct result, lateness), into, f)) < 0)
		return rc;
	judge_together(into, items, n);
	/* a result that is whole again is no share of anything */
	into->shard_count = 0;
	return 0;
}
