#include "remote_message.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

size_t remote_message_cut(char *text)
{
	size_t len = strlen(text);
	if (len > REMOTE_MESSAGE_MAX) {
		text[REMOTE_MESSAGE_MAX] = '\0';
		char *end = strrchr(text, '\n');
		len = end ? (size_t)(end + 1 - text) : REMOTE_MESSAGE_MAX;
		text[len] = '\0';
	}
	return len;
}

/* The kubelet's file is there already, and elsewhere there is none. */
int remote_message_write(const char *path, const char *text, size_t len, struct fault *f)
{
	CLEANUP_CLOSE int fd =
		open(path ? path : REMOTE_MESSAGE_PATH, O_WRONLY | O_TRUNC | O_CLOEXEC | (path ? O_CREAT : 0), 0666);
	if (fd < 0 && !path)
		return 0;
	if (fd >= 0 && write(fd, text, len) == (ssize_t)len)
		return 0;
	return fault_set(f, errno ? errno : EIO, "cannot write the summary to %.200s",
			 path ? path : REMOTE_MESSAGE_PATH);
}
