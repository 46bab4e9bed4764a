/* Log lines: the keys of each collector, and what happens to a line that stdout cannot take. */
#include "tests/unit/check.h"

#include "sidecar/log.h"

#include <regex.h>
#include <signal.h>

static bool matches(const char *pattern, const char *text)
{
	regex_t r;
	assert_int_equal(regcomp(&r, pattern, REG_EXTENDED | REG_NOSUB), 0);
	bool found = regexec(&r, text, 0, NULL, 0) == 0;
	regfree(&r);
	return found;
}

/* One line through a pipe. */
static void emit(struct log *log, enum log_level level, char *out, size_t size)
{
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	log->fd = ends[1];
	json_value *line = log_line(log, level, "throttled", "app waits: %d of %d", 3, 10);
	json_set_u64(line, "nr_throttled", 3);
	log_emit(log, line);
	ssize_t n = read(ends[0], out, size - 1);
	assert_true(n > 0);
	out[n] = '\0';
	close(ends[0]);
	close(ends[1]);
}

#define TIME "[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9]{2}:[0-9]{2}:[0-9]{2}\\.[0-9]{3}Z"
#define REST "\"event\": ?\"throttled\", ?\"nr_throttled\": ?3\\}\n$"

static void test_keys(void **state)
{
	(void)state;
	static const struct {
		enum log_keys keys;
		enum log_level level;
		const char *pattern;
	} rows[] = {
		{LOG_KEYS_DEFAULT, LOG_WARN,
		 "^\\{\"time\": ?\"" TIME "\", ?\"level\": ?\"warn\", ?\"msg\": ?\"app waits: 3 of 10\", ?" REST},
		{LOG_KEYS_DEFAULT, LOG_INFO, "\"level\": ?\"info\""},
		{LOG_KEYS_DEFAULT, LOG_ERROR, "\"level\": ?\"error\""},
		{LOG_KEYS_GCP, LOG_WARN,
		 "^\\{\"time\": ?\"" TIME
		 "\", ?\"severity\": ?\"WARNING\", ?\"message\": ?\"app waits: 3 of 10\", ?" REST},
		{LOG_KEYS_GCP, LOG_ERROR, "\"severity\": ?\"ERROR\""},
		{LOG_KEYS_GCP, LOG_INFO, "\"severity\": ?\"INFO\""},
		{LOG_KEYS_ECS, LOG_WARN,
		 "^\\{\"@timestamp\": ?\"" TIME
		 "\", ?\"log.level\": ?\"warn\", ?\"message\": ?\"app waits: 3 of 10\", ?" REST},
	};
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		char text[1024];
		struct log log = {.keys = rows[i].keys};
		emit(&log, rows[i].level, text, sizeof text);
		assert_case(matches(rows[i].pattern, text), text);
		assert_int_equal(log.written, 1);
		assert_int_equal(log.dropped, 0);
	}
}

static void test_text(void **state)
{
	(void)state;
	char text[1024];
	struct log log = {.text = true};
	emit(&log, LOG_WARN, text, sizeof text);
	assert_case(matches("^" TIME " warn +app waits: 3 of 10\n$", text), text);
}

/* A pipe that nobody reads: lines are dropped, not waited for; those that went through are whole. */
static void test_full_pipe(void **state)
{
	(void)state;
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	struct log log = {.fd = ends[1]};
	alarm(10);
	for (int i = 0; i < 3000; i++)
		log_emit(&log, log_line(&log, LOG_INFO, "summary", "a line of some length: %0200d", i));
	alarm(0);
	assert_true(log.dropped > 0);
	assert_true(log.written > 100);
	assert_int_equal(log.written + log.dropped, 3000);
	close(ends[1]);
	uint64_t lines = 0;
	char c;
	char last = 0;
	while (read(ends[0], &c, 1) == 1) {
		lines += c == '\n';
		last = c;
	}
	assert_int_equal(lines, log.written);
	assert_int_equal(last, '\n');
	close(ends[0]);
}

static void test_closed_pipe(void **state)
{
	(void)state;
	int ends[2];
	assert_int_equal(pipe(ends), 0);
	signal(SIGPIPE, SIG_IGN);
	struct log log = {.fd = ends[1]};
	close(ends[0]);
	log_emit(&log, log_line(&log, LOG_INFO, "summary", "x"));
	assert_int_equal(log.dropped, 1);
	close(ends[1]);
	log_emit(&log, log_line(&log, LOG_INFO, "summary", "x")); /* no such descriptor */
	assert_int_equal(log.dropped, 2);
	assert_int_equal(log.written, 0);
}

static void test_full_disk(void **state)
{
	(void)state;
	struct log log = {.fd = open("/dev/full", O_WRONLY | O_CLOEXEC)};
	assert_true(log.fd >= 0);
	log_emit(&log, log_line(&log, LOG_INFO, "summary", "x"));
	assert_int_equal(log.dropped, 1);
	close(log.fd);
}

/* Longer than what a pipe takes at once: dropped rather than cut. */
static void test_too_long(void **state)
{
	(void)state;
	int ends[2];
	char text[5000];
	memset(text, 'x', sizeof text - 1);
	text[sizeof text - 1] = '\0';
	assert_int_equal(pipe(ends), 0);
	struct log log = {.fd = ends[1]};
	json_value *line = log_line(&log, LOG_INFO, "summary", "x");
	json_set_text(line, "long", text);
	log_emit(&log, line);
	assert_int_equal(log.dropped, 1);
	close(ends[0]);
	close(ends[1]);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_keys),        cmocka_unit_test(test_text),      cmocka_unit_test(test_full_pipe),
		cmocka_unit_test(test_closed_pipe), cmocka_unit_test(test_full_disk), cmocka_unit_test(test_too_long),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
