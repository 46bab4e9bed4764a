#include "fault.h"

#include <stdarg.h>
#include <string.h>

/* A target chooses its own file and process names: none of their bytes may start a new log line or move a terminal's
 * cursor. UTF-8 above 0x7f passes. */
static void tame(char *text)
{
	for (char *c = text; *c; c++)
		if ((unsigned char)*c < 0x20 || *c == 0x7f)
			*c = '?';
}

int fault_set(struct fault *f, int err, const char *fmt, ...)
{
	int positive = err < 0 ? -err : err;
	if (f) {
		va_list args;
		va_start(args, fmt);
		vsnprintf(f->text, sizeof f->text, fmt, args);
		va_end(args);
		f->err = positive;
		if (err > 0) {
			size_t used = strlen(f->text);
			snprintf(f->text + used, sizeof f->text - used, ": %s", strerror(err));
		}
		tame(f->text);
	}
	return -positive;
}

int fault_prefix(struct fault *f, int rc, const char *fmt, ...)
{
	if (f) {
		char context[sizeof f->text];
		char old[sizeof f->text];
		va_list args;
		va_start(args, fmt);
		vsnprintf(context, sizeof context, fmt, args);
		va_end(args);
		memcpy(old, f->text, sizeof old);
		size_t used = (size_t)snprintf(f->text, sizeof f->text, "%s", context);
		if (used < sizeof f->text)
			snprintf(f->text + used, sizeof f->text - used, ": %s", old);
		tame(f->text);
	}
	return rc;
}

const char *fault_text(const struct fault *f)
{
	return f && f->text[0] ? f->text : "no error";
}
