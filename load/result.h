/* result.h - what a run came to: counts, distributions, and whether it may be believed. Pure.
 *
 * Counts. planned = ok + failed + unfinished + what an interruption left unsent. `ok` is a whole answer with a 2xx
 * status. `failed` is any other answer, and every error; a request that could not be sent (ANSWER_NOT_SENT) is failed
 * too. `unfinished` were on their way when the run was interrupted. `blocked` had to wait for a connection.
 *
 * Samples. The distribution of the answer time holds every ok request, and every one that timed out, with the time that
 * had passed until then: leaving those out would make a service look fast because it does not answer. Other failures
 * (a 503 in 1 ms) are counted, not sampled.
 *
 * Valid. An open-loop run is invalid when
 *   - the p99 of the lateness (sent - planned, of all that were sent) is above the bound, or
 *   - a request had to wait longer than the bound for a connection: then an answer has delayed a send, or
 *   - a planned request was never sent.
 * The lateness of requests that waited for a connection counts like any other.
 */
#ifndef HEADROOM_RESULT_H
#define HEADROOM_RESULT_H

#include "dist.h"
#include "shots.h"

enum { RESULT_STATUSES = 1000, RESULT_REASON_SIZE = 256, RESULT_TEXT_SIZE = 160, RESULT_URL_SIZE = 512 };

struct result {
	char url[RESULT_URL_SIZE];
	char pattern[16];
	char scheduling[16]; /* of the sender: "fifo", "other" */
	uint64_t planned, sent, ok, failed, unfinished, blocked;
	uint64_t blocked_late; /* waited longer than the bound for a connection */
	uint64_t bytes;
	uint64_t by_status[RESULT_STATUSES];
	uint64_t errors[ANSWER_ERRORS];
	char error_text[ANSWER_ERRORS][RESULT_TEXT_SIZE];
	struct dist latency;  /* planned instant (closed loop: send) to last byte */
	struct dist service;  /* send to last byte, of the same requests */
	struct dist lateness; /* planned instant to send, of all that were sent */
	bool open_loop;
	bool valid;
	char invalid_reason[RESULT_REASON_SIZE];
	int interrupted_by; /* signal, 0 = none */
	int64_t lateness_bound_ns;
	int64_t duration_ns; /* of the schedule; when interrupted or closed: what was measured */
	int64_t elapsed_ns;  /* from the first planned instant to the last answer */
	int64_t start_wall_ns, start_mono_ns;
	double cpu_s;                             /* of the sending process, from the first instant on */
	uint64_t warmup;                          /* requests before the first instant, in no other figure */
	uint64_t connections, connections_opened; /* requests in flight at most; connections opened after the warm-up */
	uint64_t seed, threads;
	int64_t schedule_ns; /* duration of the whole schedule, and its number of requests before sharding */
	uint64_t schedule_n;
	unsigned shard_index, shard_count; /* count 0 = not a shard */
	uint64_t server_n[ANSWER_FIELDS];  /* answers that carried the figure, and its sum */
	double server_sum_ns[ANSWER_FIELDS];
	uint64_t replay_skipped; /* lines of the recorded file without a usable time */
	unsigned merged_from;    /* results it was joined from; 0 = measured here */
};

/* Empty, valid; the distributions have room. 0 or -ENOMEM. To be freed in any case. */
int result_init(struct result *r, size_t room, struct fault *f) MUST_CHECK;
void result_free(struct result *r);

/* Counts the shots (which are all settled) into r; needs open_loop, lateness_bound_ns, planned and start_mono_ns. */
void result_count(struct result *r, const struct shots *shots);

/* Sets valid and invalid_reason. Keeps a reason that is there. */
void result_judge(struct result *r);

/* Requests sent per second over duration_ns. */
double result_rate(const struct result *r);

/* CPU that the server said it used for these requests, in CPUs; negative when it does not say. */
double result_target_cpus(const struct result *r);

#endif
