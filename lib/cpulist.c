#include "cpulist.h"

#include <errno.h>
#include <string.h>

static int take_cpu(const char **text, unsigned *out)
{
	const char *p = *text;
	unsigned value = 0;
	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++) {
		value = value * 10 + (unsigned)(*p - '0');
		if (value >= CPULIST_MAX)
			return -ERANGE;
	}
	*text = p;
	*out = value;
	return 0;
}

static int take_range(const char **text, struct cpulist *list)
{
	unsigned first;
	unsigned last;
	int rc = take_cpu(text, &first);
	if (rc < 0)
		return rc;
	last = first;
	if (**text == '-') {
		(*text)++;
		rc = take_cpu(text, &last);
		if (rc < 0)
			return rc;
	}
	if (last < first)
		return -EINVAL;
	for (unsigned cpu = first; cpu <= last; cpu++)
		list->bits[cpu / 64] |= UINT64_C(1) << cpu % 64;
	return 0;
}

int cpulist_parse(const char *text, struct cpulist *out, struct fault *f)
{
	struct cpulist list = {{0}};
	const char *p = text + strspn(text, " \t\n");
	int rc = 0;
	while (rc == 0 && *p && *p != '\n' && *p != ' ') {
		rc = take_range(&p, &list);
		if (rc == 0 && *p == ',' && p[1] >= '0' && p[1] <= '9')
			p++;
		else if (rc == 0 && *p && *p != '\n' && *p != ' ')
			rc = -EINVAL;
	}
	if (rc == 0 && p[strspn(p, " \t\n")])
		rc = -EINVAL;
	if (rc < 0)
		return fault_set(f, rc, "'%.40s' is not a list of CPUs such as 0-3,8", text);
	*out = list;
	return 0;
}

unsigned cpulist_count(const struct cpulist *list)
{
	unsigned n = 0;
	for (size_t i = 0; i < ARRAY_LEN(list->bits); i++)
		n += (unsigned)__builtin_popcountll(list->bits[i]);
	return n;
}

void cpulist_intersect(struct cpulist *list, const struct cpulist *other)
{
	for (size_t i = 0; i < ARRAY_LEN(list->bits); i++)
		list->bits[i] &= other->bits[i];
}
