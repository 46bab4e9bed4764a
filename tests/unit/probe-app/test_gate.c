/* The gate: order, bounds, closing. */
#include "tests/unit/check.h"

#include "probe-app/gate.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>

enum { CROWD = 12 };

struct guest {
	struct gate *gate;
	pthread_t thread;
	int rc;
	int place; /* in which order it was let in */
};

static int next_place;

static void *visit(void *cls)
{
	struct guest *g = cls;
	struct gate_pass pass;
	g->rc = gate_enter(g->gate, GATE_STAY, &pass);
	if (g->rc < 0)
		return NULL;
	g->place = next_place++; /* one slot: only one guest at a time comes here */
	gate_leave(g->gate, pass.slot);
	return NULL;
}

static void wait_until_waiting(struct gate *g, uint32_t wanted)
{
	uint32_t inside, waiting;
	do {
		sched_yield();
		gate_count(g, &inside, &waiting);
	} while (waiting < wanted);
}

/* One after the other, so that the order is known. */
static void queue_up(struct gate *gate, struct guest guests[CROWD])
{
	for (int i = 0; i < CROWD; i++) {
		guests[i] = (struct guest){.gate = gate, .rc = 1, .place = -1};
		assert_int_equal(pthread_create(&guests[i].thread, NULL, visit, &guests[i]), 0);
		wait_until_waiting(gate, (uint32_t)i + 1);
	}
}

static void who_came_first_goes_first(void **state)
{
	struct gate gate;
	struct gate_pass pass;
	struct guest guests[CROWD];
	(void)state;
	next_place = 0;
	assert_int_equal(gate_init(&gate, 1, CROWD, NULL), 0);
	assert_int_equal(gate_enter(&gate, GATE_STAY, &pass), 0);
	queue_up(&gate, guests);
	gate_leave(&gate, pass.slot);
	for (int i = 0; i < CROWD; i++) {
		pthread_join(guests[i].thread, NULL);
		assert_int_equal(guests[i].rc, 0);
		assert_int_equal(guests[i].place, i);
	}
	gate_destroy(&gate);
}

static void a_full_queue_refuses_at_once(void **state)
{
	struct gate gate;
	struct gate_pass pass, refused = {.queued_ns = 0};
	struct guest guests[CROWD];
	(void)state;
	next_place = 0;
	assert_int_equal(gate_init(&gate, 1, CROWD, NULL), 0);
	assert_int_equal(gate_enter(&gate, GATE_STAY, &pass), 0);
	queue_up(&gate, guests);
	assert_int_equal(gate_enter(&gate, GATE_STAY, &refused), -EAGAIN);
	assert_true(refused.queued_ns > 0);
	assert_false(refused.inside);
	gate_leave(&gate, pass.slot);
	for (int i = 0; i < CROWD; i++)
		pthread_join(guests[i].thread, NULL);
	gate_destroy(&gate);
}

static void slots_are_numbered_and_bounded(void **state)
{
	struct gate gate;
	struct gate_pass pass[3], none;
	(void)state;
	assert_int_equal(gate_init(&gate, 3, 0, NULL), 0);
	for (uint32_t i = 0; i < 3; i++) {
		assert_int_equal(gate_enter(&gate, GATE_STAY, &pass[i]), 0);
		assert_int_equal(pass[i].slot, i);
		assert_int_equal(pass[i].queued_ns, pass[i].granted_ns);
	}
	assert_int_equal(gate_enter(&gate, GATE_STAY, &none), -EAGAIN);
	gate_leave(&gate, 1);
	assert_int_equal(gate_enter(&gate, GATE_STAY, &pass[1]), 0);
	assert_int_equal(pass[1].slot, 1);
	gate_destroy(&gate);
}

static void passing_by_keeps_no_slot(void **state)
{
	struct gate gate;
	struct gate_pass pass;
	uint32_t inside, waiting;
	(void)state;
	assert_int_equal(gate_init(&gate, 1, 0, NULL), 0);
	assert_int_equal(gate_enter(&gate, GATE_PASS_BY, &pass), 0);
	assert_false(pass.inside);
	gate_count(&gate, &inside, &waiting);
	assert_int_equal(inside, 0);
	assert_int_equal(gate_enter(&gate, GATE_STAY, &pass), 0);
	assert_true(pass.inside);
	/* behind somebody who is inside it waits its turn like everybody: here, there is no queue to wait in */
	assert_int_equal(gate_enter(&gate, GATE_PASS_BY, &pass), -EAGAIN);
	gate_destroy(&gate);
}

static void closing_sends_everybody_away(void **state)
{
	struct gate gate;
	struct gate_pass pass, late;
	struct guest guests[CROWD];
	(void)state;
	next_place = 0;
	assert_int_equal(gate_init(&gate, 1, CROWD, NULL), 0);
	assert_int_equal(gate_enter(&gate, GATE_STAY, &pass), 0);
	queue_up(&gate, guests);
	gate_close(&gate);
	for (int i = 0; i < CROWD; i++) {
		pthread_join(guests[i].thread, NULL);
		assert_int_equal(guests[i].rc, -ECANCELED);
	}
	assert_int_equal(gate_enter(&gate, GATE_STAY, &late), -ECANCELED);
	gate_leave(&gate, pass.slot);
	gate_destroy(&gate);
}

static void impossible_sizes_are_refused(void **state)
{
	struct gate gate;
	(void)state;
	assert_int_equal(gate_init(&gate, 0, 0, NULL), -ERANGE);
	assert_int_equal(gate_init(&gate, GATE_SLOTS_MAX + 1, 0, NULL), -ERANGE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_came_first_goes_first),      cmocka_unit_test(a_full_queue_refuses_at_once),
		cmocka_unit_test(slots_are_numbered_and_bounded), cmocka_unit_test(passing_by_keeps_no_slot),
		cmocka_unit_test(closing_sends_everybody_away),   cmocka_unit_test(impossible_sizes_are_refused),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
