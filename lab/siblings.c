#include "siblings.h"

#include <errno.h>
#include <string.h>

static char *in_folder(const char *folder, size_t len, const char *name)
{
	char *path = NULL;
	if (asprintf(&path, "%.*s/%s", (int)len, folder, name) < 0)
		return NULL;
	if (access(path, X_OK) == 0)
		return path;
	free(path);
	return NULL;
}

static char *beside_ourselves(const char *name)
{
	char self[HEADROOM_PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", self, sizeof self - 1);
	if (n <= 0)
		return NULL;
	self[n] = '\0';
	const char *slash = strrchr(self, '/');
	return slash ? in_folder(self, (size_t)(slash - self), name) : NULL;
}

static char *on_path(const char *name)
{
	const char *at = getenv("PATH");
	while (at && *at) {
		size_t len = strcspn(at, ":");
		char *found = in_folder(len ? at : ".", len ? len : 1, name);
		if (found)
			return found;
		at += len + (at[len] == ':');
	}
	return NULL;
}

int sibling_find(const char *name, char **out, struct fault *f)
{
	*out = beside_ourselves(name);
	if (!*out)
		*out = on_path(name);
	if (!*out)
		return fault_set(f, -ENOENT, "%s is neither beside headroom nor on PATH: build or install all programs",
				 name);
	return 0;
}

int sibling_exec(const char *name, char **argv, struct fault *f)
{
	CLEANUP_FREE char *path = NULL;
	int rc = sibling_find(name, &path, f);
	if (rc < 0)
		return rc;
	argv[0] = path;
	execv(path, argv);
	return fault_set(f, errno, "cannot run %s", path);
}
