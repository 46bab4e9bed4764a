#include "buckets.h"

const int64_t bucket_bounds_ns[BUCKETS] = {
	50000,    100000,    250000,    500000,    1000000,    2500000,    5000000,    10000000,    25000000,
	50000000, 100000000, 250000000, 500000000, 1000000000, 2500000000, 5000000000, 10000000000,
};

const char *const bucket_bounds_text[BUCKETS] = {
	"5e-05", "0.0001", "0.00025", "0.0005", "0.001", "0.0025", "0.005", "0.01", "0.025",
	"0.05",  "0.1",    "0.25",    "0.5",    "1.0",   "2.5",    "5.0",   "10.0",
};

void buckets_add(struct buckets *b, int64_t ns)
{
	size_t i = 0;
	if (ns < 0)
		return;
	while (i < BUCKETS && ns > bucket_bounds_ns[i])
		i++;
	b->counts[i]++;
	b->total++;
	b->sum_ns += ns;
}
