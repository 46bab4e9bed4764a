/* scribe.h - a second thread, of the lowest priority, that writes what is settled while the run goes on: the lines of
 * requests.csv, and the live line on a terminal. The sender itself never writes.
 *
 * Lines are appended in the order of the plan, four times a second, up to the oldest request that is still unanswered;
 * so after a crash the file holds everything before that one.
 */
#ifndef HEADROOM_SCRIBE_H
#define HEADROOM_SCRIBE_H

#include "csv.h"
#include "histogram.h"

#include <pthread.h>

struct scribe {
	const struct shots *shots;
	struct csv_run run;
	uint64_t planned; /* 0 = not known */
	int64_t start_ns;
	int csv_fd; /* -1 = no file */
	bool live;  /* write the live line on stderr */
	bool started;
	int write_error;  /* errno of the first write that failed; nothing is written after it */
	size_t walked;    /* shots that were taken over */
	size_t first_seq; /* number of shot 0 in the file */
	uint64_t ok;
	struct histogram latency, lateness;
	char *buffer;
	size_t buffered;
	pthread_t thread;
	pthread_mutex_t lock;
	pthread_cond_t wake;
	bool stopping;
};

/* Fill in shots, run, planned, start_ns, csv_fd, live and first_seq. Starts no thread when there is nothing to write.
 * To be called before the caller takes a real-time priority, which the thread would inherit. 0 or a negative errno. */
int scribe_start(struct scribe *s, struct fault *f) MUST_CHECK;

/* Writes the rest, ends the thread. Returns 0, or the negative errno of a write that failed. All shots must be settled.
 */
int scribe_stop(struct scribe *s);

/* Is stderr a terminal that takes a live line (TERM is not "dumb")? */
bool scribe_wants_live_line(void);

#endif
