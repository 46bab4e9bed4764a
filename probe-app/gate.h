/* gate.h - at most N at a time, the others wait in the order in which they came.
 *
 * The workers of the server are such a gate, and so is each pool of a named resource. Whoever leaves
 * hands his slot to the one who waited longest, so nobody can overtake; slots are numbered, the number
 * says which worker did a request.
 */
#ifndef HEADROOM_PROBE_GATE_H
#define HEADROOM_PROBE_GATE_H

#include "fault.h"

#include <pthread.h>

enum { GATE_SLOTS_MAX = 4096 };

struct gate_waiter;

struct gate {
	pthread_mutex_t lock;
	struct gate_waiter *first, *last; /* in order of arrival */
	uint32_t slots, waiting, queue_max;
	uint32_t free_count;
	uint32_t *free_slots; /* the lowest free number is on top as long as nobody has waited */
	bool closed;
};

struct gate_pass {
	uint32_t slot;      /* 0 .. slots - 1 */
	int64_t queued_ns;  /* CLOCK_MONOTONIC when it joined the queue */
	int64_t granted_ns; /* when the slot was given: equal to queued_ns if one was free */
	bool inside;        /* the slot is held: gate_leave() is due */
};

/* slots 1 to GATE_SLOTS_MAX; queue_max = how many may wait, 0 = none. 0, -ERANGE or -ENOMEM. */
int gate_init(struct gate *g, uint32_t slots, uint32_t queue_max, struct fault *f) MUST_CHECK;

/* Nobody may be inside or waiting. */
void gate_destroy(struct gate *g);

enum gate_stay {
	GATE_STAY,    /* holds a slot until gate_leave() */
	GATE_PASS_BY, /* has nothing to do inside: waits its turn, but does not keep a slot that is free */
};

/* Waits for a slot. -EAGAIN at once when the queue is full, -ECANCELED when the gate is or gets closed;
 * queued_ns is set in each case. After 0 call gate_leave() with the slot if pass->inside: always for GATE_STAY, and for
 * GATE_PASS_BY when it had to wait. (With one slot, units without work would form a convoy in which every one
 * has to be woken up: 15,000 a second instead of 40,000.) */
int gate_enter(struct gate *g, enum gate_stay stay, struct gate_pass *pass) MUST_CHECK;
void gate_leave(struct gate *g, uint32_t slot);

/* Sends everyone who waits away with -ECANCELED, and whoever comes later. */
void gate_close(struct gate *g);

void gate_count(struct gate *g, uint32_t *inside, uint32_t *waiting);

#endif
