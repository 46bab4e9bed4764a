/* What is written for others to read: requests.csv, the distribution file, header names; and what the command line
 * says. */
#include "tests/unit/check.h"

#include "load/csv.h"
#include "load/hgrm.h"
#include "load/options.h"
#include "load/pacer.h"

#define MS NSEC_PER_MSEC

static const struct csv_run open_loop = {.lateness_bound_ns = 5 * MS};

static void test_head_of_requests(void **state)
{
	(void)state;
	static const char promised[] =
		"seq,planned_ns,sent_ns,first_byte_ns,done_ns,status,bytes,error,server_queue_ns,"
		"server_cpu_ns,server_runqueue_wait_ns,server_wait_ns,server_arrived_ns,"
		"server_started_ns,server_ended_ns,";
	assert_memory_equal(csv_shot_head(), promised, sizeof promised - 1);
	assert_int_equal(csv_shot_head()[strlen(csv_shot_head()) - 1], '\n');
}

static size_t columns(const char *line)
{
	size_t n = 1;
	for (; *line; line++)
		n += *line == ',';
	return n;
}

static void test_line_of_requests(void **state)
{
	(void)state;
	char line[CSV_SHOT_SIZE];
	int64_t server[ANSWER_FIELDS] = {[ANSWER_CPU] = 4000000, [ANSWER_WAIT] = 0};
	struct shot shot = {
		.planned_ns = 1000,
		.sent_ns = 1000 + 5 * MS,
		.first_byte_ns = 3000,
		.done_ns = INT64_MAX,
		.bytes = 0,
		.status = 200,
		.server_have = 1u << ANSWER_CPU | 1u << ANSWER_WAIT,
		.error = ANSWER_CUT_SHORT,
	};
	size_t n = csv_shot(line, 7, &shot, server, &open_loop);
	assert_int_equal(n, strlen(line));
	assert_int_equal(columns(line), columns(csv_shot_head()));
	assert_string_equal(line,
			    "7,1000,5001000,3000,9223372036854775807,200,0,cut_short,,4000000,,0,,,,,,,,,,0,1,\n");
}

/* What is not there is empty, never 0. */
static void test_line_without_an_answer(void **state)
{
	(void)state;
	char line[CSV_SHOT_SIZE];
	struct shot shot = {
		.planned_ns = 5,
		.sent_ns = ANSWER_ABSENT,
		.first_byte_ns = ANSWER_ABSENT,
		.done_ns = ANSWER_ABSENT,
		.error = ANSWER_NOT_SENT,
		.blocked = true,
	};
	const struct csv_run closed = {.threads = 12};
	csv_shot(line, 0, &shot, NULL, &open_loop);
	assert_string_equal(line, "0,5,,,,,,not_sent,,,,,,,,,,,,,,1,0,\n");
	shot.planned_ns = ANSWER_ABSENT;
	csv_shot(line, 0, &shot, NULL, &closed);
	assert_string_equal(line, "0,,,,,,,not_sent,,,,,,,,,,,,,,1,,12\n");
}

static void test_longest_line_fits(void **state)
{
	(void)state;
	char line[CSV_SHOT_SIZE];
	int64_t server[ANSWER_FIELDS];
	struct shot shot = {INT64_MIN, INT64_MIN, INT64_MIN,          INT64_MIN, INT64_MIN,
			    65535,     0xffff,    ANSWER_CERTIFICATE, true,      false};
	const struct csv_run run = {.threads = INT64_MAX};
	for (size_t i = 0; i < ANSWER_FIELDS; i++)
		server[i] = INT64_MIN;
	assert_true(csv_shot(line, SIZE_MAX / 2, &shot, server, &run) < CSV_SHOT_SIZE);
}

static void test_fields_are_quoted(void **state)
{
	(void)state;
	static const char *const cases[][2] = {
		{"plain", "plain"},   {"", ""},
		{"a,b", "\"a,b\""},   {"\"", "\"\"\"\""},
		{"a\nb", "\"a\nb\""}, {"say \"x\"", "\"say \"\"x\"\"\""},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		char *text = NULL;
		size_t len = 0;
		FILE *out = open_memstream(&text, &len);
		csv_field(out, cases[i][0]);
		fclose(out);
		assert_string_equal(text, cases[i][1]);
		free(text);
	}
}

static void test_header_names(void **state)
{
	(void)state;
	assert_int_equal(answer_field_by_header("Headroom-Queue-Ns", 17), ANSWER_QUEUE);
	assert_int_equal(answer_field_by_header("headroom-cpu-ns", 15), ANSWER_CPU);
	assert_int_equal(answer_field_by_header("HEADROOM-POOL-WAIT-NS", 21), ANSWER_POOL_WAIT);
	assert_int_equal(answer_field_by_header("Headroom-Queue-Ns2", 18), ANSWER_FIELDS);
	assert_int_equal(answer_field_by_header("Headroom-Queue-N", 16), ANSWER_FIELDS);
	assert_int_equal(answer_field_by_header("", 0), ANSWER_FIELDS);
	for (int i = ANSWER_WHOLE + 1; i < ANSWER_ERRORS; i++)
		assert_int_equal(answer_error_by_name(answer_error_name((enum answer_error)i)), i);
	assert_int_equal(answer_error_by_name("nothing"), ANSWER_ERRORS);
}

static void take_header(struct answer *a, const char *line)
{
	answer_take_header(a, line, strlen(line));
}

static void test_header_values(void **state)
{
	(void)state;
	struct answer a = {.status = 200};
	static const char *const nothing[] = {"Headroom-Cpu-Ns",
					      "Headroom-Cpu-Ns:",
					      "Headroom-Cpu-Ns: -1",
					      "Headroom-Cpu-Ns: 4ms",
					      "X: 1",
					      "Headroom-Cpu-Ns: 99999999999999999999999"};
	for (size_t i = 0; i < ARRAY_LEN(nothing); i++) {
		take_header(&a, nothing[i]);
		assert_int_equal(a.server_have, 0);
	}
	take_header(&a, "headroom-CPU-ns:  4000000 \r\n");
	assert_int_equal(a.server_have, 1U << ANSWER_CPU);
	assert_int_equal(a.server_ns[ANSWER_CPU], 4000000);
}

/* The plotter wants rising percentiles, rising counts, and a last line at 1 with everything in it. */
static void test_distribution_file(void **state)
{
	(void)state;
	char *text = NULL;
	size_t len = 0;
	struct dist d;
	FILE *out = open_memstream(&text, &len);
	assert_int_equal(dist_init(&d, 0, NULL), 0);
	for (int i = 1; i <= 1000; i++)
		dist_add(&d, i * MS);
	dist_seal(&d);
	hgrm_write(out, &d, NULL);
	fclose(out);
	double last_share = -1;
	unsigned long long last_count = 0;
	double value = 0;
	int lines = 0;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *p;
		double first = strtod(line, &p);
		double share = strtod(p, &p);
		unsigned long long count = strtoull(p, NULL, 10);
		if (count == 0 || p == line)
			continue;
		value = first;
		assert_true(share > last_share && count >= last_count);
		/* the line says how many are not above its value */
		assert_int_equal(count, (unsigned long long)value);
		assert_true((double)count >= share * 1000);
		last_share = share;
		last_count = count;
		lines++;
	}
	assert_true(last_share == 1 && last_count == 1000 && value == 1000);
	assert_true(lines > 40);
	free(text);
	dist_free(&d);
}

static void test_empty_distribution_file(void **state)
{
	(void)state;
	char *text = NULL;
	size_t len = 0;
	struct dist d;
	FILE *out = open_memstream(&text, &len);
	assert_int_equal(dist_init(&d, 0, NULL), 0);
	dist_seal(&d);
	hgrm_write(out, &d, "#[note]\n");
	fclose(out);
	assert_memory_equal(text, "#[note]\n", 8);
	assert_non_null(strstr(text, "Total count    =            0"));
	free(text);
	dist_free(&d);
}

static void test_shard_texts(void **state)
{
	(void)state;
	unsigned index = 9;
	unsigned count = 9;
	static const char *const bad[] = {"",    "1",    "/",    "1/",  "/2",      "2/2",
					  "0/0", "-1/2", "0/2x", "a/2", "0/10001", "1/2/3"};
	assert_int_equal(options_parse_shard("3/4", &index, &count, NULL), 0);
	assert_int_equal(index, 3);
	assert_int_equal(count, 4);
	assert_int_equal(options_parse_shard("0/1", &index, &count, NULL), 0);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct fault f = {0};
		assert_case(options_parse_shard(bad[i], &index, &count, &f) < 0 && f.text[0], bad[i]);
	}
}

static void test_threads_texts(void **state)
{
	(void)state;
	static const char many[] = "1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1,1";
	uint64_t threads[LOAD_THREADS_MAX];
	size_t n = 0;
	static const char *const bad[] = {"", ",", "1,", ",1", "1,,2", "0", "10001", "x", "1 2", many};
	assert_int_equal(options_parse_threads("2,5,10", threads, &n, NULL), 0);
	assert_int_equal(n, 3);
	assert_int_equal(threads[0] + threads[1] + threads[2], 17);
	assert_int_equal(options_parse_threads("7", threads, &n, NULL), 0);
	assert_int_equal(n, 1);
	for (size_t i = 0; i < ARRAY_LEN(bad); i++)
		assert_case(options_parse_threads(bad[i], threads, &n, NULL) < 0, bad[i]);
}

static void test_spin_fits_the_gap(void **state)
{
	(void)state;
	assert_int_equal(pacer_spin_ns(50 * MS), 100 * NSEC_PER_USEC);
	assert_int_equal(pacer_spin_ns(MS), 100 * NSEC_PER_USEC);
	assert_int_equal(pacer_spin_ns(500 * NSEC_PER_USEC), 50 * NSEC_PER_USEC);
	assert_int_equal(pacer_spin_ns(100 * NSEC_PER_USEC), 0);
	assert_int_equal(pacer_spin_ns(0), 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_head_of_requests),        cmocka_unit_test(test_line_of_requests),
		cmocka_unit_test(test_line_without_an_answer),  cmocka_unit_test(test_longest_line_fits),
		cmocka_unit_test(test_fields_are_quoted),       cmocka_unit_test(test_header_names),
		cmocka_unit_test(test_header_values),           cmocka_unit_test(test_distribution_file),
		cmocka_unit_test(test_empty_distribution_file), cmocka_unit_test(test_shard_texts),
		cmocka_unit_test(test_threads_texts),           cmocka_unit_test(test_spin_fits_the_gap),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
