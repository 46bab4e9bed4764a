#include "capture.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>

enum { CAPTURE_MAX = 16 << 20 };

int capture_open(struct capture *c, struct fault *f)
{
	c->fd = memfd_create("headroom-output", MFD_CLOEXEC);
	return c->fd < 0 ? fault_set(f, errno, "cannot keep the output of a program") : 0;
}

void capture_close(struct capture *c)
{
	if (c->fd >= 0)
		close(c->fd);
	c->fd = -1;
}

static size_t size_of(const struct capture *c)
{
	struct stat st;
	if (c->fd < 0 || fstat(c->fd, &st) < 0)
		return 0;
	return st.st_size > CAPTURE_MAX ? CAPTURE_MAX : (size_t)st.st_size;
}

char *capture_text(const struct capture *c)
{
	size_t size = size_of(c);
	char *text = malloc(size + 1);
	size_t got = 0;
	while (text && got < size) {
		ssize_t n = pread(c->fd, text + got, size - got, (off_t)got);
		if (n <= 0)
			break;
		got += (size_t)n;
	}
	if (text)
		text[got] = '\0';
	return text;
}

char *capture_first_line(const struct capture *c)
{
	if (size_of(c) == 0)
		return NULL;
	char *text = capture_text(c);
	char *end = text ? strchr(text, '\n') : NULL;
	if (end)
		*end = '\0';
	else
		free(text);
	return end ? text : NULL;
}

char *capture_last_line(const struct capture *c)
{
	CLEANUP_FREE char *text = capture_text(c);
	if (!text)
		return NULL;
	size_t len = strlen(text);
	while (len && text[len - 1] == '\n')
		text[--len] = '\0';
	const char *last = strrchr(text, '\n');
	return strdup(last ? last + 1 : text);
}
