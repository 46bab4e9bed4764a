/* work.h - the CPU work: rounds of SHA-256, each over the 32 bytes of the round before.
 *
 * A chain cannot be shortened or done in parallel, fits into the first-level cache and allocates
 * nothing, so that its cost depends on the speed of the CPU alone. The only file that knows libcrypto.
 */
#ifndef HEADROOM_PROBE_WORK_H
#define HEADROOM_PROBE_WORK_H

#include "fault.h"
#include "stop.h"

enum { WORK_DIGEST_BYTES = 32, WORK_DIGEST_TEXT = 2 * WORK_DIGEST_BYTES + 1 };

struct work_context; /* belongs to one thread at a time */

/* NULL with a sentence when libcrypto offers no SHA-256. */
struct work_context *work_open(struct fault *f) MUST_CHECK;
void work_close(struct work_context *w);

/* Does `rounds` rounds, beginning with 32 zero bytes. The digest is the same for the same number of
 * rounds: a client can check that the work has been done. Looks at stop (may be NULL) every 0.1 ms or
 * so. 0, -ECANCELED, or -EIO when libcrypto fails. */
int work_rounds(struct work_context *w, uint64_t rounds, const struct stop *stop,
		uint8_t digest[WORK_DIGEST_BYTES]) MUST_CHECK;

/* Lower-case hexadecimal. */
void work_digest_text(const uint8_t digest[WORK_DIGEST_BYTES], char out[WORK_DIGEST_TEXT]);

#endif
