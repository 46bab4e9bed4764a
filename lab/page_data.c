#include "page_data.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static double rounded(double ms)
{
	return round(ms * 1000) / 1000;
}

static json_value *spans_json(const struct page_run *run)
{
	json_value *all = json_new_array();
	for (size_t i = 0; i < run->n_throttled; i++) {
		json_value *one = json_new_array();
		json_add_real(one, rounded(run->throttled[i].from_ms));
		json_add_real(one, rounded(run->throttled[i].to_ms));
		json_add_value(all, one);
	}
	return all;
}

static json_value *periods_json(const struct page_run *run)
{
	json_value *all = json_new_array();
	for (size_t i = 0; i < run->n_periods; i++) {
		json_value *one = json_new_array();
		json_add_real(one, rounded(run->periods[i].from_ms));
		json_add_real(one, rounded(run->periods[i].to_ms));
		json_add_real(one, rounded(run->periods[i].cpu_ms));
		json_add_value(all, one);
	}
	return all;
}

static const struct {
	const char *key;
	size_t offset;
} columns[] = {
	{"at_ms", offsetof(struct page_request, at_ms)},
	{"latency_ms", offsetof(struct page_request, latency_ms)},
	{"queue_ms", offsetof(struct page_request, queue_ms)},
	{"cpu_ms", offsetof(struct page_request, cpu_ms)},
	{"cpu_wait_ms", offsetof(struct page_request, cpu_wait_ms)},
};

static json_value *run_json(const struct page_run *run)
{
	json_value *o = json_new_object();
	json_set_text(o, "limit", run->limit);
	json_set_text(o, "pattern", run->pattern);
	json_set_u64(o, "repetition", run->repetition);
	json_set_bool(o, "valid", run->valid);
	for (size_t i = 0; i < ARRAY_LEN(columns); i++) {
		json_value *list = json_new_array();
		for (size_t k = 0; k < run->n_requests; k++)
			json_add_real(list, rounded(*(const double *)(const void *)((const char *)&run->requests[k] +
										    columns[i].offset)));
		json_set_value(o, columns[i].key, list);
	}
	json_set_value(o, "throttled_ms", spans_json(run));
	json_set_value(o, "periods_ms", periods_json(run));
	return o;
}

static json_value *results_json(const struct page_results *r)
{
	json_value *o = json_new_object();
	json_value *runs = json_new_array();
	char *summary = json_text(r->summary, NULL);
	json_set_text(o, "name", r->name);
	json_set_value(o, "summary", summary ? json_parse(summary, strlen(summary), NULL) : NULL);
	free(summary);
	for (size_t i = 0; i < r->n_runs; i++)
		json_add_value(runs, run_json(&r->runs[i]));
	json_set_value(o, "runs", runs);
	return o;
}

/* Inside of <script> nothing is a reference, and only '<' could end it. */
static void put_without_tags(FILE *out, const char *text)
{
	for (; *text; text++)
		if (*text == '<')
			fputs("\\u003c", out);
		else
			fputc(*text, out);
}

int page_data_write(FILE *out, const struct page_results *all, size_t n)
{
	CLEANUP_JSON json_value *o = json_new_object();
	json_value *list = json_new_array();
	json_set_u64(o, "schema_version", 1);
	for (size_t i = 0; i < n; i++)
		json_add_value(list, results_json(&all[i]));
	json_set_value(o, "results", list);
	CLEANUP_FREE char *text = json_text(o, NULL);
	if (!text)
		return -ENOMEM;
	fputs("<script type=\"application/json\" id=\"data\">", out);
	put_without_tags(out, text);
	fputs("</script>\n", out);
	return 0;
}
