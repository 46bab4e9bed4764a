#include "folder.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/stat.h>

char *folder_join(const char *a, const char *b)
{
	char *joined = NULL;
	size_t len = strlen(a);
	while (len && a[len - 1] == '/')
		len--;
	b += strspn(b, "/");
	if (asprintf(&joined, "%.*s%s%s", (int)len, a, *b || !len ? "/" : "", b) < 0)
		return NULL;
	return joined;
}

static int open_file(const char *folder, const char *file, int flags, struct fault *f)
{
	CLEANUP_FREE char *path = folder_join(folder, file);
	int fd = path ? open(path, flags | O_CLOEXEC | O_NOFOLLOW) : -1;
	return fd < 0 ? fault_set(f, path ? errno : ENOMEM, "cannot open %s/%s", folder, file) : fd;
}

int folder_write(const char *folder, const char *file, const char *text, struct fault *f)
{
	CLEANUP_CLOSE int fd = open_file(folder, file, O_WRONLY, f);
	if (fd < 0)
		return fd;
	size_t len = strlen(text);
	if (write(fd, text, len) != (ssize_t)len)
		return fault_set(f, errno, "cannot write '%s' to %s/%s", text, folder, file);
	return 0;
}

ssize_t folder_read(const char *folder, const char *file, char *buf, size_t size, struct fault *f)
{
	CLEANUP_CLOSE int fd = open_file(folder, file, O_RDONLY, f);
	if (fd < 0)
		return fd;
	ssize_t n = read(fd, buf, size - 1);
	if (n < 0)
		return fault_set(f, errno, "cannot read %s/%s", folder, file);
	buf[n] = '\0';
	return n;
}

bool folder_file_has_word(const char *folder, const char *file, const char *word)
{
	char text[1024];
	char *rest = text;
	const char *found;
	if (folder_read(folder, file, text, sizeof text, NULL) < 0)
		return false;
	while ((found = strsep(&rest, " \n")))
		if (strcmp(found, word) == 0)
			return true;
	return false;
}

int folder_processes(const char *folder, pid_t *first, struct fault *f)
{
	char text[4096];
	int n = 0;
	ssize_t len = folder_read(folder, "cgroup.procs", text, sizeof text, f);
	if (len < 0)
		return (int)len;
	for (const char *at = text; *at; at += strspn(at, "\n")) {
		long pid = strtol(at, NULL, 10);
		if (n++ == 0)
			*first = (pid_t)pid;
		at += strcspn(at, "\n");
	}
	return n;
}

/* Whatever is in a group of ours was started by us: a probe that forked, say. */
static void kill_processes(const char *folder)
{
	pid_t pid = 0;
	if (folder_processes(folder, &pid, NULL) > 0 && pid > 1)
		kill(pid, SIGKILL);
}

int folder_remove_group(const char *folder, struct fault *f)
{
	const int64_t give_up_ns = clock_mono_ns() + 2 * NSEC_PER_SEC;
	/* a cgroup stays busy for some ms after its last process was reaped */
	while (rmdir(folder) < 0) {
		if (errno == ENOENT)
			return 0;
		if (errno != EBUSY || clock_mono_ns() > give_up_ns)
			return fault_set(f, errno, "cannot remove the cgroup %s", folder);
		kill_processes(folder);
		clock_sleep_until_ns(clock_mono_ns() + 2 * NSEC_PER_MSEC, NULL);
	}
	return 0;
}

int folder_each_level(const char *folder, size_t top_len, int (*attempt)(const char *path, void *arg), void *arg)
{
	CLEANUP_FREE char *path = strdup(folder);
	size_t len = top_len;
	int rc = -ENOMEM;
	while (path) {
		char cut = path[len];
		path[len] = '\0';
		rc = attempt(len ? path : "/", arg);
		path[len] = cut;
		if (rc == 0 || !cut)
			break;
		len += 1 + strcspn(path + len + 1, "/");
	}
	return rc;
}
