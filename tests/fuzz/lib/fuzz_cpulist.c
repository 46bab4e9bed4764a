/* fuzz_cpulist.c - sets of CPUs: "0-3,8".
 * seeds: online possible cpuset.cpus cpuset.cpus.effective
 */
#include "../fuzz.h"
#include "cpulist.h"

/* The set in the shortest form, as the kernel writes it; to be freed. */
static char *write_list(const struct cpulist *list)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	const char *comma = "";
	FUZZ_HOLDS(out);
	for (unsigned cpu = 0; cpu < CPULIST_MAX; cpu++) {
		unsigned first = cpu;
		while (cpu < CPULIST_MAX && list->bits[cpu / 64] >> cpu % 64 & 1)
			cpu++;
		if (cpu > first + 1)
			fprintf(out, "%s%u-%u", comma, first, cpu - 1);
		else if (cpu > first)
			fprintf(out, "%s%u", comma, first);
		if (cpu > first)
			comma = ",";
	}
	fclose(out);
	return text;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	struct fault f = {0};
	struct cpulist list;
	struct cpulist other;
	struct cpulist again;
	CLEANUP_FREE char *text = fuzz_next_part(&in);
	CLEANUP_FREE char *second = fuzz_next_part(&in);
	int rc = cpulist_parse(text, &list, &f);
	fuzz_check_fault(rc, &f);
	if (rc < 0)
		return 0;
	CLEANUP_FREE char *written = write_list(&list);
	FUZZ_HOLDS(cpulist_parse(written, &again, NULL) == 0);
	FUZZ_HOLDS(memcmp(&list, &again, sizeof list) == 0);
	FUZZ_HOLDS(cpulist_count(&list) <= CPULIST_MAX && (cpulist_count(&list) > 0) == (written[0] != '\0'));
	if (cpulist_parse(second, &other, NULL) == 0) {
		cpulist_intersect(&again, &other);
		FUZZ_HOLDS(cpulist_count(&again) <= cpulist_count(&list));
		FUZZ_HOLDS(cpulist_count(&again) <= cpulist_count(&other));
	}
	return 0;
}
