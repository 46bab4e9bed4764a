/* jsonl.h - JSON values, one object a line. The only file that knows Jansson.
 *
 * Building: setters return nothing. When memory runs out, or a value is NULL, that is remembered and
 * the next write of a document returns -ENOMEM, so that a half-built object is never printed.
 * Text that is not UTF-8 (cgroup names may be anything) has its wrong bytes replaced by U+FFFD.
 * Numbers: integers are written in full (counters above 2^53 stay exact up to 2^63 - 1, larger ones become reals);
 * reals with up to 9 significant digits; NaN and infinities become null, since "not there" is not 0.
 */
#ifndef HEADROOM_JSONL_H
#define HEADROOM_JSONL_H

#include "fault.h"

struct json_t; /* Jansson's value, opaque here */
typedef struct json_t json_value;

/* New containers and values, owned by the caller until given to a setter. NULL when out of memory. */
json_value *json_new_object(void);
json_value *json_new_array(void);

/* Releases a value (NULL is fine). With CLEANUP_JSON at the end of its scope. */
void json_release(json_value *v);

/* Setters: a key that exists is replaced. Keys are ASCII and written in the order of setting. */
void json_set_text(json_value *object, const char *key, const char *text); /* NULL text: null */
void json_set_u64(json_value *object, const char *key, uint64_t number);
void json_set_i64(json_value *object, const char *key, int64_t number);
void json_set_real(json_value *object, const char *key, double number);
void json_set_bool(json_value *object, const char *key, bool value);
void json_set_null(json_value *object, const char *key);
void json_set_value(json_value *object, const char *key, json_value *child); /* takes ownership of child */
void json_add_value(json_value *array, json_value *child);                   /* takes ownership of child */
void json_add_text(json_value *array, const char *text);
void json_add_i64(json_value *array, int64_t number);
void json_add_real(json_value *array, double number);

/* Writes the value and a newline, flushed. indent 0 = one line. 0, -ENOMEM, or the errno of the write. */
int json_write(const json_value *v, FILE *out, int indent) MUST_CHECK;

/* The value as text on one line, to be freed; NULL when out of memory. *len without the NUL; may be NULL. */
char *json_text(const json_value *v, size_t *len) MUST_CHECK;

/* Reading. The whole text must be one JSON value; duplicate keys are refused. NULL with a sentence. */
json_value *json_parse(const char *text, size_t len, struct fault *f) MUST_CHECK;
json_value *json_parse_file(const char *path, struct fault *f) MUST_CHECK;

/* Borrowed from the container; NULL when absent, of another type, or the container is NULL. */
const json_value *json_get(const json_value *object, const char *key);
const char *json_get_text(const json_value *object, const char *key);
bool json_get_real(const json_value *object, const char *key, double *out); /* integers count as well */
bool json_get_i64(const json_value *object, const char *key, int64_t *out);
bool json_get_u64(const json_value *object, const char *key, uint64_t *out);
bool json_get_bool(const json_value *object, const char *key, bool *out);
size_t json_length(const json_value *array); /* 0 when it is no array */
const json_value *json_at(const json_value *array, size_t i);
bool json_as_i64(const json_value *v, int64_t *out);
bool json_as_real(const json_value *v, double *out);
const char *json_as_text(const json_value *v);

static inline void cleanup_jsonp(json_value **v)
{
	json_release(*v);
}
#define CLEANUP_JSON __attribute__((cleanup(cleanup_jsonp)))

#endif
