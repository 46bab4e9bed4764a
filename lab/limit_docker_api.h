/* limit_docker_api.h - the API of a docker engine on this host, over its socket.
 *
 * Paths are without a version: the engine then speaks its newest. DOCKER_HOST names another socket than
 * /var/run/docker.sock; engines behind TCP or ssh are refused, since their processes are not on this host.
 */
#ifndef HEADROOM_LAB_LIMIT_DOCKER_API_H
#define HEADROOM_LAB_LIMIT_DOCKER_API_H

#include "http.h"
#include "jsonl.h"

struct engine {
	struct http http;
	const char *socket; /* path */
};

#define ENGINE_CLOSED ((struct engine){.http = HTTP_CLOSED})

int engine_open(struct engine *e, struct fault *f) MUST_CHECK;
void engine_close(struct engine *e);

/* The path of the engine's socket by DOCKER_HOST's value (may be NULL); NULL when it is none of this host. Pure. */
const char *engine_socket(const char *docker_host);

/* One request. `body` may be NULL; *answer (may be NULL) gets the engine's JSON, or NULL when there is none.
 * 0 for a status of 2xx or 304; -ENOENT for 404, -EEXIST for 409, else -EIO, with the engine's own sentence. */
int engine_call(struct engine *e, const char *method, const char *path, const json_value *body, json_value **answer,
		struct fault *f) MUST_CHECK;

/* Gets a stream until the engine ends it. */
int engine_follow(struct engine *e, const char *path, const struct http_stream *s, struct fault *f) MUST_CHECK;

static inline void cleanup_enginep(struct engine *e)
{
	engine_close(e);
}
#define CLEANUP_ENGINE __attribute__((cleanup(cleanup_enginep)))

#endif
