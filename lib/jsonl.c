#include "jsonl.h"

#include <errno.h>
#include <jansson.h>
#include <math.h>
#include <string.h>

/* One document is built and written at a time per thread. */
static _Thread_local bool out_of_memory;

static void give(json_value *object, const char *key, json_value *child)
{
	/* takes the child also when it fails, and when there is no object */
	if (json_object_set_new_nocheck(object, key, child) < 0)
		out_of_memory = true;
}

/* Length of the valid UTF-8 sequence at p, 0 when the byte there begins none. */
static size_t utf8_length(const unsigned char *p)
{
	static const struct {
		unsigned char mask, lead, low, high; /* bounds of the second byte */
		size_t len;
	} forms[] = {
		{0x80, 0x00, 0, 0, 1},       {0xff, 0xe0, 0xa0, 0xbf, 3}, {0xff, 0xed, 0x80, 0x9f, 3},
		{0xf0, 0xe0, 0x80, 0xbf, 3}, {0xff, 0xf0, 0x90, 0xbf, 4}, {0xff, 0xf4, 0x80, 0x8f, 4},
		{0xfc, 0xf0, 0x80, 0xbf, 4}, {0xe0, 0xc0, 0x80, 0xbf, 2},
	};
	if (*p == 0xc0 || *p == 0xc1)
		return 0;
	for (size_t i = 0; i < ARRAY_LEN(forms); i++) {
		if ((*p & forms[i].mask) != forms[i].lead)
			continue;
		if (forms[i].len > 1 && (p[1] < forms[i].low || p[1] > forms[i].high))
			return 0;
		for (size_t k = 2; k < forms[i].len; k++)
			if ((p[k] & 0xc0) != 0x80)
				return 0;
		return forms[i].len;
	}
	return 0;
}

static json_value *new_text(const char *text)
{
	json_value *v = json_string(text);
	if (v)
		return v;
	/* not UTF-8 (or out of memory): once more with the wrong bytes replaced, at most three for one */
	size_t len = strlen(text);
	CLEANUP_FREE char *clean = malloc(len * 3 + 1);
	if (!clean)
		return NULL;
	char *w = clean;
	for (const unsigned char *p = (const unsigned char *)text; *p;) {
		size_t n = utf8_length(p);
		memcpy(w, n ? (const char *)p : "\xef\xbf\xbd", n ? n : 3);
		w += n ? n : 3;
		p += n ? n : 1;
	}
	*w = '\0';
	return json_string(clean);
}

static json_value *new_u64(uint64_t number)
{
	/* Jansson's integers are signed; no counter of a kernel gets beyond them */
	return number <= INT64_MAX ? json_integer((json_int_t)number) : json_real((double)number);
}

static json_value *new_real(double number)
{
	return isfinite(number) ? json_real(number) : json_null();
}

json_value *json_new_object(void)
{
	return json_object();
}

json_value *json_new_array(void)
{
	return json_array();
}

void json_release(json_value *v)
{
	json_decref(v);
}

void json_set_text(json_value *object, const char *key, const char *text)
{
	give(object, key, text ? new_text(text) : json_null());
}

void json_set_u64(json_value *object, const char *key, uint64_t number)
{
	give(object, key, new_u64(number));
}

void json_set_i64(json_value *object, const char *key, int64_t number)
{
	give(object, key, json_integer(number));
}

void json_set_real(json_value *object, const char *key, double number)
{
	give(object, key, new_real(number));
}

void json_set_bool(json_value *object, const char *key, bool value)
{
	give(object, key, json_boolean(value));
}

void json_set_null(json_value *object, const char *key)
{
	give(object, key, json_null());
}

void json_set_value(json_value *object, const char *key, json_value *child)
{
	give(object, key, child);
}

void json_add_value(json_value *array, json_value *child)
{
	if (json_array_append_new(array, child) < 0)
		out_of_memory = true;
}

void json_add_text(json_value *array, const char *text)
{
	json_add_value(array, new_text(text));
}

void json_add_i64(json_value *array, int64_t number)
{
	json_add_value(array, json_integer(number));
}

void json_add_real(json_value *array, double number)
{
	json_add_value(array, new_real(number));
}

static bool document_is_whole(const json_value *v)
{
	bool whole = v && !out_of_memory;
	out_of_memory = false;
	return whole;
}

int json_write(const json_value *v, FILE *out, int indent)
{
	if (!document_is_whole(v))
		return -ENOMEM;
	errno = 0;
	size_t flags = JSON_REAL_PRECISION(9) | JSON_ENCODE_ANY | (indent ? JSON_INDENT((size_t)indent) : 0);
	if (json_dumpf(v, out, flags) < 0 || fputc('\n', out) == EOF || fflush(out) == EOF)
		return errno ? -errno : -EIO;
	return 0;
}

char *json_text(const json_value *v, size_t *len)
{
	if (!document_is_whole(v))
		return NULL;
	char *text = json_dumps(v, JSON_REAL_PRECISION(9) | JSON_ENCODE_ANY);
	if (text && len)
		*len = strlen(text);
	return text;
}

static const size_t parse_flags = JSON_REJECT_DUPLICATES | JSON_DECODE_ANY;

json_value *json_parse(const char *text, size_t len, struct fault *f)
{
	json_error_t error;
	json_value *v = json_loadb(text, len, parse_flags, &error);
	if (!v)
		fault_set(f, -EINVAL, "line %d, column %d: %s", error.line, error.column, error.text);
	return v;
}

json_value *json_parse_file(const char *path, struct fault *f)
{
	json_error_t error;
	CLEANUP_FCLOSE FILE *in = fopen(path, "re");
	if (!in) {
		fault_set(f, errno, "cannot open %s", path);
		return NULL;
	}
	json_value *v = json_loadf(in, parse_flags, &error);
	if (!v)
		fault_set(f, -EINVAL, "%s, line %d: %s", path, error.line, error.text);
	return v;
}

const json_value *json_get(const json_value *object, const char *key)
{
	return json_object_get(object, key);
}

const char *json_as_text(const json_value *v)
{
	return json_string_value(v);
}

bool json_as_i64(const json_value *v, int64_t *out)
{
	if (!json_is_integer(v))
		return false;
	*out = json_integer_value(v);
	return true;
}

bool json_as_real(const json_value *v, double *out)
{
	if (!json_is_number(v))
		return false;
	*out = json_number_value(v);
	return true;
}

const char *json_get_text(const json_value *object, const char *key)
{
	return json_as_text(json_get(object, key));
}

bool json_get_real(const json_value *object, const char *key, double *out)
{
	return json_as_real(json_get(object, key), out);
}

bool json_get_i64(const json_value *object, const char *key, int64_t *out)
{
	return json_as_i64(json_get(object, key), out);
}

bool json_get_u64(const json_value *object, const char *key, uint64_t *out)
{
	const json_value *v = json_get(object, key);
	if (!json_is_integer(v) || json_integer_value(v) < 0)
		return false;
	*out = (uint64_t)json_integer_value(v);
	return true;
}

bool json_get_bool(const json_value *object, const char *key, bool *out)
{
	const json_value *v = json_get(object, key);
	if (!json_is_boolean(v))
		return false;
	*out = json_is_true(v);
	return true;
}

size_t json_length(const json_value *array)
{
	return json_array_size(array);
}

const json_value *json_at(const json_value *array, size_t i)
{
	return json_array_get(array, i);
}
