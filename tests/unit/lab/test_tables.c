/* Text tables, compared as a whole; wrapped text. */
#include "tests/unit/check.h"

#include "lab/tables.h"

#include <math.h>

static char *text_of(void (*write)(FILE *out))
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	write(out);
	fclose(out);
	return text;
}

static const struct table_column columns[] = {
	{NULL, "limit", true},        {"p99 (ms)", "here", false}, {"p99 (ms)", "published", false},
	{"a long group", "x", false}, {NULL, "note", true},
};

static void fill(struct table *t)
{
	table_init(t, columns, ARRAY_LEN(columns));
	table_cell(t, "0.25");
	table_number(t, 61.64, 1, "");
	table_number(t, 202.2, 1, "");
	table_cell(t, "%d", 7);
	table_cell(t, "first");
	table_cell(t, "none");
	table_number(t, 5.25, 1, "");
	table_number(t, (double)NAN, 1, "");
	table_cell(t, "12345");
	table_cell(t, "s");
}

static void write_plain(FILE *out)
{
	struct table t;
	fill(&t);
	assert_int_equal(table_write(&t, out, false), 0);
	table_release(&t);
}

static void write_colored(FILE *out)
{
	struct table t;
	fill(&t);
	assert_int_equal(table_write(&t, out, true), 0);
	table_release(&t);
}

static void test_whole_table(void **state)
{
	(void)state;
	CLEANUP_FREE char *text = text_of(write_plain);
	assert_string_equal(text, "       p99 (ms) ------  a long group\n"
				  "limit  here  published             x  note\n"
				  "0.25   61.6      202.2             7  first\n"
				  "none    5.2          -         12345  s\n"
				  "\n");
}

static void test_no_line_ends_in_a_blank(void **state)
{
	(void)state;
	CLEANUP_FREE char *text = text_of(write_plain);
	assert_null(strstr(text, " \n"));
}

static void test_style_is_only_around_the_head(void **state)
{
	(void)state;
	CLEANUP_FREE char *text = text_of(write_colored);
	assert_int_equal(strncmp(text, "\033[1m", 4), 0);
	/* one to begin with, one to end with, and that one before the first row */
	size_t escapes = 0;
	size_t last = 0;
	for (size_t i = 0; text[i]; i++) {
		if (text[i] == '\033') {
			escapes++;
			last = i;
		}
	}
	assert_int_equal(escapes, 2);
	assert_non_null(strstr(text + last, "0.25"));
}

static void write_long_cell(FILE *out)
{
	static const struct table_column one[] = {{NULL, "h", true}};
	struct table t;
	table_init(&t, one, 1);
	table_cell(&t, "%0100d", 0);
	assert_int_equal(table_write(&t, out, false), 0);
	table_release(&t);
}

static void test_long_cells_are_cut(void **state)
{
	(void)state;
	CLEANUP_FREE char *text = text_of(write_long_cell);
	assert_int_equal(strlen(text), strlen("h\n") + TABLE_CELL_MAX - 1 + strlen("\n\n"));
}

static void write_many(FILE *out)
{
	struct table t;
	table_init(&t, columns, ARRAY_LEN(columns));
	for (int i = 0; i < 5000; i++)
		table_cell(&t, "%d", i);
	assert_int_equal(t.n_rows, 1000);
	assert_int_equal(table_write(&t, out, false), 0);
	table_release(&t);
}

static void test_many_rows(void **state)
{
	(void)state;
	CLEANUP_FREE char *text = text_of(write_many);
	assert_non_null(strstr(text, "4995"));
}

static void write_wrapped(FILE *out)
{
	tables_wrap(out, "order", "one two  three four", 8, 16);
	tables_wrap(out, "", "unbreakable-word-longer-than-the-line x", 0, 10);
}

static void test_wrap(void **state)
{
	(void)state;
	CLEANUP_FREE char *text = text_of(write_wrapped);
	assert_string_equal(text, "order   one two\n"
				  "        three\n"
				  "        four\n"
				  "unbreakable-word-longer-than-the-line\n"
				  "x\n");
}

static void test_a_file_is_no_terminal(void **state)
{
	(void)state;
	CLEANUP_FCLOSE FILE *f = tmpfile();
	assert_non_null(f);
	setenv("TERM", "xterm", 1);
	unsetenv("NO_COLOR");
	assert_false(tables_use_color(f));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_table),
		cmocka_unit_test(test_no_line_ends_in_a_blank),
		cmocka_unit_test(test_style_is_only_around_the_head),
		cmocka_unit_test(test_long_cells_are_cut),
		cmocka_unit_test(test_many_rows),
		cmocka_unit_test(test_wrap),
		cmocka_unit_test(test_a_file_is_no_terminal),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
