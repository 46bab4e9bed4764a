#include "program.h"

#include <errno.h>
#include <string.h>

void program_init(struct program *p, const char *name)
{
	*p = (struct program){.name = name, .child = CHILD_NONE, .out = CAPTURE_CLOSED, .err = CAPTURE_CLOSED};
}

int program_start(struct program *p, struct child_spec *spec, struct fault *f)
{
	capture_close(&p->out);
	capture_close(&p->err);
	int rc = capture_open(&p->out, f);
	if (rc == 0)
		rc = capture_open(&p->err, f);
	if (rc < 0)
		return rc;
	spec->stdin_fd = CHILD_NULL;
	spec->stdout_fd = p->out.fd;
	spec->stderr_fd = p->err.fd;
	return child_start(&p->child, spec, f);
}

void program_release(struct program *p)
{
	capture_close(&p->out);
	capture_close(&p->err);
}

int program_failed(const struct program *p, const char *when, struct fault *f)
{
	CLEANUP_FREE char *said = capture_last_line(&p->err);
	int code = child_exit_code(&p->child);
	const char *signal_name = code > 128 ? sigabbrev_np(code - 128) : NULL;
	if (signal_name)
		return fault_set(f, -ECHILD, "%s was ended by SIG%s %s", p->name, signal_name, when);
	return fault_set(f, -ECHILD, "%s ended with status %d %s%s%s", p->name, code, when, said && *said ? ": " : "",
			 said ? said : "");
}

bool program_has_ended(struct program *p)
{
	return p->child.reaped || (p->child.pidfd >= 0 && child_wait(&p->child, 0) == 0);
}
