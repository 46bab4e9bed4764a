/* limit_docker.h - a CPU limit made by a docker engine: the probe runs in a container of our own image.
 *
 * `headroom study 1 --limiter docker`. A helper process (this very program, as `headroom docker-run`) stands for the
 * probe: it creates the container with the limit, starts it, passes on what it writes, ends it when it is asked to end
 * itself, and removes it. Containers have the host's network, are named like our cgroups (headroom-<pid>-...) and carry
 * the label headroom.pid; those whose headroom is dead are removed by the next one.
 *
 * HEADROOM_IMAGE names the image (default "headroom").
 */
#ifndef HEADROOM_LAB_LIMIT_DOCKER_H
#define HEADROOM_LAB_LIMIT_DOCKER_H

#include "limit_docker_api.h"

/* The name of the hidden sub-command, and the sub-command: NAME IMAGE CPU-QUOTA-USEC CPU-SHARES PROGRAM [ARGUMENT...]
 */
#define LIMIT_DOCKER_HELPER "docker-run"
int limit_docker_helper(int argc, char **argv);

/* The label that tells whose container it is. */
#define LIMIT_DOCKER_LABEL "headroom.pid"

/* Docker's multiplexed stream, taken apart: 8 bytes of head (stream, 3 zeros, length in 4 bytes, the highest first),
 * then so many bytes. `write` gets the stream's number (1 stdout, 2 stderr) and a piece of text. Pure. */
struct docker_frames {
	unsigned char head[8];
	size_t have; /* bytes of the head */
	size_t left; /* bytes of the text */
};
void docker_frames_take(struct docker_frames *d, const char *data, size_t len,
			void (*write)(void *context, int stream, const char *text, size_t len), void *context);

#endif
