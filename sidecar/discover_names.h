/* discover_names.h - what a container and its pod are called: reads a /proc/PID/mountinfo of any size. */
#ifndef HEADROOM_SIDECAR_DISCOVER_NAMES_H
#define HEADROOM_SIDECAR_DISCOVER_NAMES_H

#include "discover_text.h"

/* Fills pod_uid and name, begin with empty strings: they stay empty when they cannot be found (any more). file_name is
 * below proc_fd ("7/mountinfo"); at most 1 MB of it is read, through the buffer; a line that does not fit into it is
 * passed over. Allocates nothing. */
void discovery_read_names(int proc_fd, const char *file_name, char *buffer, size_t size, char pod_uid[POD_UID_SIZE],
			  char name[NEIGHBOUR_NAME_SIZE]);

#endif
