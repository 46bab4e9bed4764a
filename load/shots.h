/* shots.h - the record of every request of a run.
 *
 * One thread writes (the sender); one other may read the shots that are settled. Shots never move. Room that was
 * reserved is touched before the run, so that recording causes no page fault while the schedule is being kept.
 * The figures from the server lie beside the shots and cost memory only when there are any.
 */
#ifndef HEADROOM_SHOTS_H
#define HEADROOM_SHOTS_H

#include "answer.h"
#include "fault.h"

#include <stdatomic.h>

struct shot {
	int64_t planned_ns; /* all instants CLOCK_MONOTONIC; ANSWER_ABSENT = did not happen (closed loop: no plan) */
	int64_t sent_ns;
	int64_t first_byte_ns;
	int64_t done_ns;
	int64_t bytes;
	uint16_t status; /* 0 = none */
	uint16_t server_have;
	uint8_t error;       /* enum answer_error */
	bool blocked;        /* no connection was free at its instant */
	atomic_bool settled; /* nothing of it changes any more */
};

enum { SHOTS_CHUNK = 1 << 15, SHOTS_CHUNKS_MAX = 2048 };

struct shots_chunk;
struct shots {
	struct shots_chunk *chunks[SHOTS_CHUNKS_MAX];
	size_t room;
	atomic_size_t n; /* shots that were begun */
};

/* Room for `reserve` shots (more is made when needed, up to 67 million). 0, -ENOMEM or -ERANGE. */
int shots_init(struct shots *s, size_t reserve, struct fault *f) MUST_CHECK;
void shots_free(struct shots *s);

/* Forgets all shots and keeps the room. */
void shots_clear(struct shots *s);

/* The next shot, planned for that instant (or ANSWER_ABSENT). NULL when there is no memory for more. */
struct shot *shots_begin(struct shots *s, int64_t planned_ns);

/* Shot i of those begun, and its figures from the server (ANSWER_FIELDS of them, valid where server_have says so). */
struct shot *shots_at(const struct shots *s, size_t i);
int64_t *shots_server(const struct shots *s, size_t i);

static inline size_t shots_count(const struct shots *s)
{
	return atomic_load_explicit(&s->n, memory_order_acquire);
}

/* Takes over what became of shot i, which is then settled. */
void shots_settle(struct shots *s, size_t i, const struct answer *a);

static inline bool shots_is_settled(const struct shot *shot)
{
	return atomic_load_explicit(&shot->settled, memory_order_acquire);
}

#endif
