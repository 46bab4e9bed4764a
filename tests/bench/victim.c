/*
 * victim - computes without a pause and notes when it was stopped.
 *
 *   victim SECONDS MIN_MS
 *
 * Whoever reads the clock all the time sees each stop as a jump of it. One line for every stop of MIN_MS or more:
 * "<from ns> <to ns>" on CLOCK_MONOTONIC. No file of the kernel is read: this is the truth that its figures are held
 * against.
 *
 * Build: cc -O2 -Wall -Wextra -o victim victim.c
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

enum { MAX_STOPS = 100000 };

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

int main(int argc, char **argv)
{
	static int64_t from[MAX_STOPS], to[MAX_STOPS];
	int n = 0;
	if (argc != 3) {
		fprintf(stderr, "usage: victim SECONDS MIN_MS\n");
		return 2;
	}
	int64_t least_ns = (int64_t)(atof(argv[2]) * 1e6);
	int64_t last_ns = now_ns(), end_ns = last_ns + (int64_t)(atof(argv[1]) * 1e9);
	while (last_ns < end_ns) {
		int64_t at_ns = now_ns();
		if (at_ns - last_ns >= least_ns && n < MAX_STOPS) {
			from[n] = last_ns;
			to[n++] = at_ns;
		}
		last_ns = at_ns;
	}
	for (int i = 0; i < n; i++)
		printf("%lld %lld\n", (long long)from[i], (long long)to[i]);
	return 0;
}
