#include "discover_names.h"

#include "textfile.h"

#include <string.h>

/* a container has about 30 mounts of 200 bytes; whoever makes more of them is not read to the end */
enum { MOUNTINFO_READ_MAX = 1 << 20 };

/* The complete lines of the buffer; returns how many bytes they had, 0 when there was none. */
static size_t read_mount_lines(const char *text, size_t len, char pod_uid[POD_UID_SIZE], char name[NEIGHBOUR_NAME_SIZE],
			       bool *found)
{
	size_t used = 0;
	for (const char *nl; !*found && (nl = memchr(text + used, '\n', len - used));) {
		size_t line_len = (size_t)(nl - (text + used));
		*found = discovery_read_mount(text + used, line_len, pod_uid, name);
		used += line_len + 1;
	}
	return used;
}

/* Read piece by piece, since it can be of any size. */
struct pieces {
	size_t kept;   /* bytes in the buffer */
	bool skipping; /* the rest of a line that was too long for the buffer: none of the kubelet's */
	bool found;
};

static void read_piece(struct pieces *p, char *text, size_t size, char pod_uid[POD_UID_SIZE],
		       char name[NEIGHBOUR_NAME_SIZE])
{
	size_t used;
	if (p->skipping) {
		const char *nl = memchr(text, '\n', p->kept);
		p->skipping = !nl;
		used = nl ? (size_t)(nl - text) + 1 : p->kept;
	} else {
		used = read_mount_lines(text, p->kept, pod_uid, name, &p->found);
		p->skipping = used == 0 && p->kept == size;
		used = p->skipping ? size : used;
	}
	p->kept -= used;
	memmove(text, text + used, p->kept);
}

void discovery_read_names(int proc_fd, const char *file_name, char *buffer, size_t size, char pod_uid[POD_UID_SIZE],
			  char name[NEIGHBOUR_NAME_SIZE])
{
	struct textfile file;
	struct pieces p = {0};
	if (textfile_open_at(&file, proc_fd, file_name, NULL) < 0)
		return;
	for (off_t at = 0; !p.found && at < MOUNTINFO_READ_MAX;) {
		ssize_t got = pread(file.fd, buffer + p.kept, size - p.kept, at);
		if (got <= 0)
			break;
		at += got;
		p.kept += (size_t)got;
		read_piece(&p, buffer, size, pod_uid, name);
	}
	textfile_close(&file);
}
