#include "hgrm.h"

#include <math.h>

enum { TICKS_PER_HALVING = 5 };

static void write_line(FILE *out, int64_t ns, double share, uint64_t count)
{
	fprintf(out, "%12.6f %14.12f %10llu", (double)ns / 1e6, share, (unsigned long long)count);
	if (share < 1)
		fprintf(out, " %14.2f", 1 / (1 - share));
	fputc('\n', out);
}

static double deviation_ns(const struct dist *d)
{
	const struct histogram *h = &d->histogram;
	double mean = dist_mean_ns(d);
	double sum = 0;
	for (size_t i = 0; i < h->buckets; i++) {
		double middle = ((double)histogram_bucket_low(h, i) + (double)histogram_bucket_high(h, i)) / 2;
		if (h->counts[i])
			sum += (double)h->counts[i] * (middle - mean) * (middle - mean);
	}
	return h->total ? sqrt(sum / (double)h->total) : 0;
}

static void write_lines(FILE *out, const struct dist *d)
{
	uint64_t total = dist_count(d);
	double share = 0;
	for (;;) {
		uint64_t rank = (uint64_t)ceil(share * (double)total);
		int64_t ns = dist_at_rank(d, rank ? rank : 1);
		uint64_t count = dist_count_to(d, ns);
		/* the largest value has its own line, at 1 */
		if (count >= total)
			break;
		write_line(out, ns, share, count);
		double halvings = floor(log2(1 / (1 - share))) + 1;
		share += 1 / (TICKS_PER_HALVING * exp2(halvings));
	}
	write_line(out, dist_max(d), 1, total);
}

void hgrm_write(FILE *out, const struct dist *d, const char *note)
{
	if (note)
		fprintf(out, "%s", note);
	fprintf(out, "%12s %14s %10s %14s\n\n", "Value", "Percentile", "TotalCount", "1/(1-Percentile)");
	if (dist_count(d) > 0)
		write_lines(out, d);
	fprintf(out, "#[Mean    = %12.6f, StdDeviation   = %12.6f]\n", dist_mean_ns(d) / 1e6, deviation_ns(d) / 1e6);
	fprintf(out, "#[Max     = %12.6f, Total count    = %12llu]\n", (double)dist_max(d) / 1e6,
		(unsigned long long)dist_count(d));
	fprintf(out, "#[Buckets = %12d, SubBuckets     = %12d]\n", (int)(d->histogram.buckets >> DIST_SUB_BITS) + 1,
		1 << DIST_SUB_BITS);
}
