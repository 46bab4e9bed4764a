/* run.h - what the phases of a run share: warm-up, open loop, closed loop.
 *
 * SIGINT, SIGTERM and SIGHUP are blocked and read at one place, so that they end a run between two requests and what
 * was measured is reported.
 */
#ifndef HEADROOM_RUN_H
#define HEADROOM_RUN_H

#include "httpc.h"
#include "pacer.h"
#include "shots.h"

enum { RUN_TEXT_SIZE = 160 };

struct run {
	struct httpc *http;
	struct pacer pacer;
	struct shots shots;
	int64_t timeout_ns;
	int signal_fd;
	bool signal_ready, timer_ready;                /* set by httpc_wait() */
	int stopped_by;                                /* signal number, 0 = none */
	uint64_t connections_opened;                   /* in the measured part */
	char error_text[ANSWER_ERRORS][RUN_TEXT_SIZE]; /* the first sentence of each kind */
};

/* Opens the client, the timer and the signal descriptor; the signals stay blocked for the life of the process. 0 or a
 * negative errno; to be followed by run_close() in any case. */
int run_open(struct run *r, const struct httpc_config *config, struct fault *f) MUST_CHECK;
void run_close(struct run *r);

/* Has one of the signals come? Cheap: reads only when httpc_wait() saw something. */
bool run_stopped(struct run *r);

/* Waits for answers and signals until that instant or until something happened. */
void run_wait_until(struct run *r, int64_t mono_ns);

/* Takes over an answer for shot number `tag`, its error text and its count of connections. */
void run_settle(struct run *r, size_t tag, const struct answer *a, const char *text);

/* Sends `n` requests that are not recorded, each of the first `connections` on a new connection (not with HTTP/2), so
 * that the run finds them open. url NULL: the one of the run. 0 when any was answered, with any status; -EIO with the
 * sentence of the first error when none was; -EINTR when stopped. */
int run_warm_up(struct run *r, uint64_t n, const char *url, bool fresh, struct fault *f) MUST_CHECK;

/* Sleeps until that instant. -EINTR when stopped. */
int run_sleep_until(struct run *r, int64_t mono_ns) MUST_CHECK;

#endif
