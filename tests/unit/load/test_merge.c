/* Joining results: through JSON and back, exact or by histogram, and what is refused. */
#include "tests/unit/check.h"

#include "load/json_result.h"
#include "load/merge.h"
#include "stats.h"

#define MS NSEC_PER_MSEC

enum { SHARDS = 4, REQUESTS = 2000 };

/* A latency with a tail, the same for request number i whoever sends it. */
static int64_t latency_of(int i)
{
	return MS + (int64_t)(i * 7919 % REQUESTS) * (i % 50 == 0 ? 100000 : 1000);
}

static void make_shard(struct result *r, unsigned index, unsigned count)
{
	assert_int_equal(result_init(r, 0, NULL), 0);
	snprintf(r->url, sizeof r->url, "http://x/");
	snprintf(r->pattern, sizeof r->pattern, "paced");
	snprintf(r->scheduling, sizeof r->scheduling, "other");
	r->open_loop = true;
	r->lateness_bound_ns = 5 * MS;
	r->shard_index = index;
	r->shard_count = count;
	r->schedule_n = REQUESTS;
	r->schedule_ns = r->duration_ns = 10 * NSEC_PER_SEC;
	r->start_wall_ns = 1796076197 * NSEC_PER_SEC;
	for (int i = (int)index; i < REQUESTS; i += count ? (int)count : 1) {
		r->planned++;
		r->sent++;
		r->ok++;
		r->by_status[200]++;
		dist_add(&r->latency, latency_of(i));
		dist_add(&r->service, latency_of(i) - 1000);
		dist_add(&r->lateness, 1000 + i);
	}
	r->server_n[ANSWER_CPU] = r->ok;
	r->server_sum_ns[ANSWER_CPU] = (double)r->ok * 4e6;
	dist_seal(&r->latency);
	dist_seal(&r->service);
	dist_seal(&r->lateness);
}

static void make_shards(struct merge_item items[SHARDS])
{
	for (unsigned k = 0; k < SHARDS; k++) {
		snprintf(items[k].source, sizeof items[k].source, "s%u", k);
		make_shard(&items[k].result, k, SHARDS);
	}
}

static void free_shards(struct merge_item items[SHARDS])
{
	for (unsigned k = 0; k < SHARDS; k++)
		result_free(&items[k].result);
}

/* Writes a result as JSON and reads it again, with all samples or without any. */
static void through_json(struct result *r, uint64_t keep)
{
	struct result again;
	struct fault f = {0};
	CLEANUP_JSON json_value *written = json_from_result(r, keep);
	size_t len;
	CLEANUP_FREE char *text = json_text(written, &len);
	assert_non_null(text);
	CLEANUP_JSON json_value *read = json_parse(text, len, &f);
	assert_non_null(read);
	int rc = json_to_result(read, &again, &f);
	assert_case(rc == 0, fault_text(&f));
	result_free(r);
	*r = again;
}

static const uint32_t ranks[] = {STATS_P50, STATS_P90, STATS_P99, STATS_P999, STATS_MAX};

static void test_shards_are_the_whole(void **state)
{
	(void)state;
	struct merge_item items[SHARDS];
	struct result whole;
	struct result merged;
	make_shards(items);
	make_shard(&whole, 0, 0);
	for (unsigned k = 0; k < SHARDS; k++)
		through_json(&items[k].result, REQUESTS);
	assert_int_equal(merge_check(items, SHARDS, NULL), 0);
	assert_int_equal(merge_join(items, SHARDS, &merged, NULL), 0);
	assert_true(merged.latency.exact && merged.valid);
	assert_int_equal(merged.planned, REQUESTS);
	assert_int_equal(merged.by_status[200], REQUESTS);
	assert_int_equal(merged.merged_from, SHARDS);
	assert_int_equal(merged.duration_ns, whole.duration_ns);
	for (size_t i = 0; i < ARRAY_LEN(ranks); i++) {
		assert_int_equal(dist_percentile(&merged.latency, ranks[i]), dist_percentile(&whole.latency, ranks[i]));
		assert_int_equal(dist_percentile(&merged.lateness, ranks[i]),
				 dist_percentile(&whole.lateness, ranks[i]));
	}
	assert_true(result_target_cpus(&merged) == result_target_cpus(&whole));
	result_free(&merged);
	result_free(&whole);
	free_shards(items);
}

/* One shard without samples, and all go by their histograms: within the stated error, and it says so. */
static void test_without_samples_the_error_is_bounded(void **state)
{
	(void)state;
	struct merge_item items[SHARDS];
	struct result whole;
	struct result merged;
	make_shards(items);
	make_shard(&whole, 0, 0);
	through_json(&items[2].result, 10);
	assert_false(items[2].result.latency.exact);
	assert_int_equal(merge_join(items, SHARDS, &merged, NULL), 0);
	assert_false(merged.latency.exact);
	assert_true(dist_error(&merged.latency) > 0);
	assert_int_equal(dist_count(&merged.latency), REQUESTS);
	for (size_t i = 0; i < ARRAY_LEN(ranks); i++) {
		int64_t exact = dist_percentile(&whole.latency, ranks[i]);
		int64_t got = dist_percentile(&merged.latency, ranks[i]);
		assert_true(got >= exact);
		assert_true((double)(got - exact) <= (double)exact * dist_error(&merged.latency));
	}
	assert_int_equal(dist_max(&merged.latency), dist_max(&whole.latency));
	result_free(&merged);
	result_free(&whole);
	free_shards(items);
}

static void assert_refused(const struct merge_item *items, size_t n, const char *word)
{
	struct fault f = {0};
	assert_fault(merge_check(items, n, &f), &f, EINVAL);
	assert_case(strstr(f.text, word) != NULL, f.text);
}

static void test_missing_and_twice(void **state)
{
	(void)state;
	struct merge_item items[SHARDS];
	make_shards(items);
	assert_refused(items, SHARDS - 1, "shard 3/4 is missing");
	assert_refused(items + 1, SHARDS - 1, "shard 0/4 is missing");
	items[1].result.shard_index = 2;
	assert_refused(items, SHARDS, "shard 1/4 is missing");
	items[1].result.shard_index = 0;
	assert_refused(items, SHARDS, "shard 0/4 is there twice: s0 and s1");
	assert_refused(items, 0, "no result");
	free_shards(items);
}

static void test_different_runs(void **state)
{
	(void)state;
	struct merge_item items[SHARDS];
	make_shards(items);
	items[3].result.schedule_n++;
	assert_refused(items, SHARDS, "different schedules");
	items[3].result.schedule_n--;
	items[3].result.shard_count = 0;
	assert_refused(items, SHARDS, "shards");
	items[3].result.shard_count = SHARDS;
	snprintf(items[3].result.url, sizeof items[3].result.url, "http://y/");
	assert_refused(items, SHARDS, "http://y/");
	snprintf(items[3].result.pattern, sizeof items[3].result.pattern, "burst");
	assert_refused(items, SHARDS, "burst");
	free_shards(items);
}

static void test_repetitions_are_pooled(void **state)
{
	(void)state;
	struct merge_item items[SHARDS];
	struct result merged;
	make_shards(items);
	for (int k = 0; k < SHARDS; k++)
		items[k].result.shard_count = 0;
	assert_refused(items, SHARDS, "same run");
	for (int k = 0; k < SHARDS; k++)
		items[k].result.start_wall_ns += k * 60 * NSEC_PER_SEC;
	assert_int_equal(merge_check(items, SHARDS, NULL), 0);
	assert_int_equal(merge_join(items, SHARDS, &merged, NULL), 0);
	assert_true(merged.valid);
	assert_int_equal(merged.duration_ns, 40 * NSEC_PER_SEC);
	result_free(&merged);
	free_shards(items);
}

static void test_validity(void **state)
{
	(void)state;
	struct merge_item items[SHARDS];
	struct result merged;
	make_shards(items);
	items[2].result.start_wall_ns += NSEC_PER_SEC;
	assert_int_equal(merge_join(items, SHARDS, &merged, NULL), 0);
	assert_false(merged.valid);
	assert_non_null(strstr(merged.invalid_reason, "s2 began 1.000 s after"));
	result_free(&merged);
	items[2].result.start_wall_ns -= NSEC_PER_SEC;
	items[1].result.valid = false;
	snprintf(items[1].result.invalid_reason, RESULT_REASON_SIZE, "because");
	through_json(&items[1].result, REQUESTS);
	assert_int_equal(merge_join(items, SHARDS, &merged, NULL), 0);
	assert_false(merged.valid);
	assert_string_equal(merged.invalid_reason, "s1: because");
	result_free(&merged);
	free_shards(items);
}

static void test_other_json_is_refused(void **state)
{
	(void)state;
	static const char *const texts[] = {
		"{}",
		"[]",
		"1",
		"{\"schema_version\":2}",
		"{\"schema_version\":1}",
		"{\"schema_version\":1,\"url\":3}",
		"{\"schema_version\":1,\"url\":\"x\",\"pattern\":\"closed\",\"sweep\":[]}",
	};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct result r = {0};
		struct fault f = {0};
		CLEANUP_JSON json_value *v = json_parse(texts[i], strlen(texts[i]), NULL);
		assert_case(json_to_result(v, &r, &f) == -EINVAL, texts[i]);
		assert_case(f.text[0], texts[i]);
		result_free(&r);
	}
}

/* A histogram that was tampered with, or cut, must not become a result. */
static void test_broken_histograms_are_refused(void **state)
{
	(void)state;
	static const char *const histograms[] = {
		"{\"sub_bits\":9,\"highest_ns\":3600000000000,\"count\":0,\"clipped\":0,\"min_ns\":0,\"max_ns\":0,\"sum_ns\":0,\"buckets\":[]}",
		"{\"sub_bits\":10,\"highest_ns\":3600000000000,\"count\":1,\"clipped\":0,\"min_ns\":0,\"max_ns\":0,\"sum_ns\":0,\"buckets\":[]}",
		"{\"sub_bits\":10,\"highest_ns\":3600000000000,\"count\":1,\"clipped\":0,\"min_ns\":0,\"max_ns\":0,\"sum_ns\":0,\"buckets\":[[999999999,1]]}",
		"{\"sub_bits\":10,\"highest_ns\":3600000000000,\"count\":1,\"clipped\":0,\"min_ns\":0,\"max_ns\":0,\"sum_ns\":0,\"buckets\":[[-1,1]]}",
		"{\"sub_bits\":10,\"highest_ns\":3600000000000,\"count\":1,\"clipped\":0,\"min_ns\":0,\"max_ns\":0,\"sum_ns\":0,\"buckets\":[[1,-1]]}",
		"{\"sub_bits\":10,\"highest_ns\":3600000000000,\"count\":1,\"clipped\":0,\"min_ns\":0,\"max_ns\":0,\"sum_ns\":0,\"buckets\":[1]}",
		"null",
	};
	for (size_t i = 0; i < ARRAY_LEN(histograms); i++) {
		struct result r;
		struct result again = {0};
		struct fault f = {0};
		make_shard(&r, 0, 0);
		CLEANUP_JSON json_value *v = json_from_result(&r, 0);
		json_set_value(v, "histogram", json_parse(histograms[i], strlen(histograms[i]), NULL));
		assert_case(json_to_result(v, &again, &f) == -EINVAL, histograms[i]);
		result_free(&again);
		result_free(&r);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_shards_are_the_whole),
		cmocka_unit_test(test_without_samples_the_error_is_bounded),
		cmocka_unit_test(test_missing_and_twice),
		cmocka_unit_test(test_different_runs),
		cmocka_unit_test(test_repetitions_are_pooled),
		cmocka_unit_test(test_validity),
		cmocka_unit_test(test_other_json_is_refused),
		cmocka_unit_test(test_broken_histograms_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
