/* fuzz_kernel.c - the kernel's small files, each text given to every parser of kv.h.
 * seeds: cpu.max cpu.stat cpu.stat.local cpu.cfs_quota_us cpu.cfs_period_us cpuacct.usage cpuacct.stat *.pressure
 * schedstat status
 */
#include "../fuzz.h"
#include "kv.h"

static const char *const keys[] = {"usage_usec", "user_usec",      "system_usec",    "nr_periods", "nr_throttled",
				   "user",       "throttled_usec", "throttled_time", "nr_bursts"};

/* What was read, written down again and read again, is the same. */
static void check_keys(const char *text)
{
	struct fault f = {0};
	uint64_t values[ARRAY_LEN(keys)];
	uint64_t again[ARRAY_LEN(keys)];
	uint32_t have = 0;
	uint32_t have_again = 0;
	char written[ARRAY_LEN(keys) * 48];
	size_t used = 0;
	int rc = kv_read_keys(text, keys, ARRAY_LEN(keys), values, &have, &f);
	fuzz_check_fault(rc, &f);
	if (rc < 0)
		return;
	FUZZ_HOLDS(have < 1U << ARRAY_LEN(keys));
	for (size_t i = 0; i < ARRAY_LEN(keys); i++) {
		FUZZ_HOLDS(have & (1U << i) || values[i] == 0);
		if (have & (1U << i))
			used += (size_t)snprintf(written + used, sizeof written - used, "%s %llu\n", keys[i],
						 (unsigned long long)values[i]);
	}
	written[used] = '\0';
	FUZZ_HOLDS(kv_read_keys(written, keys, ARRAY_LEN(keys), again, &have_again, NULL) == 0);
	FUZZ_HOLDS(have == have_again && memcmp(values, again, sizeof values) == 0);
}

static void check_same_quota(const struct cpu_quota *a, const struct cpu_quota *b)
{
	FUZZ_HOLDS(a->quota_usec == b->quota_usec && a->period_usec == b->period_usec);
	FUZZ_HOLDS(!cpu_quota_is_below(a, b) && !cpu_quota_is_below(b, a));
}

static void check_quota(const char *text)
{
	struct fault f = {0};
	struct cpu_quota q;
	struct cpu_quota again;
	char written[64];
	char period[32];
	int rc = kv_read_cpu_max(text, &q, &f);
	fuzz_check_fault(rc, &f);
	if (rc < 0)
		return;
	FUZZ_HOLDS(q.period_usec > 0 && q.quota_usec > 0);
	snprintf(period, sizeof period, "%llu\n", (unsigned long long)q.period_usec);
	if (q.quota_usec == QUOTA_NONE)
		snprintf(written, sizeof written, "max %s", period);
	else
		snprintf(written, sizeof written, "%llu %s", (unsigned long long)q.quota_usec, period);
	FUZZ_HOLDS(kv_read_cpu_max(written, &again, NULL) == 0);
	check_same_quota(&q, &again);
	/* v1 says the same in two files */
	snprintf(written, sizeof written, "%lld\n", (long long)q.quota_usec);
	if (q.quota_usec == QUOTA_NONE || q.quota_usec <= INT64_MAX) {
		FUZZ_HOLDS(kv_read_cfs_quota(written, period, &again, NULL) == 0);
		check_same_quota(&q, &again);
		FUZZ_HOLDS(q.quota_usec == QUOTA_NONE || cpu_quota_cpus(&q) > 0);
	}
}

static void check_v1(const char *text)
{
	struct fault f = {0};
	struct cpu_quota q;
	uint64_t number;
	const char *second = strchr(text, '\n');
	fuzz_check_fault(kv_read_cfs_quota(text, text, &q, &f), &f);
	f = (struct fault){0};
	fuzz_check_fault(kv_read_cfs_quota(text, "100000\n", &q, &f), &f);
	if (second && kv_read_cfs_quota("-1\n", second, &q, NULL) == 0)
		FUZZ_HOLDS(q.quota_usec == QUOTA_NONE && q.period_usec > 0);
	f = (struct fault){0};
	fuzz_check_fault(kv_read_number(text, &number, &f), &f);
}

static void check_psi_line(const struct psi_line *line)
{
	FUZZ_HOLDS(isfinite(line->avg10) && isfinite(line->avg60) && isfinite(line->avg300));
	FUZZ_HOLDS(line->avg10 >= 0 && line->avg60 >= 0 && line->avg300 >= 0);
}

static void check_psi(const char *text)
{
	struct fault f = {0};
	struct psi psi;
	int rc = kv_read_psi(text, &psi, &f);
	fuzz_check_fault(rc, &f);
	if (rc < 0)
		return;
	check_psi_line(&psi.some);
	check_psi_line(&psi.full);
	FUZZ_HOLDS(psi.has_full || psi.full.total_usec == 0);
}

static void check_proc(const char *text)
{
	struct fault f = {0};
	struct schedstat s;
	struct cpu_ticks t;
	char value[16];
	fuzz_check_fault(kv_read_schedstat(text, &s, &f), &f);
	f = (struct fault){0};
	fuzz_check_fault(kv_read_cpu_ticks(text, &t, &f), &f);
	f = (struct fault){0};
	int rc = kv_status_field(text, "Uid", value, sizeof value, &f);
	fuzz_check_fault(rc, &f);
	if (rc == 0)
		FUZZ_HOLDS(strlen(value) < sizeof value && !strchr(value, '\n') && strstr(text, value));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = fuzz_text(data, size);
	check_keys(text);
	check_quota(text);
	check_v1(text);
	check_psi(text);
	check_proc(text);
	return 0;
}
