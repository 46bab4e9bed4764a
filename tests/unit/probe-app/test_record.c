/* Records: the balance of a request's time, JSON, CSV, and the ring of the last requests. */
#include "tests/unit/check.h"

#include "probe-app/reqlog.h"

#include "jsonl.h"

static struct record finished(void)
{
	struct record r;
	record_init(&r);
	r.arrived_ns = 1000;
	r.read_ns = 1300;
	r.queued_ns = 1310;
	r.dequeued_ns = 1510;
	r.started_ns = 1550;
	r.ended_ns = 6000;
	r.arrival_wait_ns = 300;
	r.queue_ns = 200;
	r.cpu_ns = 4000;
	r.wait_ns = 100;
	r.disk_ns = r.pool_wait_ns = r.pool_hold_ns = 0;
	return r;
}

static void the_parts_add_up(void **state)
{
	struct record r = finished();
	/* of 4,700 ns from read to ended the thread ran 4,015; 15 of them before it started */
	struct elapsed total = {.wall_ns = 4700, .cpu_ns = 4015, .runqueue_ns = 350};
	(void)state;
	record_balance(&r, &total);
	assert_int_equal(r.runqueue_wait_ns, 300 + 4700 - 4015 - 200 - 100);
	assert_int_equal(r.schedstat_wait_ns, 650);
	assert_int_equal(r.rest_ns, 15);
	assert_int_equal(r.queue_ns + r.cpu_ns + r.runqueue_wait_ns + r.wait_ns + r.rest_ns, r.ended_ns - r.arrived_ns);
}

static void nothing_gets_below_zero(void **state)
{
	struct record r = finished();
	/* clocks that are read one after the other can give more CPU time than wall time */
	struct elapsed total = {.wall_ns = 4700, .cpu_ns = 5000, .runqueue_ns = METER_UNKNOWN};
	(void)state;
	r.cpu_ns = 5000;
	record_balance(&r, &total);
	assert_int_equal(r.runqueue_wait_ns, 300);
	assert_int_equal(r.schedstat_wait_ns, METER_UNKNOWN);
	assert_int_equal(r.rest_ns, 0);
}

static void unknown_is_null_in_json(void **state)
{
	char text[RECORD_TEXT_SIZE];
	struct record r;
	int64_t value;
	(void)state;
	record_init(&r);
	r.cpu_ns = 7;
	size_t len = record_json(&r, text);
	assert_int_equal(len, strlen(text));
	CLEANUP_JSON json_value *v = json_parse(text, len, NULL);
	assert_non_null(v);
	assert_true(json_get_i64(v, "cpu_ns", &value));
	assert_int_equal(value, 7);
	assert_false(json_get_i64(v, "wait_ns", &value));
	assert_non_null(strstr(text, "\"wait_ns\":null"));
	assert_non_null(strstr(text, "\"digest\":null"));
}

static void the_longest_texts_fit(void **state)
{
	char text[RECORD_TEXT_SIZE];
	struct record r;
	(void)state;
	record_init(&r);
	for (const struct record_field *f = record_fields; f->name; f++)
		*(int64_t *)((char *)&r + f->offset) = INT64_MIN;
	assert_true(record_csv_row(&r, text) < RECORD_TEXT_SIZE / 2);
	r.rounds = INT64_MAX;
	assert_true(record_json(&r, text) < RECORD_TEXT_SIZE / 2);
	assert_true(record_csv_header(text) < RECORD_TEXT_SIZE / 2);
}

static void numbers_are_written_whole(void **state)
{
	static const struct {
		int64_t value;
		const char *text;
	} cases[] = {{0, "0"},
		     {9, "9"},
		     {-1, "-1"},
		     {INT64_MAX, "9223372036854775807"},
		     {INT64_MIN, "-9223372036854775808"}};
	char text[RECORD_NUMBER_SIZE];
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		assert_int_equal(record_number(cases[i].value, text), strlen(cases[i].text));
		assert_string_equal(text, cases[i].text);
	}
}

static void rows_have_as_many_fields_as_the_header(void **state)
{
	char header[RECORD_TEXT_SIZE], row[RECORD_TEXT_SIZE];
	struct record r;
	size_t commas = 0;
	(void)state;
	record_init(&r);
	record_csv_header(header);
	record_csv_row(&r, row);
	for (const char *at = header; *at; at++)
		commas += *at == ',';
	assert_int_equal(strlen(row), commas + 1); /* nothing but commas and the newline */
	assert_memory_equal(header, "arrived_ns,dequeued_ns,started_ns,ended_ns,answered_ns,status,cpu_ns,", 68);
}

/* ---- the ring --------------------------------------------------------------------------------------------------- */

static void add(struct reqlog *log, int64_t cpu_ns)
{
	struct record r;
	record_init(&r);
	r.cpu_ns = cpu_ns;
	reqlog_add(log, &r);
	assert_int_equal(r.seq, reqlog_newest(log));
}

static void the_ring_keeps_the_last(void **state)
{
	struct reqlog log;
	struct record r;
	(void)state;
	assert_int_equal(reqlog_init(&log, 3, NULL), 0);
	assert_false(reqlog_get(&log, 0, &r));
	for (int64_t i = 1; i <= 5; i++)
		add(&log, i * 10);
	assert_true(reqlog_get(&log, 0, &r)); /* the oldest kept */
	assert_int_equal(r.seq, 3);
	assert_int_equal(r.cpu_ns, 30);
	assert_true(reqlog_get(&log, 5, &r));
	assert_int_equal(r.cpu_ns, 50);
	assert_false(reqlog_get(&log, 6, &r));
	reqlog_destroy(&log);
}

/* Reads in small pieces while requests keep coming: whole rows, ascending, none after `last`. */
static void a_slow_reader_sees_whole_rows(void **state)
{
	struct reqlog log;
	char piece[RECORD_TEXT_SIZE];
	uint64_t seq = 0;
	size_t rows = 0, n;
	(void)state;
	assert_int_equal(reqlog_init(&log, 40, NULL), 0);
	for (int64_t i = 1; i <= 100; i++)
		add(&log, i);
	uint64_t last = reqlog_newest(&log);
	while ((n = reqlog_csv(&log, &seq, last, piece, sizeof piece))) {
		assert_true(n <= sizeof piece);
		assert_int_equal(piece[n - 1], '\n');
		for (size_t i = 0; i < n; i++)
			rows += piece[i] == '\n';
		add(&log, 1000);
	}
	assert_int_equal(seq, last + 1);
	/* the header and at most the 40 that were kept; one was lost for each piece */
	assert_true(rows > 30 && rows <= 41);
	reqlog_destroy(&log);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_parts_add_up),          cmocka_unit_test(nothing_gets_below_zero),
		cmocka_unit_test(unknown_is_null_in_json),   cmocka_unit_test(the_longest_texts_fit),
		cmocka_unit_test(numbers_are_written_whole), cmocka_unit_test(rows_have_as_many_fields_as_the_header),
		cmocka_unit_test(the_ring_keeps_the_last),   cmocka_unit_test(a_slow_reader_sees_whole_rows),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
