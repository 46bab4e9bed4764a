/* json_result.h - a result as JSON, and back (for merging). The keys are a contract: see README, "headroom-load".
 *
 * Times in keys that end in _ms are milliseconds with ns resolution. What was not measured is null. The object carries
 * mergeable histograms and, when there are at most `keep` of them, all samples in ns.
 */
#ifndef HEADROOM_JSON_RESULT_H
#define HEADROOM_JSON_RESULT_H

#include "jsonl.h"
#include "result.h"

enum { JSON_RESULT_SCHEMA = 1 };

/* A new value, owned by the caller; errors show when it is written (jsonl.h). */
json_value *json_from_result(const struct result *r, uint64_t keep);

/* Fills r (to be freed by the caller in any case) from such an object. -EINVAL with a sentence for one that is not
 * ours. */
int json_to_result(const json_value *object, struct result *r, struct fault *f) MUST_CHECK;

#endif
