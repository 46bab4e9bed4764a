/* From records to a result: what is counted where, which times are samples, when a run may be believed. */
#include "tests/unit/check.h"

#include "load/result.h"
#include "stats.h"

#define MS NSEC_PER_MSEC

static void one(struct shots *s, int64_t planned_ms, int64_t sent_ms, int64_t done_ms, uint16_t status,
		enum answer_error error)
{
	size_t seq = shots_count(s);
	struct answer a = {
		.sent_ns = sent_ms < 0 ? ANSWER_ABSENT : sent_ms * MS,
		.first_byte_ns = status ? done_ms * MS : ANSWER_ABSENT,
		.done_ns = done_ms * MS,
		.status = status,
		.error = error,
		.bytes = status ? 2 : 0,
	};
	assert_non_null(shots_begin(s, planned_ms < 0 ? ANSWER_ABSENT : planned_ms * MS));
	assert_false(shots_is_settled(shots_at(s, seq)));
	shots_settle(s, seq, &a);
	assert_true(shots_is_settled(shots_at(s, seq)));
}

static void begin(struct shots *s, struct result *r, uint64_t planned)
{
	assert_int_equal(shots_init(s, 16, NULL), 0);
	assert_int_equal(result_init(r, 16, NULL), 0);
	r->open_loop = true;
	r->lateness_bound_ns = 5 * MS;
	r->planned = planned;
	r->connections = 8;
}

static void end(struct shots *s, struct result *r)
{
	result_free(r);
	shots_free(s);
}

static void test_counts_and_samples(void **state)
{
	(void)state;
	struct shots s;
	struct result r;
	begin(&s, &r, 6);
	one(&s, 0, 1, 10, 200, ANSWER_WHOLE);
	one(&s, 10, 10, 15, 204, ANSWER_WHOLE);
	one(&s, 20, 20, 21, 503, ANSWER_WHOLE);     /* counted, no sample: its speed says nothing */
	one(&s, 30, 30, 1030, 0, ANSWER_TIMEOUT);   /* a sample: at least that long */
	one(&s, 40, 40, 41, 200, ANSWER_CUT_SHORT); /* a status and yet no answer */
	one(&s, 50, 50, 60, 0, ANSWER_INTERRUPTED);
	result_count(&r, &s);
	assert_int_equal(r.sent, 6);
	assert_int_equal(r.ok, 2);
	assert_int_equal(r.failed, 3);
	assert_int_equal(r.unfinished, 1);
	assert_int_equal(r.by_status[200], 2);
	assert_int_equal(r.by_status[503], 1);
	assert_int_equal(r.errors[ANSWER_TIMEOUT], 1);
	assert_int_equal(dist_count(&r.latency), 3);
	assert_int_equal(dist_percentile(&r.latency, STATS_P50), 10 * MS);
	assert_int_equal(dist_max(&r.latency), 1000 * MS);
	/* the first was sent 1 ms late: 10 ms from its instant, 9 ms from its send */
	assert_int_equal(dist_percentile(&r.service, STATS_P50), 9 * MS);
	assert_int_equal(dist_count(&r.lateness), 6);
	assert_int_equal(dist_max(&r.lateness), MS);
	assert_int_equal(r.elapsed_ns, 1030 * MS);
	end(&s, &r);
}

static void test_closed_loop_counts_from_the_send(void **state)
{
	(void)state;
	struct shots s;
	struct result r;
	begin(&s, &r, 0);
	r.open_loop = false;
	one(&s, -1, 7, 10, 200, ANSWER_WHOLE);
	result_count(&r, &s);
	assert_int_equal(dist_max(&r.latency), 3 * MS);
	assert_int_equal(dist_count(&r.lateness), 0);
	result_judge(&r);
	assert_true(r.valid);
	end(&s, &r);
}

static void test_valid(void **state)
{
	(void)state;
	struct shots s;
	struct result r;
	begin(&s, &r, 2);
	one(&s, 0, 5, 10, 200, ANSWER_WHOLE); /* on the bound is within it */
	one(&s, 10, 10, 15, 500, ANSWER_WHOLE);
	result_count(&r, &s);
	result_judge(&r);
	assert_true(r.valid);
	end(&s, &r);
}

static void assert_invalid(struct result *r, const char *word)
{
	result_judge(r);
	assert_false(r->valid);
	assert_case(strstr(r->invalid_reason, word) != NULL, r->invalid_reason);
}

static void test_late_sender(void **state)
{
	(void)state;
	struct shots s;
	struct result r;
	begin(&s, &r, 1);
	one(&s, 0, 6, 10, 200, ANSWER_WHOLE);
	result_count(&r, &s);
	assert_invalid(&r, "late");
	end(&s, &r);
}

/* One late request in a hundred is not the p99: nearest rank, number 99 of 100. */
static void test_one_percent_may_be_late(void **state)
{
	(void)state;
	struct shots s;
	struct result r;
	begin(&s, &r, 100);
	for (int i = 0; i < 100; i++)
		one(&s, i, i == 50 ? i + 20 : i, i + 30, 200, ANSWER_WHOLE);
	result_count(&r, &s);
	result_judge(&r);
	assert_true(r.valid);
	end(&s, &r);
}

/* ... but one that waited for a connection that long was delayed by an answer: no open loop. */
static void test_blocked(void **state)
{
	(void)state;
	struct shots s;
	struct result r;
	begin(&s, &r, 100);
	for (int i = 0; i < 100; i++) {
		one(&s, i, i == 50 ? i + 20 : i, i + 30, 200, ANSWER_WHOLE);
		shots_at(&s, (size_t)i)->blocked = i == 50;
	}
	result_count(&r, &s);
	assert_int_equal(r.blocked, 1);
	assert_int_equal(r.blocked_late, 1);
	assert_invalid(&r, "connection");
	end(&s, &r);
	/* a wait within the bound is counted and tolerated */
	begin(&s, &r, 1);
	one(&s, 0, 4, 10, 200, ANSWER_WHOLE);
	shots_at(&s, 0)->blocked = true;
	result_count(&r, &s);
	result_judge(&r);
	assert_int_equal(r.blocked, 1);
	assert_true(r.valid);
	end(&s, &r);
}

static void test_not_all_sent(void **state)
{
	(void)state;
	struct shots s;
	struct result r;
	begin(&s, &r, 2);
	one(&s, 0, 0, 10, 200, ANSWER_WHOLE);
	one(&s, 10, -1, 40, 0, ANSWER_NOT_SENT);
	result_count(&r, &s);
	assert_int_equal(r.sent, 1);
	assert_int_equal(r.failed, 1);
	assert_invalid(&r, "not sent");
	end(&s, &r);
}

static void test_interrupted(void **state)
{
	(void)state;
	struct shots s;
	struct result r;
	begin(&s, &r, 10);
	one(&s, 0, 0, 10, 200, ANSWER_WHOLE);
	r.interrupted_by = 2;
	result_count(&r, &s);
	assert_invalid(&r, "interrupted");
	end(&s, &r);
}

static void test_target_cpu(void **state)
{
	(void)state;
	struct shots s;
	struct result r;
	begin(&s, &r, 2);
	assert_true(result_target_cpus(&r) < 0);
	for (int i = 0; i < 2; i++) {
		struct answer a = {.sent_ns = 0, .done_ns = MS, .status = 200, .server_have = 1u << ANSWER_CPU};
		a.server_ns[ANSWER_CPU] = 4 * MS;
		assert_non_null(shots_begin(&s, 0));
		shots_settle(&s, (size_t)i, &a);
	}
	result_count(&r, &s);
	r.duration_ns = 16 * MS;
	assert_true(result_target_cpus(&r) == 0.5);
	assert_true(result_rate(&r) == 125);
	end(&s, &r);
}

/* Over the edge of a chunk; what was begun earlier stays where it was. */
static void test_shots_grow(void **state)
{
	(void)state;
	struct shots s;
	assert_int_equal(shots_init(&s, 1, NULL), 0);
	struct shot *first = shots_begin(&s, 1);
	for (size_t i = 1; i < SHOTS_CHUNK + 10; i++)
		assert_non_null(shots_begin(&s, (int64_t)i + 1));
	assert_ptr_equal(shots_at(&s, 0), first);
	assert_int_equal(shots_at(&s, SHOTS_CHUNK)->planned_ns, SHOTS_CHUNK + 1);
	assert_int_equal(shots_count(&s), SHOTS_CHUNK + 10);
	shots_free(&s);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_counts_and_samples),
		cmocka_unit_test(test_closed_loop_counts_from_the_send),
		cmocka_unit_test(test_valid),
		cmocka_unit_test(test_late_sender),
		cmocka_unit_test(test_one_percent_may_be_late),
		cmocka_unit_test(test_blocked),
		cmocka_unit_test(test_not_all_sent),
		cmocka_unit_test(test_interrupted),
		cmocka_unit_test(test_target_cpu),
		cmocka_unit_test(test_shots_grow),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
