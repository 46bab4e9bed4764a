/* health.h - `headroom-sidecar health`: asks a running sidecar (or probe) for /healthz. Compose and docker need a
 * command for that, and an image from scratch has no curl.
 */
#ifndef HEADROOM_SIDECAR_HEALTH_H
#define HEADROOM_SIDECAR_HEALTH_H

#include "fault.h"

/* Where the sidecar listens if nobody says otherwise in the documentation. */
#define HEALTH_DEFAULT_LISTEN "127.0.0.1:9464"

/* `listen` as the server got it: one that listens everywhere (0.0.0.0, [::], *) is asked on the loopback. 0 when the
 * answer is 200 within 2 s, else a negative errno with a sentence. */
int health_check(const char *listen, struct fault *f) MUST_CHECK;

/* The status of an HTTP response that begins with this text, or -1. Pure. */
int health_status(const char *response);

#endif
