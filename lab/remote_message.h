/* remote_message.h - the short text that Kubernetes keeps with a container that has ended.
 */
#ifndef HEADROOM_LAB_REMOTE_MESSAGE_H
#define HEADROOM_LAB_REMOTE_MESSAGE_H

#include "fault.h"

/* Where it is taken from, unless the pod says otherwise; and how much of it is kept. */
#define REMOTE_MESSAGE_PATH "/dev/termination-log"
enum { REMOTE_MESSAGE_MAX = 4096 };

/* Cuts a text behind its last line that fits: its new length. */
size_t remote_message_cut(char *text);

/* Writes it to `path`, which is made if need be; NULL: to REMOTE_MESSAGE_PATH, if that is there and can be written. */
int remote_message_write(const char *path, const char *text, size_t len, struct fault *f) MUST_CHECK;

#endif
