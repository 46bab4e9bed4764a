/* install.h - `headroom-sidecar install DIR`: copies its own executable to DIR/headroom-sidecar. An image from scratch
 * has no cp, so this is how an init container puts the binary into a volume that the application's container shares.
 */
#ifndef HEADROOM_SIDECAR_INSTALL_H
#define HEADROOM_SIDECAR_INSTALL_H

#include "fault.h"

/* Copies /proc/self/exe into the existing folder `dir`, mode 0755, on disk when it returns. The name appears at once
 * and whole (written under another name, then renamed), also over a copy that is running; nothing is left after a
 * failure. 0, or a negative errno with a sentence that says what to change. */
int install_self(const char *dir, struct fault *f) MUST_CHECK;

enum { INSTALL_MODE = 0755 };
#define INSTALL_NAME "headroom-sidecar"

#endif
