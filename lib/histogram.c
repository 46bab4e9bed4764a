#include "histogram.h"

#include "stats.h"

#include <errno.h>
#include <string.h>

/* The log-linear index: `shift` low bits are dropped, what is left lies in [2^sub_bits, 2^(sub_bits + 1)). */
static size_t index_of(unsigned sub_bits, uint64_t value)
{
	if (value >> sub_bits == 0)
		return (size_t)value;
	unsigned shift = 63u - (unsigned)__builtin_clzll(value) - sub_bits;
	return ((size_t)shift << sub_bits) + (size_t)(value >> shift);
}

int histogram_init(struct histogram *h, unsigned sub_bits, int64_t highest, struct fault *f)
{
	*h = (struct histogram){.sub_bits = sub_bits, .highest = highest};
	if (sub_bits > HISTOGRAM_SUB_BITS_MAX || highest < 0)
		return fault_set(f, -EINVAL, "a histogram of 2^%u buckets up to %lld cannot be made", sub_bits,
				 (long long)highest);
	h->buckets = index_of(sub_bits, (uint64_t)highest) + 1;
	h->counts = calloc(h->buckets, sizeof *h->counts);
	if (!h->counts)
		return fault_set(f, ENOMEM, "histogram of %zu buckets", h->buckets);
	return 0;
}

void histogram_free(struct histogram *h)
{
	free(h->counts);
	*h = (struct histogram){0};
}

void histogram_reset(struct histogram *h)
{
	memset(h->counts, 0, h->buckets * sizeof *h->counts);
	h->total = h->clipped = 0;
	h->min = h->max = 0;
	h->sum = 0;
}

size_t histogram_bucket(const struct histogram *h, int64_t value)
{
	size_t i = index_of(h->sub_bits, value < 0 ? 0 : (uint64_t)value);
	return i < h->buckets ? i : h->buckets - 1;
}

static unsigned shift_of(const struct histogram *h, size_t bucket)
{
	size_t octave = bucket >> h->sub_bits;
	return octave ? (unsigned)octave - 1 : 0;
}

int64_t histogram_bucket_low(const struct histogram *h, size_t bucket)
{
	unsigned shift = shift_of(h, bucket);
	return (int64_t)((uint64_t)(bucket - ((size_t)shift << h->sub_bits)) << shift);
}

int64_t histogram_bucket_high(const struct histogram *h, size_t bucket)
{
	uint64_t width = UINT64_C(1) << shift_of(h, bucket);
	return (int64_t)((uint64_t)histogram_bucket_low(h, bucket) + (width - 1));
}

void histogram_record_n(struct histogram *h, int64_t value, uint64_t n)
{
	if (n == 0)
		return;
	if (value < 0)
		value = 0;
	if (value > h->highest)
		h->clipped += n;
	h->counts[histogram_bucket(h, value)] += n;
	if (h->total == 0 || value < h->min)
		h->min = value;
	if (h->total == 0 || value > h->max)
		h->max = value;
	h->total += n;
	h->sum += (double)value * (double)n;
}

void histogram_record(struct histogram *h, int64_t value)
{
	histogram_record_n(h, value, 1);
}

int histogram_add(struct histogram *into, const struct histogram *from)
{
	if (into->sub_bits != from->sub_bits || into->highest != from->highest)
		return -EINVAL;
	if (from->total == 0)
		return 0;
	for (size_t i = 0; i < into->buckets; i++)
		into->counts[i] += from->counts[i];
	if (into->total == 0 || from->min < into->min)
		into->min = from->min;
	if (into->total == 0 || from->max > into->max)
		into->max = from->max;
	into->total += from->total;
	into->clipped += from->clipped;
	into->sum += from->sum;
	return 0;
}

int64_t histogram_percentile(const struct histogram *h, uint32_t ppm)
{
	return histogram_at_rank(h, stats_rank(h->total, ppm));
}

int64_t histogram_at_rank(const struct histogram *h, uint64_t rank)
{
	uint64_t seen = 0;
	if (rank == 0 || h->total == 0)
		return 0;
	/* the last bucket holds the clipped values, whose upper end only `max` knows */
	for (size_t i = 0; i + 1 < h->buckets; i++) {
		seen += h->counts[i];
		if (seen >= rank) {
			int64_t high = histogram_bucket_high(h, i);
			return high < h->max ? high : h->max;
		}
	}
	return h->max;
}

uint64_t histogram_count_to(const struct histogram *h, int64_t value)
{
	uint64_t seen = 0;
	size_t last = histogram_bucket(h, value);
	for (size_t i = 0; i <= last; i++)
		seen += h->counts[i];
	return seen;
}

double histogram_mean(const struct histogram *h)
{
	return h->total ? h->sum / (double)h->total : 0;
}

double histogram_relative_error(const struct histogram *h)
{
	return 1.0 / (double)(UINT64_C(1) << h->sub_bits);
}
