/* rng.h - reproducible dice: splitmix64. The same seed gives the same order and the same phases on every machine.
 * Not for secrets.
 */
#ifndef HEADROOM_LAB_RNG_H
#define HEADROOM_LAB_RNG_H

#include "base.h"

struct rng {
	uint64_t state; /* any value is a fine seed */
};

static inline uint64_t rng_next(struct rng *r)
{
	uint64_t z = (r->state += UINT64_C(0x9e3779b97f4a7c15));
	z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
	return z ^ (z >> 31);
}

/* Uniform in [0, n), without the bias of a plain remainder. n > 0. */
static inline uint64_t rng_below(struct rng *r, uint64_t n)
{
	uint64_t limit = UINT64_MAX - UINT64_MAX % n;
	uint64_t x;
	do
		x = rng_next(r);
	while (x >= limit);
	return x % n;
}

/* Uniform in [0, 1). */
static inline double rng_unit(struct rng *r)
{
	return (double)(rng_next(r) >> 11) * 0x1p-53;
}

#endif
