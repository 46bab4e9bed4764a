/* csv.h - lines of CSV after RFC 4180: CRLF-free fields are written as they are, the others in quotes; "\n" ends a
 * line (what every reader takes, and what text tools expect).
 */
#ifndef HEADROOM_CSV_H
#define HEADROOM_CSV_H

#include "shots.h"

/* Longest line of requests.csv: every number has at most 20 digits. */
enum { CSV_SHOT_SIZE = 640 };

/* The head of requests.csv, with its newline. */
const char *csv_shot_head(void);

struct csv_run {
	int64_t lateness_bound_ns;
	uint64_t threads; /* closed loop: how many there were; 0 = open loop */
};

/* One line of requests.csv for a settled shot, with its newline. What is not there is an empty field. on_time is 1 when
 * the request was sent within the bound of its instant, else 0; empty without a plan. server_ns as from shots_server().
 * Returns the length. */
size_t csv_shot(char out[CSV_SHOT_SIZE], size_t seq, const struct shot *shot, const int64_t *server_ns,
		const struct csv_run *run);

/* One field, quoted when it holds a comma, a quote or a line break. */
void csv_field(FILE *out, const char *text);

#endif
