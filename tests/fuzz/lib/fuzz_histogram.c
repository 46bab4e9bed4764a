/* fuzz_histogram.c - a histogram against the samples that it was made of. The input: sub_bits, then numbers.
 * seeds:
 */
#include "../fuzz.h"
#include "histogram.h"
#include "stats.h"

enum { SAMPLES_MAX = 200 };

static const int64_t highest = INT64_C(3600) * NSEC_PER_SEC;

static size_t take_samples(struct fuzz_input *in, int64_t samples[SAMPLES_MAX])
{
	size_t n = 0;
	uint8_t width;
	/* of every width, so that small numbers are as likely as large ones */
	while (n < SAMPLES_MAX && fuzz_take(in, &width, 1)) {
		uint64_t value = 0;
		if (!fuzz_take(in, &value, 1U + width % 8U))
			break;
		samples[n++] = (int64_t)(value % (uint64_t)(highest + 1));
	}
	return n;
}

static void check_buckets(const struct histogram *h, int64_t value)
{
	size_t bucket = histogram_bucket(h, value);
	FUZZ_HOLDS(bucket < h->buckets);
	FUZZ_HOLDS(histogram_bucket_low(h, bucket) <= value && value <= histogram_bucket_high(h, bucket));
	FUZZ_HOLDS(bucket == 0 || histogram_bucket_high(h, bucket - 1) == histogram_bucket_low(h, bucket) - 1);
}

/* "never below the exact nearest-rank percentile and above it by less than 1 / 2^sub_bits of it" */
static void check_percentiles(const struct histogram *h, const int64_t *sorted, size_t n)
{
	static const uint32_t ppms[] = {0,          1,      STATS_P50, STATS_P90, STATS_P99,
					STATS_P999, 999999, STATS_MAX, UINT32_MAX};
	for (size_t i = 0; i < ARRAY_LEN(ppms); i++) {
		uint64_t rank = stats_rank(n, ppms[i]);
		int64_t exact = stats_percentile(sorted, n, ppms[i]);
		int64_t is = histogram_percentile(h, ppms[i]);
		FUZZ_HOLDS(rank >= 1 && rank <= n && exact == sorted[rank - 1]);
		FUZZ_HOLDS(is >= exact && (double)(is - exact) <= (double)exact * histogram_relative_error(h));
		FUZZ_HOLDS(histogram_count_to(h, is) >= rank);
	}
	FUZZ_HOLDS(histogram_at_rank(h, n) == sorted[n - 1] && h->min == sorted[0] && h->max == sorted[n - 1]);
	FUZZ_HOLDS(stats_median(sorted, n) >= sorted[0] && stats_median(sorted, n) <= sorted[n - 1]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct histogram one;
	struct histogram two;
	struct histogram sum;
	int64_t samples[SAMPLES_MAX];
	uint8_t sub_bits = 0;
	if (!fuzz_take(&in, &sub_bits, 1))
		return 0;
	size_t n = take_samples(&in, samples);
	sub_bits %= 11; /* more of them only make it slow */
	FUZZ_HOLDS(histogram_init(&one, sub_bits, highest, NULL) == 0);
	FUZZ_HOLDS(histogram_init(&two, sub_bits, highest, NULL) == 0);
	FUZZ_HOLDS(histogram_init(&sum, sub_bits, highest, NULL) == 0);
	for (size_t i = 0; i < n; i++) {
		check_buckets(&one, samples[i]);
		histogram_record(i % 3 ? &one : &two, samples[i]);
	}
	FUZZ_HOLDS(histogram_add(&sum, &one) == 0 && histogram_add(&sum, &two) == 0);
	FUZZ_HOLDS(sum.total == n && sum.clipped == 0);
	stats_sort(samples, n);
	if (n > 0)
		check_percentiles(&sum, samples, n);
	histogram_free(&one);
	histogram_free(&two);
	histogram_free(&sum);
	return 0;
}
