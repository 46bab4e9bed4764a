#include "limit_docker.h"

#include "cgroup.h"
#include "folder.h"
#include "limit_way.h"

#include <errno.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>

/* The most weight a container can have: v1's cpu.shares, which engines translate for v2. */
#define SHARES_MAX "262144"

static const char *image(void)
{
	const char *name = getenv("HEADROOM_IMAGE");
	return name && *name ? name : "headroom";
}

/* It becomes part of a URL. */
static bool is_image_name(const char *name)
{
	return strlen(name) < 256 && name[strspn(name, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
						       "0123456789._:/@-")] == '\0';
}

/* ---- leftovers ---- */

static void remove_if_stale(struct engine *e, const json_value *container)
{
	char path[128];
	const char *id = json_get_text(container, "Id");
	const char *label = json_get_text(json_get(container, "Labels"), LIMIT_DOCKER_LABEL);
	char *end;
	long pid = label ? strtol(label, &end, 10) : 0;
	if (!id || strlen(id) > 64 || pid <= 0 || *end || kill((pid_t)pid, 0) == 0 || errno != ESRCH)
		return;
	snprintf(path, sizeof path, "/containers/%s?force=1&v=1", id);
	if (engine_call(e, "DELETE", path, NULL, NULL, NULL) < 0)
		return; /* the next one tries again */
}

/* Containers of a headroom that was killed. */
static void remove_stale(struct engine *e)
{
	CLEANUP_JSON json_value *list = NULL;
	/* filters={"label":["headroom.pid"]} */
	int rc = engine_call(e, "GET",
			     "/containers/json?all=1&filters=%7B%22label%22%3A%5B%22" LIMIT_DOCKER_LABEL "%22%5D%7D",
			     NULL, &list, NULL);
	for (size_t i = 0; rc == 0 && i < json_length(list); i++)
		remove_if_stale(e, json_at(list, i));
}

/* ---- the way ---- */

static int find_image(struct engine *e, struct fault *f)
{
	char path[320];
	if (!is_image_name(image()))
		return fault_set(f, -EINVAL, "HEADROOM_IMAGE=%.80s is no name of an image", image());
	snprintf(path, sizeof path, "/images/%s/json", image());
	int rc = engine_call(e, "GET", path, NULL, NULL, f);
	if (rc == -ENOENT)
		return fault_set(
			f, -ENOENT,
			"the docker engine has no image '%s': `make image` builds it, HEADROOM_IMAGE names another",
			image());
	return rc;
}

static int detect(struct limiter *l, const struct cgroup_target *self, struct fault *f)
{
	CLEANUP_ENGINE struct engine e = ENGINE_CLOSED;
	CLEANUP_JSON json_value *version = NULL;
	(void)self;
	int rc = engine_open(&e, f);
	if (rc == 0)
		rc = engine_call(&e, "GET", "/version", NULL, &version, f);
	if (rc == 0)
		rc = find_image(&e, f);
	if (rc < 0)
		return rc;
	remove_stale(&e);
	const char *number = json_get_text(version, "Version");
	snprintf(l->text, sizeof l->text, "containers of %.60s, docker %.30s at %.100s", image(), number ? number : "?",
		 e.socket);
	return 0;
}

/* Before the container exists the limit is a word of the command that makes it. */
static int apply(struct limit_group *g, const struct cpu_quota *q, struct fault *f)
{
	char path[160];
	CLEANUP_ENGINE struct engine e = ENGINE_CLOSED;
	bool none = q->quota_usec == QUOTA_NONE;
	snprintf(g->quota_text, sizeof g->quota_text, "%" PRIu64, none ? 0 : q->quota_usec);
	if (!g->pid)
		return 0;
	CLEANUP_JSON json_value *body = json_new_object();
	json_set_u64(body, "CpuPeriod", q->period_usec);
	json_set_i64(body, "CpuQuota", none ? -1 : (int64_t)q->quota_usec);
	snprintf(path, sizeof path, "/containers/%s/update", g->name);
	int rc = engine_open(&e, f);
	return rc == 0 ? engine_call(&e, "POST", path, body, NULL, f) : rc;
}

/* The kernel's word, not the engine's. */
static int read_back(const struct limit_group *g, struct cpu_quota *out, struct fault *f)
{
	int rc = limit_v2_ops.read(g, out, f);
	return rc == -ENOENT ? limit_v1_ops.read(g, out, f) : rc;
}

static void prefix(struct limit_group *g, const char *words[LIMIT_PREFIX_MAX])
{
	size_t n = 0;
	words[n++] = "/proc/self/exe";
	words[n++] = LIMIT_DOCKER_HELPER;
	words[n++] = g->name;
	words[n++] = image();
	words[n++] = g->quota_text;
	words[n++] = g->preferred ? SHARES_MAX : "0";
	words[n] = NULL;
}

static int container_pid(const struct limit_group *g, pid_t *pid, struct fault *f)
{
	char path[160];
	int64_t number = 0;
	CLEANUP_ENGINE struct engine e = ENGINE_CLOSED;
	CLEANUP_JSON json_value *container = NULL;
	snprintf(path, sizeof path, "/containers/%s/json", g->name);
	int rc = engine_open(&e, f);
	if (rc == 0)
		rc = engine_call(&e, "GET", path, NULL, &container, f);
	if (rc < 0)
		return rc;
	if (!json_get_i64(json_get(container, "State"), "Pid", &number) || number <= 0 || number > INT32_MAX)
		return fault_set(f, -ESRCH, "the container %s does not run", g->name);
	*pid = (pid_t)number;
	return 0;
}

/* The pid that was started is the helper's; from here on g->pid is that of the container's own process. */
static int locate(struct limit_group *g, pid_t helper, struct fault *f)
{
	CLEANUP_TREE struct tree tree = TREE_CLOSED;
	CLEANUP_CGROUP_TARGET struct cgroup_target target = CGROUP_TARGET_NONE;
	char proc_name[16];
	(void)helper;
	int rc = container_pid(g, &g->pid, f);
	if (rc < 0)
		return rc;
	snprintf(proc_name, sizeof proc_name, "%d", (int)g->pid);
	rc = tree_open(&tree, g->limiter->root, f);
	if (rc == 0)
		rc = cgroup_resolve_process(&target, &tree, proc_name, f);
	if (rc < 0)
		return fault_prefix(f, rc, "the container's process %d (does the engine run on this very host?)",
				    (int)g->pid);
	if (target.cpu.hierarchy == HIERARCHY_NONE)
		return fault_set(f, -ENOENT, "the cpu controller is in no hierarchy");
	g->folders[0] = folder_join(g->limiter->root, target.cpu.folder);
	return g->folders[0] ? 0 : fault_set(f, ENOMEM, "container");
}

/* The helper has done it, unless it was killed. */
static int close_group(struct limit_group *g, struct fault *f)
{
	char path[160];
	CLEANUP_ENGINE struct engine e = ENGINE_CLOSED;
	snprintf(path, sizeof path, "/containers/%s?force=1&v=1", g->name);
	int rc = engine_open(&e, f);
	if (rc == 0)
		rc = engine_call(&e, "DELETE", path, NULL, NULL, f);
	/* gone, or just going */
	return rc == -ENOENT || rc == -EEXIST ? 0 : rc;
}

const struct limit_ops limit_docker_ops = {.detect = detect,
					   .by_name_only = true,
					   .apply = apply,
					   .read = read_back,
					   .prefix = prefix,
					   .locate = locate,
					   .close = close_group};
