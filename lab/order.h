/* order.h - in which order conditions run, and at which phase. Pure.
 *
 * What drifts while a study runs (a warmer CPU, a busier host) must not fall on the same condition every time. So each
 * repetition has an order of its own, drawn from the seed, in which no condition stands where it stood in the
 * repetition before.
 */
#ifndef HEADROOM_LAB_ORDER_H
#define HEADROOM_LAB_ORDER_H

#include "rng.h"

/* order[r * n + p] becomes the condition (0 .. n - 1) at position p of repetition r. */
void order_draw(struct rng *dice, size_t n, size_t repetitions, size_t *order);

/* Phases in [0, period_ms) for the repetitions of one condition: one drawn from each of `repetitions` equal parts of
 * the period, in changed order, so that few repetitions already cover it. */
void order_draw_phases(struct rng *dice, double period_ms, size_t repetitions, double *phases_ms);

#endif
