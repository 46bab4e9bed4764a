/* Options as a table: command line, environment twins, bounds, help. */
#include "tests/unit/check.h"

#include "opts.h"

#include <math.h>

static struct {
	bool flag, given;
	const char *text;
	struct opt_list list;
	uint64_t number, free_number;
	double decimal, rate;
	int64_t interval_ns, grace_ns;
	int choice;
} o;

static const char *const choices[] = {"json", "text", NULL};

static const struct opt table[] = {
	{"once", 0, OPT_FLAG, &o.flag, NULL, "one report", NULL, 0, 0, NULL},
	{"name", 'n', OPT_TEXT, &o.text, "TEXT", "a name", NULL, 0, 0, &o.given},
	{"also", 'a', OPT_LIST, &o.list, "TEXT", "one more", NULL, 0, 0, NULL},
	{"workers", 'w', OPT_U64, &o.number, "N", "threads", NULL, 1, 64, NULL},
	{"seed", 0, OPT_U64, &o.free_number, "N", "seed", NULL, 5, 0, NULL},
	{"cpu-ms", 0, OPT_DECIMAL, &o.decimal, "MS", "cpu", NULL, 0, 0, NULL},
	{"log-every", 0, OPT_DURATION, &o.interval_ns, "TIME", "interval", NULL, 1000000, 60000000000u, NULL},
	{"grace", 0, OPT_DURATION, &o.grace_ns, "TIME", "grace", NULL, 1000000, 0, NULL},
	{"rate", 'r', OPT_RATE, &o.rate, "RATE", "rate", NULL, 0, 0, NULL},
	{"output", 'o', OPT_CHOICE, &o.choice, "json|text", "form", choices, 0, 0, NULL},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL, NULL, 0, 0, NULL},
};

static const struct opts_spec spec = {
	.program = "headroom-test",
	.usage = "URL [options]",
	.summary = "A test.",
	.examples = "  headroom-test x\n",
	.notes = "Exit status: 0\n",
	.table = table,
};

static const char *const twins[] = {"HEADROOM_ONCE",  "HEADROOM_NAME",   "HEADROOM_ALSO", "HEADROOM_WORKERS",
				    "HEADROOM_SEED",  "HEADROOM_CPU_MS", "HEADROOM_RATE", "HEADROOM_LOG_EVERY",
				    "HEADROOM_GRACE", "HEADROOM_OUTPUT"};

static int setup(void **state)
{
	(void)state;
	memset(&o, 0, sizeof o);
	for (size_t i = 0; i < ARRAY_LEN(twins); i++)
		unsetenv(twins[i]);
	return 0;
}

/* Parses the words of one line (no quoting). What is left is in argv[1..argc - 1]. */
static char *argv[64];
static int argc;
static int parse(const char *line, struct fault *f)
{
	static char words[2048];
	snprintf(words, sizeof words, "%s", line);
	argc = 0;
	argv[argc++] = (char *)(uintptr_t) "/usr/bin/headroom-test";
	for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	return opts_parse(&spec, &argc, argv, f);
}

static void test_forms(void **state)
{
	(void)state;
	assert_int_equal(parse("--once --name=a=b -w7 --cpu-ms 0.25 --log-every=50ms -r 20/s -o text --seed 9", NULL),
			 OPTS_RUN);
	assert_int_equal(argc, 1);
	assert_true(o.flag && o.given);
	assert_string_equal(o.text, "a=b");
	assert_int_equal(o.number, 7);
	assert_int_equal(o.free_number, 9);
	assert_true(fabs(o.decimal - 0.25) < 1e-12);
	assert_int_equal(o.interval_ns, 50000000);
	assert_true(fabs(o.rate - 20) < 1e-12);
	assert_int_equal(o.choice, 1);
	assert_int_equal(parse("-w 8 -o=json --name x", NULL), OPTS_RUN);
	assert_int_equal(o.number, 8);
	assert_int_equal(o.choice, 0);
	/* the last one wins */
	assert_int_equal(parse("-w 8 --workers 9", NULL), OPTS_RUN);
	assert_int_equal(o.number, 9);
	/* an option's value may look like an option */
	assert_int_equal(parse("--name --once", NULL), OPTS_RUN);
	assert_string_equal(o.text, "--once");
	assert_int_equal(parse("--name=", NULL), OPTS_RUN);
	assert_string_equal(o.text, "");
}

static void test_flags(void **state)
{
	(void)state;
	o.flag = true;
	assert_int_equal(parse("--once=no", NULL), OPTS_RUN);
	assert_false(o.flag);
	assert_int_equal(parse("--once=TRUE", NULL), OPTS_RUN);
	assert_true(o.flag);
	struct fault f = {0};
	assert_fault(parse("--once=maybe", &f), &f, EINVAL);
}

static void test_positional(void **state)
{
	(void)state;
	assert_int_equal(parse("a --once b - c", NULL), OPTS_RUN);
	assert_int_equal(argc, 5);
	assert_string_equal(argv[1], "a");
	assert_string_equal(argv[2], "b");
	assert_string_equal(argv[3], "-");
	assert_string_equal(argv[4], "c");
	assert_null(argv[5]);
	assert_int_equal(parse("a -- --once -h", NULL), OPTS_RUN);
	assert_int_equal(argc, 4);
	assert_string_equal(argv[2], "--once");
	assert_string_equal(argv[3], "-h");
	/* what `kubectl run` users type */
	assert_int_equal(parse("headroom-test --once x", NULL), OPTS_RUN);
	assert_int_equal(argc, 2);
	assert_string_equal(argv[1], "x");
	assert_int_equal(parse("/bin/headroom-test x", NULL), OPTS_RUN);
	assert_int_equal(argc, 2);
	/* only as the first word */
	assert_int_equal(parse("x headroom-test", NULL), OPTS_RUN);
	assert_int_equal(argc, 3);
	assert_int_equal(parse("", NULL), OPTS_RUN);
	assert_int_equal(argc, 1);
}

static void test_errors(void **state)
{
	(void)state;
	static const struct {
		const char *line;
		int err;
		const char *says;
	} cases[] = {
		{"--onc", EINVAL, "did you mean --once?"},
		{"--outptu json", EINVAL, "did you mean --output?"},
		{"--completely-else", EINVAL, "--help"},
		{"--unknown-option-with-a-name-that-is-longer-than-any-name-of-an-option-could-ever-be", EINVAL,
		 "--help"},
		{"--", 0, NULL},
		{"-x", EINVAL, "--help"},
		{"--name", EINVAL, "needs a value"},
		{"-w", EINVAL, "needs a value"},
		{"-w 0", ERANGE, "1 to 64"},
		{"-w 65", ERANGE, "1 to 64"},
		{"-w -1", EINVAL, "--workers"},
		{"-w 1x", EINVAL, "--workers"},
		{"-w 18446744073709551616", ERANGE, "too large"},
		{"--seed 4", ERANGE, "at least 5"},
		{"--cpu-ms -1", EINVAL, "--cpu-ms"},
		{"--log-every 10", EINVAL, "needs a unit"},
		{"--log-every 0", ERANGE, "1ms to 60s"},
		{"--log-every 2m", ERANGE, "1ms to 60s"},
		{"--grace 1us", ERANGE, "at least 1ms"},
		{"--rate 0", EINVAL, "above 0"},
		{"-o xml", EINVAL, "json, text"},
		{"-o", EINVAL, "needs a value"},
		{"--=x", EINVAL, NULL},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		struct fault f = {0};
		int rc = parse(cases[i].line, &f);
		assert_case(rc == -cases[i].err && f.err == cases[i].err, cases[i].line);
		assert_case(!cases[i].says || strstr(f.text, cases[i].says), cases[i].line);
	}
	assert_int_equal(o.number, 0);
	assert_int_equal(o.interval_ns, 0);
}

static void test_environment(void **state)
{
	(void)state;
	o.number = 3;
	setenv("HEADROOM_WORKERS", "12", 1);
	setenv("HEADROOM_LOG_EVERY", "2s", 1);
	setenv("HEADROOM_ONCE", "yes", 1);
	setenv("HEADROOM_NAME", "", 1); /* counts as not set */
	setenv("HEADROOM_ALSO", "x", 1);
	assert_int_equal(parse("", NULL), OPTS_RUN);
	assert_int_equal(o.number, 12);
	assert_int_equal(o.interval_ns, 2 * NSEC_PER_SEC);
	assert_true(o.flag);
	assert_false(o.given);
	assert_null(o.text);
	assert_int_equal(o.list.n, 1);
	setenv("HEADROOM_NAME", "env", 1);
	/* the command line wins, also over a value that is wrong */
	setenv("HEADROOM_WORKERS", "junk", 1);
	assert_int_equal(parse("-w 4 --once=no", NULL), OPTS_RUN);
	assert_int_equal(o.number, 4);
	assert_false(o.flag);
	assert_true(o.given);
	assert_string_equal(o.text, "env");
	struct fault f = {0};
	assert_fault(parse("", &f), &f, EINVAL);
	assert_non_null(strstr(f.text, "HEADROOM_WORKERS"));
}

static void test_list(void **state)
{
	(void)state;
	char line[2048] = "";
	assert_int_equal(parse("-a x --also y --also=z", NULL), OPTS_RUN);
	assert_int_equal(o.list.n, 3);
	assert_string_equal(o.list.values[1], "y");
	o.list.n = 0;
	for (int i = 0; i < 31; i++)
		strcat(line, "-a x ");
	assert_int_equal(parse(line, NULL), OPTS_RUN);
	assert_int_equal(parse(line, NULL), OPTS_RUN);
	assert_int_equal(o.list.n, 62);
	struct fault f = {0};
	assert_fault(parse("-a x -a x -a x", &f), &f, ERANGE);
	assert_int_equal(o.list.n, OPT_LIST_MAX);
}

static void test_help(void **state)
{
	(void)state;
	char *text = NULL;
	size_t size = 0;
	assert_int_equal(parse("--once --help --nonsense", NULL), OPTS_HELP);
	assert_int_equal(parse("-h", NULL), OPTS_HELP);
	assert_int_equal(parse("-V", NULL), OPTS_VERSION);
	assert_int_equal(parse("--version", NULL), OPTS_VERSION);
	FILE *out = open_memstream(&text, &size);
	opts_write_help(&spec, out);
	fclose(out);
	assert_memory_equal(text, "A test.\n\nUsage: headroom-test URL [options]\n", 44);
	assert_non_null(strstr(text, "Examples:\n  headroom-test x\n"));
	assert_non_null(strstr(text, "-o, --output json|text"));
	assert_non_null(strstr(text, "--log-every TIME"));
	assert_non_null(strstr(text, "Exit status: 0\n"));
	free(text);
}

/* opts_begin() with everything that it wrote on both streams. */
static int begin(const char *line, char out[1000], char err[1000])
{
	FILE *o_stream = fmemopen(out, 1000, "w");
	FILE *e_stream = fmemopen(err, 1000, "w");
	parse("", NULL);
	static char words[512];
	snprintf(words, sizeof words, "%s", line);
	argc = 1;
	for (char *w = strtok(words, " "); w; w = strtok(NULL, " "))
		argv[argc++] = w;
	argv[argc] = NULL;
	int status = opts_begin(&spec, &argc, argv, o_stream, e_stream);
	fclose(o_stream);
	fclose(e_stream);
	return status;
}

static void test_begin(void **state)
{
	(void)state;
	char out[1000] = "";
	char err[1000] = "";
	assert_int_equal(begin("--once", out, err), -1);
	assert_int_equal(begin("--nonsense", out, err), 2);
	assert_memory_equal(err, "headroom-test: unknown option", 29);
	memset(err, 0, sizeof err);
	assert_int_equal(begin("--version", out, err), 0);
	assert_memory_equal(out, "headroom-test ", 14);
	assert_int_equal(err[0], 0);
	assert_true(strlen(opts_version()) > 0);
	/* nobody can read the help */
	FILE *full = fopen("/dev/full", "w");
	if (full) {
		argc = 2;
		argv[1] = (char *)(uintptr_t) "--help";
		assert_int_equal(opts_begin(&spec, &argc, argv, full, stderr), 1);
		fclose(full);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup(test_forms, setup),       cmocka_unit_test_setup(test_flags, setup),
		cmocka_unit_test_setup(test_positional, setup),  cmocka_unit_test_setup(test_errors, setup),
		cmocka_unit_test_setup(test_environment, setup), cmocka_unit_test_setup(test_list, setup),
		cmocka_unit_test_setup(test_help, setup),        cmocka_unit_test_setup(test_begin, setup),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
