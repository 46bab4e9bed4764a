#include "signals.h"

#include <errno.h>
#include <signal.h>
#include <sys/signalfd.h>

int signals_open(struct signals *s, struct fault *f)
{
	sigset_t set;
	*s = SIGNALS_NONE;
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigaddset(&set, SIGHUP);
	signal(SIGPIPE, SIG_IGN);
	if (sigprocmask(SIG_BLOCK, &set, NULL) < 0)
		return fault_set(f, errno, "cannot block signals");
	s->fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return s->fd < 0 ? fault_set(f, errno, "cannot watch for signals") : 0;
}

int signals_take(struct signals *s)
{
	struct signalfd_siginfo info;
	while (read(s->fd, &info, sizeof info) == (ssize_t)sizeof info)
		if (!s->last)
			s->last = (int)info.ssi_signo;
	return s->last;
}

void signals_close(struct signals *s)
{
	if (s->fd >= 0)
		close(s->fd);
	s->fd = -1;
}
