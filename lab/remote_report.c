#include "remote_report.h"

#include "clock.h"
#include "study1_tables.h"
#include "tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

enum { VERDICTS_MAX = 8 };

static bool is_of(const struct experiment_run *run, const struct condition *c)
{
	const struct condition *its = &run->plan.condition;
	return its->load == c->load && !(its->limit_cpus < c->limit_cpus) && !(its->limit_cpus > c->limit_cpus);
}

/* ---- what the sidecars said -----------------------------------------------------------------------------------------
 */

/* The window of a run, in a document to be released; NULL = none. */
static json_value *run_line(const struct experiment_run *run)
{
	const char *log = run->result.sidecar_log;
	return log && run->result.figures.valid ? json_parse(log, strlen(log), NULL) : NULL;
}

struct verdict_count {
	char id[32];
	size_t n;
};

static size_t add_verdict(struct verdict_count *all, size_t n, const char *id)
{
	for (size_t i = 0; i < n; i++) {
		if (strcmp(all[i].id, id) == 0) {
			all[i].n++;
			return n;
		}
	}
	if (n == VERDICTS_MAX)
		return n;
	snprintf(all[n].id, sizeof all[n].id, "%s", id);
	all[n].n = 1;
	return n + 1;
}

static size_t count_verdicts(const struct experiment *e, const struct condition *c, struct verdict_count *all)
{
	size_t n = 0;
	for (size_t i = 0; i < e->n_runs; i++) {
		CLEANUP_JSON json_value *line = is_of(&e->runs[i], c) ? run_line(&e->runs[i]) : NULL;
		const char *id = json_get_text(json_get(line, "window"), "verdict");
		if (id)
			n = add_verdict(all, n, id);
	}
	return n;
}

void remote_verdicts(const struct experiment *e, const struct condition *c, char out[REMOTE_VERDICT_SIZE])
{
	struct verdict_count all[VERDICTS_MAX];
	size_t n = count_verdicts(e, c, all);
	snprintf(out, REMOTE_VERDICT_SIZE, "%s", n ? all[0].id : "-");
	for (size_t i = 0; n > 1 && i < n; i++) {
		size_t used = i ? strlen(out) : 0;
		snprintf(out + used, REMOTE_VERDICT_SIZE - used, "%s%.40s %zu", i ? ", " : "", all[i].id, all[i].n);
	}
}

/* Of the last valid run, with what to do next; "" = none. `held_up_only`: nothing about one that nothing held up. */
static void last_sentence(const struct experiment *e, const struct condition *c, bool held_up_only,
			  char out[STUDY1_TEXT_SIZE])
{
	out[0] = '\0';
	for (size_t i = 0; i < e->n_runs; i++) {
		CLEANUP_JSON json_value *line = is_of(&e->runs[i], c) ? run_line(&e->runs[i]) : NULL;
		const json_value *window = json_get(line, "window");
		const char *sentence = json_get_text(window, "verdict_sentence");
		const char *next = json_get_text(window, "verdict_next");
		const char *id = json_get_text(window, "verdict");
		if (sentence && held_up_only && id && strcmp(id, "own_code") == 0)
			out[0] = '\0';
		else if (sentence)
			snprintf(out, STUDY1_TEXT_SIZE, "%s%s%s", sentence, next ? "; next: " : "", next ? next : "");
	}
}

/* ---- before the first run -------------------------------------------------------------------------------------------
 */

static double every_ms(const struct experiment *e, const struct workload *load)
{
	return (double)(load->every_ns * e->setup.stretch) / 1e6;
}

static double requests_per_s(const struct experiment *e)
{
	return 1000 / every_ms(e, study1_conditions[0].load);
}

static const char same_node_text[] =
	"runs on this host too: what sends the requests then takes CPUs from it, and the other way round";

static void write_targets(FILE *out, const struct remote *remote)
{
	for (size_t i = 0; i < remote->n; i++) {
		const struct remote_target *t = &remote->targets[i];
		fprintf(out, "%s %-5s %s, sidecar %s, container %s, on %s host\n", i ? "         " : "probes   ",
			t->name, t->probe_url, t->report_url, t->container, t->same_node ? "this" : "another");
	}
}

void remote_write_intro(FILE *out, const struct remote_report *r, bool color)
{
	const struct experiment *e = r->experiment;
	tables_style(out, "\033[1m", color);
	fprintf(out, "Study 1: the same %g requests/s, even or in bursts, against probes under CPU limits of their own",
		requests_per_s(e));
	tables_style(out, "\033[0m", color);
	fputs("\n\n", out);
	write_targets(out, r->remote);
	if (r->remote->rounds)
		fprintf(out, "work      %" PRIu64 " rounds of SHA-256 a request, the same for all\n",
			r->remote->rounds);
	else
		fputs("work      whatever the service does for its URL\n", out);
	fprintf(out, "load      even: 1 request every %g ms; burst: %d every %g ms; at most %d connections\n",
		every_ms(e, study1_conditions[0].load), STUDY1_BURST, every_ms(e, study1_conditions[1].load),
		STUDY1_CONNECTIONS);
	fprintf(out, "runs      %zu x %g s for each condition; seed %" PRIu64 "\n", e->repetitions,
		(double)e->setup.duration_ns / 1e9, r->seed);
	study1_write_order(out, e);
	fputc('\n', out);
	fflush(out);
}

/* ---- the report -----------------------------------------------------------------------------------------------------
 */

static const struct table_column sidecar_columns[] = {
	{NULL, "limit", true},
	{NULL, "load", true},
	{NULL, "throttled (ms)", false},
	{NULL, "cpu.pressure some (ms)", false},
	{NULL, "CPU of a request (ms)", false},
	{NULL, "the sidecar says", true},
};

static double ms_of(uint64_t usec)
{
	return usec == FIGURE_ABSENT ? (double)NAN : (double)usec / 1000;
}

static int write_sidecar_table(FILE *out, const struct remote_report *r, bool color)
{
	struct table t;
	table_init(&t, sidecar_columns, ARRAY_LEN(sidecar_columns));
	for (size_t c = 0; c < STUDY1_CONDITIONS; c++) {
		const struct summary *s = &r->summaries[c];
		char limit[LIMIT_TEXT_SIZE], verdicts[REMOTE_VERDICT_SIZE];
		if (!s->condition.load)
			continue;
		limit_text(s->condition.limit_cpus, limit);
		remote_verdicts(r->experiment, &s->condition, verdicts);
		table_cell(&t, "%s", limit);
		table_cell(&t, "%s", s->condition.load->name);
		table_number(&t, s->runs ? ms_of(s->throttled_usec) : (double)NAN, 1, "");
		table_number(&t, s->runs ? ms_of(s->psi_cpu_some_usec) : (double)NAN, 1, "");
		table_number(&t, s->cpu_ms_per_request, 2, "");
		table_cell(&t, "%s", verdicts);
	}
	fputs("What the sidecars saw, from just before the first send to just after the last answer (sums over the "
	      "runs):\n\n",
	      out);
	int rc = table_write(&t, out, color);
	table_release(&t);
	return rc;
}

static void write_sentences(FILE *out, const struct remote_report *r)
{
	for (size_t c = 0; c < STUDY1_CONDITIONS; c++) {
		const struct condition *condition = &r->summaries[c].condition;
		char text[STUDY1_TEXT_SIZE], limit[LIMIT_TEXT_SIZE], label[48];
		if (!condition->load)
			continue;
		last_sentence(r->experiment, condition, true, text);
		limit_text(condition->limit_cpus, limit);
		snprintf(label, sizeof label, "%-5s %s", limit, condition->load->name);
		if (*text)
			tables_wrap(out, label, text, 13, STUDY1_LINE_WIDTH);
	}
	fputc('\n', out);
}

static bool has_figures(const struct remote_report *r)
{
	for (size_t c = 0; c < STUDY1_CONDITIONS; c++)
		if (r->summaries[c].condition.load && r->summaries[c].runs == 0)
			return false;
	return r->judgement != NULL;
}

static void write_notes(FILE *out, const struct remote *remote)
{
	for (size_t i = 0; i < remote->n; i++)
		if (remote->targets[i].same_node)
			fprintf(out, "note: the probe at %s %s\n", remote->targets[i].name, same_node_text);
}

int remote_write_text(FILE *out, const struct remote_report *r, bool color)
{
	char text[STUDY1_TEXT_SIZE];
	int rc = study1_write_main_table(out, r->summaries, color);
	study1_put_paragraph(out, "Published: 20 requests/s, 3 runs of 20 s. p99: from the planned send to the last "
				  "byte, nearest rank over all requests of a condition.");
	if (rc == 0)
		rc = write_sidecar_table(out, r, color);
	write_sentences(out, r);
	if (has_figures(r)) {
		study1_sentence(r->summaries, requests_per_s(r->experiment), text);
		study1_put_paragraph(out, text);
	}
	study1_write_left_out(out, r->experiment);
	write_notes(out, r->remote);
	study1_write_judgement(out, r->judgement, r->unfinished, color);
	return rc;
}

/* ---- JSON -----------------------------------------------------------------------------------------------------------
 */

static json_value *targets_json(const struct remote *remote)
{
	json_value *all = json_new_array();
	for (size_t i = 0; i < remote->n; i++) {
		const struct remote_target *t = &remote->targets[i];
		json_value *o = json_new_object();
		json_set_text(o, "limit", t->name);
		json_set_text(o, "probe", t->probe_url);
		json_set_text(o, "report", t->report_url);
		json_set_text(o, "container", t->container);
		json_set_bool(o, "same_node", t->same_node);
		json_add_value(all, o);
	}
	return all;
}

static json_value *conditions_json(const struct remote_report *r)
{
	json_value *all = json_new_array();
	for (size_t c = 0; c < STUDY1_CONDITIONS; c++) {
		const struct summary *s = &r->summaries[c];
		char text[STUDY1_TEXT_SIZE], verdicts[REMOTE_VERDICT_SIZE];
		if (!s->condition.load)
			continue;
		json_value *o = summary_json(s);
		json_set_value(o, "published", study1_published_json(&study1_published[c]));
		remote_verdicts(r->experiment, &s->condition, verdicts);
		json_set_text(o, "verdict", strcmp(verdicts, "-") == 0 ? NULL : verdicts);
		last_sentence(r->experiment, &s->condition, false, text);
		json_set_text(o, "verdict_sentence", *text ? text : NULL);
		json_add_value(all, o);
	}
	return all;
}

json_value *remote_json(const struct remote_report *r)
{
	const struct experiment *e = r->experiment;
	json_value *o = json_new_object();
	char text[STUDY1_TEXT_SIZE] = "";
	char started[CLOCK_RFC3339_SIZE];
	clock_rfc3339(r->started_wall_ns, started);
	json_set_u64(o, "schema_version", 1);
	json_set_text(o, "study", "1");
	json_set_text(o, "started", started);
	json_set_value(o, "remote", targets_json(r->remote));
	if (r->remote->rounds)
		json_set_u64(o, "rounds", r->remote->rounds);
	else
		json_set_null(o, "rounds");
	json_set_u64(o, "stretch", e->setup.stretch);
	json_set_real(o, "seconds", (double)e->setup.duration_ns / 1e9);
	json_set_u64(o, "repetitions", e->repetitions);
	json_set_u64(o, "seed", r->seed);
	json_set_value(o, "order", study1_order_json(e));
	json_set_value(o, "conditions", conditions_json(r));
	study1_set_judgement(o, r->judgement);
	json_set_text(o, "unfinished", r->unfinished);
	if (has_figures(r))
		study1_sentence(r->summaries, requests_per_s(e), text);
	json_set_text(o, "sentence", *text ? text : NULL);
	json_set_text(o, "results", r->folder);
	return o;
}

/* ---- the termination message ----------------------------------------------------------------------------------------
 */

static void write_message(FILE *out, const struct remote_report *r)
{
	study1_write_judgement(out, r->judgement, r->unfinished, false);
	for (size_t c = 0; c < STUDY1_CONDITIONS; c++) {
		const struct summary *s = &r->summaries[c];
		char limit[LIMIT_TEXT_SIZE], verdicts[REMOTE_VERDICT_SIZE];
		if (!s->condition.load)
			continue;
		limit_text(s->condition.limit_cpus, limit);
		remote_verdicts(r->experiment, &s->condition, verdicts);
		fprintf(out, "%s %s: ", limit, s->condition.load->name);
		if (s->runs == 0) {
			fputs("no valid run\n", out);
			continue;
		}
		fprintf(out, "p99 %.1f ms, mean CPU %.3f", s->p99_ms, s->cpu_cores_mean);
		if (s->nr_throttled != FIGURE_ABSENT && s->nr_periods > 0)
			fprintf(out, ", %" PRIu64 " of %" PRIu64 " periods throttled", s->nr_throttled, s->nr_periods);
		fprintf(out, ", %s\n", verdicts);
	}
	study1_write_left_out(out, r->experiment);
}

char *remote_message(const struct remote_report *r)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	if (!out)
		return NULL;
	write_message(out, r);
	if (fclose(out) == 0)
		return text;
	free(text);
	return NULL;
}
