/* How errors travel: one sentence of one line, whatever it is made of. */
#include "tests/unit/check.h"

static void test_set(void **state)
{
	(void)state;
	struct fault f = {0};
	assert_string_equal(fault_text(NULL), "no error");
	assert_string_equal(fault_text(&f), "no error");
	assert_int_equal(fault_set(&f, ENOENT, "cannot open %s", "x"), -ENOENT);
	assert_int_equal(f.err, ENOENT);
	assert_string_equal(fault_text(&f), "cannot open x: No such file or directory");
	/* a negative number: the sentence says it all */
	assert_int_equal(fault_set(&f, -EINVAL, "the period is %d", 0), -EINVAL);
	assert_int_equal(f.err, EINVAL);
	assert_string_equal(fault_text(&f), "the period is 0");
	/* nobody wants to know */
	assert_int_equal(fault_set(NULL, ENOENT, "x"), -ENOENT);
	assert_int_equal(fault_set(NULL, -ENOENT, "x"), -ENOENT);
}

static void test_prefix(void **state)
{
	(void)state;
	struct fault f = {0};
	fault_set(&f, ENOENT, "cannot open x");
	assert_int_equal(fault_prefix(&f, -ENOENT, "pod %s", "1f2e"), -ENOENT);
	assert_string_equal(fault_text(&f), "pod 1f2e: cannot open x: No such file or directory");
	assert_int_equal(f.err, ENOENT);
	assert_int_equal(fault_prefix(NULL, -7, "x"), -7);
}

static void test_long(void **state)
{
	(void)state;
	struct fault f;
	char big[2000];
	memset(big, 'x', sizeof big - 1);
	big[sizeof big - 1] = '\0';
	fault_set(&f, ENOENT, "%s", big);
	assert_int_equal(strlen(f.text), sizeof f.text - 1);
	fault_prefix(&f, -ENOENT, "%s", big);
	assert_int_equal(strlen(f.text), sizeof f.text - 1);
	fault_set(&f, -EINVAL, "short");
	fault_prefix(&f, -EINVAL, "%s", big);
	assert_int_equal(strlen(f.text), sizeof f.text - 1);
	/* a sentence that just fills it, and one in front */
	big[sizeof f.text - 1] = '\0';
	fault_set(&f, -EINVAL, "%s", big);
	fault_prefix(&f, -EINVAL, "ctx");
	assert_memory_equal(f.text, "ctx: xxx", 8);
	assert_int_equal(strlen(f.text), sizeof f.text - 1);
}

static void test_control_characters(void **state)
{
	(void)state;
	struct fault f;
	fault_set(&f, -EINVAL, "a\nb\tc\x1b[2J\x7f \xc3\xa4");
	assert_string_equal(f.text, "a?b?c?[2J? \xc3\xa4");
	fault_prefix(&f, -EINVAL, "x\ny");
	assert_string_equal(f.text, "x?y: a?b?c?[2J? \xc3\xa4");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_set),
		cmocka_unit_test(test_prefix),
		cmocka_unit_test(test_long),
		cmocka_unit_test(test_control_characters),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
