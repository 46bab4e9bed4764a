#include "page_conditions.h"

#include <math.h>
#include <string.h>

static void name_condition(struct shown *s, size_t at)
{
	static const char *const patterns[] = {"even", "burst"};
	double limit = page_number(s->json, "limit_cpus");
	const char *class = "other";
	limit_text(isnan(limit) ? LIMIT_NO_CPUS : limit, s->limit);
	if (isnan(limit))
		snprintf(s->name, sizeof s->name, "%.40s, no limit", s->pattern);
	else
		snprintf(s->name, sizeof s->name, "%.40s at %g CPU", s->pattern, limit);
	for (size_t i = 0; i < ARRAY_LEN(patterns); i++)
		if (strcmp(s->pattern, patterns[i]) == 0)
			class = patterns[i];
	snprintf(s->class, sizeof s->class, "%s limit-%zu", class, at / 2);
}

struct conditions conditions_take(const struct page_results *r)
{
	struct conditions c = {.n = 0};
	const json_value *all = json_get(r->summary, "conditions");
	for (size_t i = 0; i < json_length(all) && c.n < CONDITIONS_MAX; i++) {
		struct shown *s = &c.list[c.n];
		*s = (struct shown){.json = json_at(all, i), .pattern = json_get_text(json_at(all, i), "pattern")};
		if (!s->pattern || !(page_number(s->json, "runs") > 0))
			continue;
		name_condition(s, i);
		c.n++;
	}
	return c;
}

const struct shown *conditions_find(const struct conditions *c, const char *pattern, double limit)
{
	for (size_t i = 0; i < c->n; i++)
		if (strcmp(c->list[i].pattern, pattern) == 0 && page_number(c->list[i].json, "limit_cpus") == limit)
			return &c->list[i];
	return NULL;
}

bool conditions_match(const struct shown *s, const struct page_run *run)
{
	return strcmp(run->limit, s->limit) == 0 && strcmp(run->pattern, s->pattern) == 0;
}
