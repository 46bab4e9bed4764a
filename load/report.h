/* report.h - a result, or those of a sweep, on a stream: for people, as JSON, as CSV.
 *
 * Validity is part of every form. All return 0 or the negative errno of the write.
 */
#ifndef HEADROOM_REPORT_H
#define HEADROOM_REPORT_H

#include "result.h"

/* A summary with a histogram; for several results a table with one line for each. */
int report_table(FILE *out, const struct result *results, size_t n) MUST_CHECK;

/* One line: the object of json_result.h; for several {"schema_version", "url", "pattern", "sweep": [...]}. */
int report_json(FILE *out, const struct result *results, size_t n, uint64_t keep_samples) MUST_CHECK;

/* A head and one line for each result. Empty field: not measured. */
int report_csv(FILE *out, const struct result *results, size_t n) MUST_CHECK;

/* What failed, in one line on `out` ("3 of 400 requests failed: 2 x status 500, 1 x timeout (...)"); nothing if nothing
 * did. */
void report_failures(FILE *out, const char *program, const struct result *r);

#endif
