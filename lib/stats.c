#include "stats.h"

uint64_t stats_rank(uint64_t n, uint32_t ppm)
{
	const uint64_t whole = 1000000;
	if (ppm > whole)
		ppm = (uint32_t)whole;
	/* n * ppm without overflow: split n into millions and a rest below one million */
	uint64_t rank = n / whole * ppm + (n % whole * ppm + whole - 1) / whole;
	return rank == 0 && n > 0 ? 1 : rank;
}

static int compare_int64(const void *a, const void *b)
{
	int64_t x = *(const int64_t *)a;
	int64_t y = *(const int64_t *)b;
	return (x > y) - (x < y);
}

void stats_sort(int64_t *samples, size_t n)
{
	if (n > 1)
		qsort(samples, n, sizeof *samples, compare_int64);
}

int64_t stats_percentile(const int64_t *sorted, size_t n, uint32_t ppm)
{
	return sorted[stats_rank(n, ppm) - 1];
}

int64_t stats_median(const int64_t *sorted, size_t n)
{
	int64_t high = sorted[n / 2];
	if (n % 2)
		return high;
	return (int64_t)(((__int128)sorted[n / 2 - 1] + high) / 2);
}

double stats_mean(const int64_t *samples, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		sum += (double)samples[i];
	return n ? sum / (double)n : 0;
}
