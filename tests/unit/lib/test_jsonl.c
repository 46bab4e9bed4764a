/* JSON values: building, writing, reading. */
#include "tests/unit/check.h"

#include "jsonl.h"

#include <math.h>

static void assert_text(json_value *v, const char *expected)
{
	size_t len = 0;
	char *text = json_text(v, &len);
	assert_non_null(text);
	assert_string_equal(text, expected);
	assert_int_equal(len, strlen(expected));
	free(text);
}

static void test_build(void **state)
{
	(void)state;
	CLEANUP_JSON json_value *o = json_new_object();
	json_value *list = json_new_array();
	json_set_text(o, "t", "x\"\n\\");
	json_set_text(o, "n", NULL);
	json_set_u64(o, "u", UINT64_C(9007199254740993));
	json_set_i64(o, "i", -5);
	json_set_real(o, "r", 0.25);
	json_set_bool(o, "b", true);
	json_set_null(o, "z");
	json_add_text(list, "a");
	json_add_i64(list, 2);
	json_add_real(list, 1.5);
	json_add_value(list, json_new_object());
	json_set_value(o, "l", list);
	assert_text(o, "{\"t\": \"x\\\"\\n\\\\\", \"n\": null, \"u\": 9007199254740993, \"i\": -5, \"r\": 0.25, "
		       "\"b\": true, \"z\": null, \"l\": [\"a\", 2, 1.5, {}]}");
	/* a key that exists is replaced, at its place */
	json_set_i64(o, "t", 1);
	char *text = json_text(o, NULL);
	assert_memory_equal(text, "{\"t\": 1, ", 9);
	free(text);
}

static void test_numbers(void **state)
{
	(void)state;
	CLEANUP_JSON json_value *o = json_new_object();
	json_set_real(o, "a", NAN);
	json_set_real(o, "b", INFINITY);
	json_set_real(o, "c", 1.0 / 3);
	json_set_u64(o, "d", INT64_MAX);
	assert_text(o, "{\"a\": null, \"b\": null, \"c\": 0.333333333, \"d\": 9223372036854775807}");
	/* above 2^63 it becomes a real, as said */
	double large = 0;
	json_set_u64(o, "e", UINT64_MAX);
	assert_true(json_get_real(o, "e", &large) && large > 1.8e19);
}

static void test_wrong_utf8(void **state)
{
	(void)state;
	static const struct {
		const char *raw, *json;
	} cases[] = {
		{"a\xff"
		 "b",
		 "\"a\xef\xbf\xbd"
		 "b\""},
		{"\xc3\xa4", "\"\xc3\xa4\""},
		{"\xc3", "\"\xef\xbf\xbd\""},
		{"\xc0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xe0\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xed\xa0\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""}, /* a surrogate */
		{"\xe2\x82\xac\xff", "\"\xe2\x82\xac\xef\xbf\xbd\""},
		{"\xf0\x9f\x98\x80\xfe", "\"\xf0\x9f\x98\x80\xef\xbf\xbd\""},
		{"\xf4\x90\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\xf5\x80\x80\x80", "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\""},
		{"\x80\x01", "\"\xef\xbf\xbd\\u0001\""},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		CLEANUP_JSON json_value *a = json_new_array();
		char expected[100];
		json_add_text(a, cases[i].raw);
		snprintf(expected, sizeof expected, "[%s]", cases[i].json);
		assert_text(a, expected);
	}
}

/* A half-built document is never printed, and the next one is not hurt by it. */
static void test_missing_values(void **state)
{
	(void)state;
	CLEANUP_JSON json_value *o = json_new_object();
	json_set_value(o, "x", NULL);
	assert_null(json_text(o, NULL));
	assert_text(o, "{}");
	json_set_i64(NULL, "x", 1);
	char buf[10];
	FILE *out = fmemopen(buf, sizeof buf, "w");
	assert_int_equal(json_write(o, out, 0), -ENOMEM);
	assert_int_equal(json_write(NULL, out, 0), -ENOMEM);
	json_add_value(NULL, json_new_object());
	assert_int_equal(json_write(o, out, 0), -ENOMEM);
	fclose(out);
	json_release(NULL);
}

static void test_write(void **state)
{
	(void)state;
	CLEANUP_JSON json_value *o = json_new_object();
	char *text = NULL;
	size_t size = 0;
	json_set_i64(o, "a", 1);
	FILE *out = open_memstream(&text, &size);
	assert_int_equal(json_write(o, out, 0), 0);
	assert_int_equal(json_write(o, out, 2), 0);
	fclose(out);
	assert_string_equal(text, "{\"a\": 1}\n{\n  \"a\": 1\n}\n");
	free(text);
	FILE *full = fopen("/dev/full", "w");
	if (full) {
		assert_int_equal(json_write(o, full, 0), -ENOSPC);
		fclose(full);
	}
}

static json_value *parse(const char *text, struct fault *f)
{
	return json_parse(text, strlen(text), f);
}

static void test_parse(void **state)
{
	(void)state;
	CLEANUP_JSON json_value *v = parse(
		"{\"t\": \"x\", \"i\": -5, \"u\": 7, \"r\": 2.5, \"b\": false, \"l\": [1, 2.5, \"s\"], \"z\": null}",
		NULL);
	int64_t i = 0;
	uint64_t u = 0;
	double r = 0;
	bool b = true;
	assert_non_null(v);
	assert_string_equal(json_get_text(v, "t"), "x");
	assert_true(json_get_i64(v, "i", &i) && i == -5);
	assert_true(json_get_u64(v, "u", &u) && u == 7);
	assert_true(json_get_real(v, "r", &r) && fabs(r - 2.5) < 1e-12);
	assert_true(json_get_real(v, "i", &r) && fabs(r + 5) < 1e-12);
	assert_true(json_get_bool(v, "b", &b) && !b);
	/* absent, or of another type */
	assert_false(json_get_u64(v, "i", &u));
	assert_false(json_get_i64(v, "r", &i));
	assert_false(json_get_i64(v, "t", &i));
	assert_false(json_get_real(v, "t", &r));
	assert_false(json_get_bool(v, "i", &b));
	assert_false(json_get_bool(v, "none", &b));
	assert_false(json_get_u64(v, "none", &u));
	assert_null(json_get_text(v, "i"));
	assert_null(json_get_text(v, "z"));
	assert_null(json_get(v, "none"));
	assert_null(json_get(NULL, "x"));
	const json_value *l = json_get(v, "l");
	assert_int_equal(json_length(l), 3);
	assert_true(json_as_i64(json_at(l, 0), &i) && i == 1);
	assert_true(json_as_real(json_at(l, 1), &r) && fabs(r - 2.5) < 1e-12);
	assert_string_equal(json_as_text(json_at(l, 2)), "s");
	assert_null(json_at(l, 3));
	assert_int_equal(json_length(v), 0);
	assert_int_equal(json_length(NULL), 0);
}

static void test_parse_broken(void **state)
{
	(void)state;
	static const char *const texts[] = {"",
					    "{",
					    "{\"a\": 1, \"a\": 2}",
					    "{} x",
					    "{'a': 1}",
					    "[1,]",
					    "nul",
					    "\"\xff\"",
					    "{\"a\": NaN}",
					    "99999999999999999999"};
	for (size_t i = 0; i < ARRAY_LEN(texts); i++) {
		struct fault f = {0};
		json_value *v = parse(texts[i], &f);
		assert_case(!v && f.err == EINVAL && f.text[0], texts[i]);
	}
	CLEANUP_JSON json_value *scalar = parse("3", NULL);
	assert_non_null(scalar);
}

static void test_parse_file(void **state)
{
	(void)state;
	char folder[64];
	char path[128];
	struct fault f = {0};
	folder_make(folder);
	file_write(folder, "good", "{\"a\": 1}\n");
	file_write(folder, "bad", "{\n\"a\"\n");
	snprintf(path, sizeof path, "%s/good", folder);
	CLEANUP_JSON json_value *v = json_parse_file(path, &f);
	assert_non_null(v);
	snprintf(path, sizeof path, "%s/bad", folder);
	assert_null(json_parse_file(path, &f));
	assert_int_equal(f.err, EINVAL);
	assert_non_null(strstr(f.text, "/bad, line "));
	snprintf(path, sizeof path, "%s/none", folder);
	assert_null(json_parse_file(path, &f));
	assert_int_equal(f.err, ENOENT);
	folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_build),        cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_wrong_utf8),   cmocka_unit_test(test_missing_values),
		cmocka_unit_test(test_write),        cmocka_unit_test(test_parse),
		cmocka_unit_test(test_parse_broken), cmocka_unit_test(test_parse_file),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
