#include "study1_tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void study1_put_paragraph(FILE *out, const char *text)
{
	if (!*text)
		return;
	tables_wrap(out, "", text, 0, STUDY1_LINE_WIDTH);
	fputc('\n', out);
}

void study1_write_order(FILE *out, const struct experiment *e)
{
	char text[1024] = "";
	size_t runs = e->n_conditions * e->repetitions;
	for (size_t i = 0; i < runs; i++) {
		const struct condition *c = &e->conditions[e->order[i]];
		char limit[LIMIT_TEXT_SIZE];
		size_t used = strlen(text);
		limit_text(c->limit_cpus, limit);
		snprintf(text + used, sizeof text - used, "%s%s%s %s", i ? ", " : "",
			 i && i % e->n_conditions == 0 ? "then " : "", limit, c->load->name);
	}
	tables_wrap(out, "order", text, 10, STUDY1_LINE_WIDTH);
}

static const struct table_column main_columns[] = {
	{NULL, "limit", true},
	{NULL, "load", true},
	{"mean CPU", "here", false},
	{"mean CPU", "published", false},
	{"of the limit", "here", false},
	{"of the limit", "published", false},
	{"p99 (ms)", "here", false},
	{"p99 (ms)", "published", false},
	{"throttled periods", "here", false},
	{"throttled periods", "published", false},
	{"p99 range over runs (ms)", "here", false},
	{"p99 range over runs (ms)", "published", false},
};

void study1_put_range(struct table *t, double low, double high)
{
	if (isnan(low) || low == high)
		table_cell(t, "-");
	else
		table_cell(t, "%.1f to %.1f", low, high);
}

static void put_throttled(struct table *t, const struct summary *s)
{
	if (s->runs == 0 || s->nr_throttled == FIGURE_ABSENT)
		table_cell(t, "-");
	else if (s->condition.limit_cpus == LIMIT_NO_CPUS)
		table_cell(t, "%" PRIu64, s->nr_throttled);
	else
		table_cell(t, "%" PRIu64 " of %" PRIu64, s->nr_throttled, s->nr_periods);
}

static void put_main_row(struct table *t, const struct summary *s, const struct study1_published *p)
{
	char limit[LIMIT_TEXT_SIZE];
	limit_text(s->condition.limit_cpus, limit);
	table_cell(t, "%s", limit);
	table_cell(t, "%s", s->condition.load->name);
	table_number(t, s->cpu_cores_mean, 3, "");
	table_number(t, p->cpu_cores_mean, 3, "");
	table_number(t, s->of_limit * 100, 1, "%");
	table_number(t, p->of_limit * 100, 1, "%");
	table_number(t, s->p99_ms, 1, "");
	table_number(t, p->p99_ms, 1, "");
	put_throttled(t, s);
	table_number(t, p->nr_throttled, 0, "");
	study1_put_range(t, s->p99_low_ms, s->p99_high_ms);
	study1_put_range(t, p->p99_low_ms, p->p99_high_ms);
}

int study1_write_main_table(FILE *out, const struct summary *s, bool color)
{
	struct table t;
	table_init(&t, main_columns, ARRAY_LEN(main_columns));
	for (size_t c = 0; c < STUDY1_CONDITIONS; c++)
		if (s[c].condition.load)
			put_main_row(&t, &s[c], &study1_published[c]);
	int rc = table_write(&t, out, color);
	table_release(&t);
	return rc;
}

void study1_write_judgement(FILE *out, const struct study1_judgement *j, const char *unfinished, bool color)
{
	if (!j) {
		fprintf(out, "shape: not judged, the study is not finished (%s)\n", unfinished);
		return;
	}
	tables_style(out, j->n ? "\033[31m" : "\033[32m", color);
	fprintf(out, "shape: %s", j->n ? "differs from the published one" : "as published");
	tables_style(out, "\033[0m", color);
	fputc('\n', out);
	for (size_t i = 0; i < j->n; i++)
		fprintf(out, "  - %s\n", j->differences[i]);
}

void study1_write_left_out(FILE *out, const struct experiment *e)
{
	for (size_t i = 0; i < e->n_runs; i++) {
		const struct run_plan *plan = &e->runs[i].plan;
		char limit[LIMIT_TEXT_SIZE];
		if (e->runs[i].result.figures.valid)
			continue;
		limit_text(plan->condition.limit_cpus, limit);
		fprintf(out, "left out: %s at %s, repetition %u: %s\n", plan->condition.load->name, limit,
			plan->repetition, e->runs[i].result.figures.invalid_reason);
	}
}

json_value *study1_order_json(const struct experiment *e)
{
	json_value *order = json_new_array();
	for (size_t i = 0; i < e->n_conditions * e->repetitions; i++) {
		const struct condition *c = &e->conditions[e->order[i]];
		char text[64];
		char limit[LIMIT_TEXT_SIZE];
		limit_text(c->limit_cpus, limit);
		snprintf(text, sizeof text, "%s %s", limit, c->load->name);
		json_add_text(order, text);
	}
	return order;
}

json_value *study1_published_json(const struct study1_published *p)
{
	json_value *o = json_new_object();
	json_set_real(o, "cpu_cores_mean", p->cpu_cores_mean);
	json_set_real(o, "of_limit", p->of_limit);
	json_set_real(o, "p99_ms", p->p99_ms);
	json_set_real(o, "p99_low_ms", p->p99_low_ms);
	json_set_real(o, "p99_high_ms", p->p99_high_ms);
	json_set_real(o, "nr_throttled", p->nr_throttled);
	return o;
}

void study1_set_judgement(json_value *o, const struct study1_judgement *j)
{
	json_value *differences = json_new_array();
	for (size_t i = 0; j && i < j->n; i++)
		json_add_text(differences, j->differences[i]);
	json_set_text(o, "shape", !j ? NULL : j->n ? "differs" : "as published");
	json_set_value(o, "differences", differences);
}
