/* replay.h - arrival times from a recorded file.
 *
 * The form is found from the lines themselves:
 *   seconds       one column of seconds, with or without a fraction ("0.050", "1796076197.25"); more columns may follow
 *                 after a comma, a semicolon or blanks; a first line of words (the head of a CSV) and lines that begin
 *                 with # are passed over
 *   access log    common or combined format: the time in brackets, in whole seconds
 *   JSON lines    an object a line with a time: RFC 3339, or a number (seconds; above 10^11 milliseconds, above
 *                 10^14 microseconds, above 10^17 nanoseconds since 1970)
 * Every line is judged by itself; one that gives no time is counted in `skipped`. When more lines are skipped than
 * used, the file is refused.
 *
 * An access log knows whole seconds only. Sending all requests of a second at its beginning would make bursts that
 * never were; so the k of one second are spread evenly over it, unless `together`.
 */
#ifndef HEADROOM_REPLAY_H
#define HEADROOM_REPLAY_H

#include "fault.h"

struct replay_config {
	const char *time_field; /* of JSON lines; NULL: time, timestamp, ts, @timestamp are tried in this order */
	bool together;
};

struct replay {
	int64_t *at_ns;     /* in the order of the file, then spread; unsorted otherwise */
	bool *whole_second; /* at_ns is the beginning of a second, for lack of anything finer */
	size_t n, room;
	uint64_t skipped;
};

void replay_free(struct replay *r);

/* One line without its newline. 0, -EINVAL when it gives no time. *whole_second as above. Pure. */
int replay_parse_line(const char *line, size_t len, const struct replay_config *config, int64_t *at_ns,
		      bool *whole_second) MUST_CHECK;

/* Adds a line, or counts it as skipped; blank lines, comments and a head are neither. 0 or -ENOMEM. Pure. */
int replay_add_line(struct replay *r, const char *line, size_t len, const struct replay_config *config) MUST_CHECK;

/* Sorts, spreads within seconds (unless `together`), and refuses a file that is mostly not understood. Pure. */
int replay_finish(struct replay *r, const struct replay_config *config, struct fault *f) MUST_CHECK;

/* All of that for a file; "-" is stdin. 0 or a negative errno with a sentence that names the file. */
int replay_read(struct replay *r, const char *path, const struct replay_config *config, struct fault *f) MUST_CHECK;

#endif
