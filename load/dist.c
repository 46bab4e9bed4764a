#include "dist.h"

#include "stats.h"

#include <errno.h>

int dist_init(struct dist *d, size_t room, struct fault *f)
{
	*d = (struct dist){.exact = true};
	int rc = histogram_init(&d->histogram, DIST_SUB_BITS, DIST_HIGHEST_NS, f);
	if (rc < 0)
		return rc;
	d->room = room ? room : 1024;
	d->samples = malloc(d->room * sizeof *d->samples);
	return d->samples ? 0 : fault_set(f, ENOMEM, "%zu samples", d->room);
}

void dist_free(struct dist *d)
{
	free(d->samples);
	histogram_free(&d->histogram);
	*d = (struct dist){0};
}

static void keep(struct dist *d, int64_t ns)
{
	if (d->n == d->room) {
		int64_t *bigger = realloc(d->samples, d->room * 2 * sizeof *bigger);
		if (!bigger) {
			d->exact = false;
			return;
		}
		d->samples = bigger;
		d->room *= 2;
	}
	d->samples[d->n++] = ns;
}

void dist_add(struct dist *d, int64_t ns)
{
	histogram_record(&d->histogram, ns);
	if (d->exact)
		keep(d, ns);
}

void dist_seal(struct dist *d)
{
	if (d->exact)
		stats_sort(d->samples, d->n);
}

uint64_t dist_count(const struct dist *d)
{
	return d->histogram.total;
}

int64_t dist_percentile(const struct dist *d, uint32_t ppm)
{
	if (!d->exact)
		return histogram_percentile(&d->histogram, ppm);
	return d->n ? stats_percentile(d->samples, d->n, ppm) : 0;
}

int64_t dist_at_rank(const struct dist *d, uint64_t rank)
{
	if (!d->exact)
		return histogram_at_rank(&d->histogram, rank);
	if (rank > d->n)
		rank = d->n;
	return rank ? d->samples[rank - 1] : 0;
}

int64_t dist_max(const struct dist *d)
{
	return d->histogram.total ? d->histogram.max : 0;
}

double dist_mean_ns(const struct dist *d)
{
	return histogram_mean(&d->histogram);
}

uint64_t dist_count_to(const struct dist *d, int64_t ns)
{
	if (!d->exact)
		return histogram_count_to(&d->histogram, ns);
	size_t low = 0;
	size_t high = d->n;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (d->samples[middle] <= ns)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

double dist_error(const struct dist *d)
{
	return d->exact ? 0 : histogram_relative_error(&d->histogram);
}
