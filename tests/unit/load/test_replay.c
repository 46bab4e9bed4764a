/* Times as logs write them: every form, and every way to write it wrong. */
#include "tests/unit/check.h"

#include "load/replay.h"
#include "load/when.h"

#define S NSEC_PER_SEC

static void test_points_in_time(void **state)
{
	(void)state;
	static const struct {
		const char *text;
		int64_t ns;
	} good[] = {
		{"1970-01-01T00:00:00Z", 0},
		{"1970-01-01T00:00:00.000000001Z", 1},
		{"2026-11-30T22:03:17Z", 1796076197 * S},
		{"2026-11-30t22:03:17z", 1796076197 * S},
		{"2026-11-30 23:03:17+01:00", 1796076197 * S},
		{"2026-11-30T21:33:17-0030", 1796076197 * S},
		{"2026-11-30T22:03:17.042Z", 1796076197 * S + 42 * NSEC_PER_MSEC},
		{"2026-11-30T22:03:17,5Z", 1796076197 * S + 500 * NSEC_PER_MSEC},
		{"2026-11-30T22:03:17.1234567899Z", 1796076197 * S + 123456789},
		{"2024-02-29T00:00:00Z", 1709164800 * S},
		{"2000-02-29T00:00:00Z", 951782400 * S},
		{"2016-12-31T23:59:60Z", 1483228800 * S}, /* a leap second */
		{"1796076197", 1796076197 * S},
		{"1796076197.25", 1796076197 * S + 250 * NSEC_PER_MSEC},
		{"0.05", 50 * NSEC_PER_MSEC},
	};
	static const char *const bad[] = {
		"",
		"now",
		"2026-11-30",
		"2026-11-30T22:03Z",
		"2026-11-30T22:03:17",
		"2026-13-01T00:00:00Z",
		"2026-00-01T00:00:00Z",
		"2026-02-29T00:00:00Z",
		"2100-02-29T00:00:00Z",
		"2026-04-31T00:00:00Z",
		"2026-11-30T24:00:00Z",
		"2026-11-30T22:60:00Z",
		"2026-11-30T22:03:61Z",
		"2026-11-30T22:03:17.Z",
		"2026-11-30T22:03:17Zx",
		"2026-11-30T22:03:17+25:00",
		"1969-12-31T23:59:59Z",
		"1970-01-01T00:00:00+01:00",
		"9999-01-01T00:00:00Z",
		"1.",
		".5",
		"-1",
		"1e9",
		"1796076197,25",
		" 1",
		"99999999999999999999",
	};
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		int64_t ns = -1;
		assert_case(when_parse(good[i].text, &ns, NULL) == 0, good[i].text);
		assert_case(ns == good[i].ns, good[i].text);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		struct fault f = {0};
		int64_t ns = 77;
		assert_case(when_parse(bad[i], &ns, &f) == -EINVAL, bad[i]);
		assert_case(f.text[0], bad[i]);
	}
}

static const struct replay_config usual;

static void test_lines(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		int64_t ns;
		bool whole;
	} good[] = {
		{"0.050", 50 * NSEC_PER_MSEC, false},
		{"  12\r\n", 12 * S, false},
		{"1796076197.25,GET,/x", 1796076197 * S + 250 * NSEC_PER_MSEC, false},
		{"3;4", 3 * S, false},
		{"3.5\tx", 3500 * NSEC_PER_MSEC, false},
		{"127.0.0.1 - - [30/Nov/2026:22:03:17 +0000] \"GET / HTTP/1.1\" 200 2", 1796076197 * S, true},
		{"::1 - bob [30/Nov/2026:23:03:17 +0100] \"GET / HTTP/1.1\" 200 2 \"-\" \"curl/8\"", 1796076197 * S,
		 true},
		{"host - [not a time] [30/nov/2026:22:03:17 +0000] \"-\" 400 0", 1796076197 * S, true},
		{"{\"time\":\"2026-11-30T22:03:17.5Z\"}", 1796076197 * S + 500 * NSEC_PER_MSEC, false},
		{"{\"msg\":\"x\",\"ts\":1796076197.5}", 1796076197 * S + 500 * NSEC_PER_MSEC, false},
		{"{\"timestamp\":1796076197500}", 1796076197 * S + 500 * NSEC_PER_MSEC, false},
		{"{\"timestamp\":1796076197500000}", 1796076197 * S + 500 * NSEC_PER_MSEC, false},
		{"{\"@timestamp\":\"1796076197.5\"}", 1796076197 * S + 500 * NSEC_PER_MSEC, false},
	};
	static const char *const bad[] = {
		"",
		"x",
		"12x",
		"-1",
		"127.0.0.1 - - [30/Nov/2026:22:03:17] \"GET /\" 200",
		"127.0.0.1 - - [31/Nov/2026:22:03:17 +0000] \"GET /\" 200",
		"127.0.0.1 - - [30/Foo/2026:22:03:17 +0000] \"GET /\" 200",
		"127.0.0.1 - - 30/Nov/2026:22:03:17 +0000",
		"127.0.0.1 - - [30/Nov/2026:22:03:17 +0000",
		"[",
		"[]",
		"{\"time\":true}",
		"{\"time\":-3}",
		"{\"other\":1}",
		"{\"time\":\"soon\"}",
		"{\"time\":1796076197",
		"{}",
	};
	for (size_t i = 0; i < ARRAY_LEN(good); i++) {
		int64_t ns = -1;
		bool whole = false;
		assert_case(replay_parse_line(good[i].line, strlen(good[i].line), &usual, &ns, &whole) == 0,
			    good[i].line);
		assert_case(ns == good[i].ns, good[i].line);
		assert_case(whole == good[i].whole, good[i].line);
	}
	for (size_t i = 0; i < ARRAY_LEN(bad); i++) {
		int64_t ns;
		bool whole;
		assert_case(replay_parse_line(bad[i], strlen(bad[i]), &usual, &ns, &whole) == -EINVAL, bad[i]);
	}
	int64_t ns;
	bool whole;
	assert_int_equal(replay_parse_line("1\0002", 3, &usual, &ns, &whole), -EINVAL);
}

static void test_time_field_by_name(void **state)
{
	(void)state;
	const struct replay_config named = {.time_field = "at"};
	static const char line[] = "{\"time\":1,\"at\":2}";
	int64_t ns;
	bool whole;
	assert_int_equal(replay_parse_line(line, strlen(line), &named, &ns, &whole), 0);
	assert_int_equal(ns, 2 * S);
	assert_int_equal(replay_parse_line("{\"time\":1}", 10, &named, &ns, &whole), -EINVAL);
}

static void add(struct replay *r, const char *line)
{
	assert_int_equal(replay_add_line(r, line, strlen(line), &usual), 0);
}

/* Four requests of one second are a quarter of a second apart; the next second begins on time. */
static void test_whole_seconds_are_spread(void **state)
{
	(void)state;
	struct replay r = {0};
	add(&r, "a - - [30/Nov/2026:22:03:18 +0000] \"-\"");
	for (int i = 0; i < 4; i++)
		add(&r, "a - - [30/Nov/2026:22:03:17 +0000] \"-\"");
	assert_int_equal(replay_finish(&r, &usual, NULL), 0);
	assert_int_equal(r.n, 5);
	for (int i = 0; i < 5; i++)
		assert_int_equal(r.at_ns[i], 1796076197 * S + i * (S / 4));
	replay_free(&r);

	const struct replay_config together = {.together = true};
	add(&r, "a - - [30/Nov/2026:22:03:17 +0000] \"-\"");
	add(&r, "a - - [30/Nov/2026:22:03:17 +0000] \"-\"");
	assert_int_equal(replay_finish(&r, &together, NULL), 0);
	assert_int_equal(r.at_ns[0], r.at_ns[1]);
	replay_free(&r);
}

/* A burst in a file that knows milliseconds is a burst. */
static void test_finer_times_stay(void **state)
{
	(void)state;
	struct replay r = {0};
	add(&r, "seconds,path");
	add(&r, "# recorded");
	add(&r, "");
	add(&r, "1.000");
	add(&r, "1.000");
	assert_int_equal(r.skipped, 0);
	assert_int_equal(replay_finish(&r, &usual, NULL), 0);
	assert_int_equal(r.at_ns[0], r.at_ns[1]);
	replay_free(&r);
}

static void test_skipped_lines_are_counted(void **state)
{
	(void)state;
	struct fault f = {0};
	struct replay r = {0};
	add(&r, "1");
	add(&r, "broken");
	assert_int_equal(r.skipped, 1);
	assert_int_equal(replay_finish(&r, &usual, NULL), 0);
	add(&r, "broken");
	assert_fault(replay_finish(&r, &usual, &f), &f, EINVAL);
	replay_free(&r);
	assert_fault(replay_finish(&r, &usual, &f), &f, EINVAL);
}

static void test_files(void **state)
{
	(void)state;
	char folder[64];
	char path[96];
	struct fault f = {0};
	struct replay r = {0};
	folder_make(folder);
	file_write(folder, "times", "0\n0.5\n0.25");
	snprintf(path, sizeof path, "%s/times", folder);
	assert_int_equal(replay_read(&r, path, &usual, NULL), 0);
	assert_int_equal(r.n, 3);
	assert_int_equal(r.at_ns[2], S / 2);
	replay_free(&r);
	snprintf(path, sizeof path, "%s/none", folder);
	assert_fault(replay_read(&r, path, &usual, &f), &f, ENOENT);
	assert_fault(replay_read(&r, folder, &usual, &f), &f, EISDIR);
	replay_free(&r);
	folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points_in_time),
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_time_field_by_name),
		cmocka_unit_test(test_whole_seconds_are_spread),
		cmocka_unit_test(test_finer_times_stay),
		cmocka_unit_test(test_skipped_lines_are_counted),
		cmocka_unit_test(test_files),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
