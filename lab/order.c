#include "order.h"

static void shuffle(struct rng *dice, size_t n, size_t *items)
{
	for (size_t i = n; i > 1; i--) {
		size_t j = (size_t)rng_below(dice, i);
		size_t swap = items[i - 1];
		items[i - 1] = items[j];
		items[j] = swap;
	}
}

static bool any_in_the_same_place(const size_t *a, const size_t *b, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i] == b[i])
			return true;
	return false;
}

void order_draw(struct rng *dice, size_t n, size_t repetitions, size_t *order)
{
	for (size_t r = 0; r < repetitions; r++) {
		size_t *row = order + r * n;
		for (size_t i = 0; i < n; i++)
			row[i] = i;
		/* one shuffle in e is free of fixed points; a single condition has nowhere else to go */
		do
			shuffle(dice, n, row);
		while (r > 0 && n > 1 && any_in_the_same_place(row, row - n, n));
	}
}

void order_draw_phases(struct rng *dice, double period_ms, size_t repetitions, double *phases_ms)
{
	double width_ms = period_ms / (double)repetitions;
	for (size_t i = 0; i < repetitions; i++)
		phases_ms[i] = ((double)i + rng_unit(dice)) * width_ms;
	for (size_t i = repetitions; i > 1; i--) {
		size_t j = (size_t)rng_below(dice, i);
		double swap = phases_ms[i - 1];
		phases_ms[i - 1] = phases_ms[j];
		phases_ms[j] = swap;
	}
}
