#include "files.h"

#include <errno.h>
#include <string.h>
#include <sys/stat.h>

int file_load(const char *path, char **out, struct fault *f)
{
	CLEANUP_FCLOSE FILE *in = fopen(path, "re");
	CLEANUP_FREE char *text = NULL;
	size_t size = 0;
	if (!in)
		return fault_set(f, errno, "cannot open %s", path);
	/* up to a NUL byte, which a text file does not have */
	errno = 0;
	if (getdelim(&text, &size, '\0', in) < 0) {
		if (ferror(in))
			return fault_set(f, errno, "cannot read %s", path);
		free(text);
		text = strdup("");
	}
	if (!text)
		return fault_set(f, ENOMEM, "cannot read %s", path);
	*out = TAKE_PTR(text);
	return 0;
}

FILE *file_append(const char *folder, const char *name, struct fault *f)
{
	CLEANUP_FREE char *path = NULL;
	if (asprintf(&path, "%s/%s", folder, name) < 0) {
		fault_set(f, ENOMEM, "cannot open %s", name);
		return NULL;
	}
	FILE *out = fopen(path, "ae");
	if (!out)
		fault_set(f, errno, "cannot write %s", path);
	return out;
}

int folder_make_all(const char *path, struct fault *f)
{
	CLEANUP_FREE char *copy = strdup(path);
	if (!copy)
		return fault_set(f, ENOMEM, "cannot make the folder %s", path);
	for (char *slash = strchr(copy + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
		*slash = '\0';
		if (mkdir(copy, 0777) < 0 && errno != EEXIST)
			return fault_set(f, errno, "cannot make the folder %s", copy);
		*slash = '/';
	}
	if (mkdir(copy, 0777) < 0 && errno != EEXIST)
		return fault_set(f, errno, "cannot make the folder %s", copy);
	return 0;
}
