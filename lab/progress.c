#include "progress.h"

#include "clock.h"

#include <string.h>

static bool can_redraw(FILE *out)
{
	const char *term = getenv("TERM");
	return isatty(fileno(out)) && term && strcmp(term, "dumb") != 0;
}

void progress_open(struct progress *p, FILE *out, size_t runs, int64_t run_ns)
{
	*p = (struct progress){.out = can_redraw(out) ? out : NULL, .all = runs, .run_ns = run_ns};
}

void progress_begin(struct progress *p, const char *what)
{
	snprintf(p->what, sizeof p->what, "%s", what);
	p->run_started_ns = clock_mono_ns();
	p->drawn_ns = 0;
	progress_tick(p);
}

void progress_tick(struct progress *p)
{
	int64_t now_ns = clock_mono_ns();
	if (!p->out || now_ns - p->drawn_ns < NSEC_PER_SEC / 5)
		return;
	int64_t spent_ns = now_ns - p->run_started_ns;
	int64_t rest_ns = p->run_ns > spent_ns ? p->run_ns - spent_ns : 0;
	size_t after = p->all > p->done ? p->all - p->done - 1 : 0;
	int64_t left_s = (rest_ns + (int64_t)after * p->run_ns) / NSEC_PER_SEC;
	int percent = p->run_ns > 0 && spent_ns < p->run_ns ? (int)(spent_ns * 100 / p->run_ns) : 100;
	p->drawn_ns = now_ns;
	fprintf(p->out, "\r\033[K[%zu/%zu] %s  %d%%  about %lld:%02lld left", p->done + 1, p->all, p->what, percent,
		(long long)(left_s / 60), (long long)(left_s % 60));
	fflush(p->out);
}

void progress_end_run(struct progress *p)
{
	if (p->done < p->all)
		p->done++;
	p->run_ns = clock_mono_ns() - p->run_started_ns;
}

void progress_clear(struct progress *p)
{
	if (!p->out || !p->drawn_ns)
		return;
	fputs("\r\033[K", p->out);
	fflush(p->out);
	p->drawn_ns = 0;
}
