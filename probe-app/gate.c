#include "gate.h"

#include "clock.h"

#include <errno.h>

/* Lives on the stack of the thread that waits; it is touched by others only under the gate's lock. */
struct gate_waiter {
	struct gate_waiter *next;
	pthread_cond_t granted;
	struct gate_pass *pass;
	enum { WAITING, GRANTED, REFUSED } state;
};

int gate_init(struct gate *g, uint32_t slots, uint32_t queue_max, struct fault *f)
{
	*g = (struct gate){.lock = PTHREAD_MUTEX_INITIALIZER, .slots = slots, .queue_max = queue_max};
	if (slots < 1 || slots > GATE_SLOTS_MAX)
		return fault_set(f, -ERANGE, "%u is out of range: 1 to %d", slots, GATE_SLOTS_MAX);
	g->free_slots = calloc(slots, sizeof *g->free_slots);
	if (!g->free_slots)
		return fault_set(f, ENOMEM, "%u slots", slots);
	while (g->free_count < slots) {
		g->free_slots[g->free_count] = slots - 1 - g->free_count;
		g->free_count++;
	}
	return 0;
}

void gate_destroy(struct gate *g)
{
	free(g->free_slots);
	g->free_slots = NULL;
	pthread_mutex_destroy(&g->lock);
}

static void append(struct gate *g, struct gate_waiter *w)
{
	if (g->last)
		g->last->next = w;
	else
		g->first = w;
	g->last = w;
	g->waiting++;
}

static struct gate_waiter *take_first(struct gate *g)
{
	struct gate_waiter *w = g->first;
	if (!w)
		return NULL;
	g->first = w->next;
	if (!g->first)
		g->last = NULL;
	g->waiting--;
	return w;
}

static int wait_in_queue(struct gate *g, struct gate_pass *pass)
{
	struct gate_waiter self = {.pass = pass, .state = WAITING, .granted = PTHREAD_COND_INITIALIZER};
	append(g, &self);
	while (self.state == WAITING)
		pthread_cond_wait(&self.granted, &g->lock);
	pthread_cond_destroy(&self.granted);
	return self.state == GRANTED ? 0 : -ECANCELED;
}

static void take_free_slot(struct gate *g, enum gate_stay stay, struct gate_pass *pass)
{
	pass->slot = g->free_slots[g->free_count - 1];
	pass->inside = stay == GATE_STAY;
	if (pass->inside)
		g->free_count--;
}

int gate_enter(struct gate *g, enum gate_stay stay, struct gate_pass *pass)
{
	int rc = 0;
	pass->inside = false;
	pthread_mutex_lock(&g->lock);
	/* stamped under the lock: the order of the stamps is the order of the queue */
	pass->queued_ns = pass->granted_ns = clock_mono_ns();
	if (g->closed)
		rc = -ECANCELED;
	else if (g->free_count > 0)
		take_free_slot(g, stay, pass);
	else if (g->waiting >= g->queue_max)
		rc = -EAGAIN;
	else
		rc = wait_in_queue(g, pass);
	pthread_mutex_unlock(&g->lock);
	return rc;
}

/* Signals under the lock: afterwards the waiter's condition variable may be gone with its stack. */
static void answer_waiter(struct gate_waiter *w, int state)
{
	w->state = state == GRANTED ? GRANTED : REFUSED;
	pthread_cond_signal(&w->granted);
}

void gate_leave(struct gate *g, uint32_t slot)
{
	pthread_mutex_lock(&g->lock);
	struct gate_waiter *next = take_first(g);
	if (next) {
		next->pass->slot = slot;
		next->pass->inside = true;
		next->pass->granted_ns = clock_mono_ns();
		answer_waiter(next, GRANTED);
	} else {
		g->free_slots[g->free_count++] = slot;
	}
	pthread_mutex_unlock(&g->lock);
}

void gate_close(struct gate *g)
{
	struct gate_waiter *w;
	pthread_mutex_lock(&g->lock);
	g->closed = true;
	while ((w = take_first(g)))
		answer_waiter(w, REFUSED);
	pthread_mutex_unlock(&g->lock);
}

void gate_count(struct gate *g, uint32_t *inside, uint32_t *waiting)
{
	pthread_mutex_lock(&g->lock);
	*inside = g->slots - g->free_count;
	*waiting = g->waiting;
	pthread_mutex_unlock(&g->lock);
}
