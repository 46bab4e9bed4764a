#include "remote_study2.h"

#include "clock.h"
#include "remote_report.h"
#include "tables.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

const char *study2_expected_verdict(const char *name)
{
	static const struct {
		const char *name, *verdict;
	} cases[] = {{"A", "own_code"}, {"B", "throttled"}, {"C", "contention"}, {"D", "io_wait"}};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++)
		if (strcmp(name, cases[i].name) == 0)
			return cases[i].verdict;
	return NULL;
}

static const char *name_of(const struct remote_study2 *s, size_t i)
{
	return s->experiment->conditions[i].load->name;
}

static void verdict_of(const struct remote_study2 *s, size_t i, char out[REMOTE_VERDICT_SIZE])
{
	remote_verdicts(s->experiment, &s->experiment->conditions[i], out);
}

size_t study2_differences(const struct remote_study2 *s, FILE *out)
{
	size_t n = 0;
	for (size_t i = 0; i < s->experiment->n_conditions; i++) {
		const char *expected = study2_expected_verdict(name_of(s, i));
		char verdict[REMOTE_VERDICT_SIZE];
		verdict_of(s, i, verdict);
		if (!expected || strcmp(verdict, expected) == 0)
			continue;
		n++;
		if (out)
			fprintf(out, "  - %s: the sidecar says %s, expected %s\n", name_of(s, i), verdict, expected);
	}
	return n;
}

static void write_judgement(FILE *out, const struct remote_study2 *s)
{
	if (s->unfinished) {
		fprintf(out, "verdicts: not judged, the study is not finished (%s)\n", s->unfinished);
		return;
	}
	fprintf(out, "verdicts: %s\n",
		study2_differences(s, NULL) ? "differ from the published causes" : "as published");
	(void)study2_differences(s, out);
}

static void write_left_out(FILE *out, const struct remote_study2 *s)
{
	for (size_t i = 0; i < s->experiment->n_runs; i++) {
		const struct experiment_run *run = &s->experiment->runs[i];
		if (!run->result.figures.valid)
			fprintf(out, "left out: %s, repetition %u: %s\n", run->plan.condition.load->name,
				run->plan.repetition, run->result.figures.invalid_reason);
	}
}

void study2_write_intro(FILE *out, const struct remote_study2 *s)
{
	const struct experiment *e = s->experiment;
	fputs("Study 2: the same work, in different circumstances: what tells them apart?\n\n", out);
	for (size_t i = 0; i < s->remote->n; i++) {
		const struct remote_target *t = &s->remote->targets[i];
		char limit[LIMIT_TEXT_SIZE];
		limit_text(t->limit_cpus, limit);
		fprintf(out, "%-8s  %s, limit %s, sidecar %s, container %s, on %s host\n", t->name, t->probe_url, limit,
			t->report_url, t->container, t->same_node ? "this" : "another");
	}
	fprintf(out, "work      %" PRIu64 " rounds of SHA-256, every %g s\n", s->remote->rounds * s->remote->times,
		(double)e->conditions[0].load->every_ns / 1e9);
	fprintf(out, "runs      %zu x %g s for each, in changed order; seed %" PRIu64 "\n\n", e->repetitions,
		(double)e->setup.duration_ns / 1e9, s->seed);
	fflush(out);
}

/* ---- the table ------------------------------------------------------------------------------------------------------
 */

static double ms_of(uint64_t usec)
{
	return usec == FIGURE_ABSENT ? (double)NAN : (double)usec / 1000;
}

static uint64_t psi_io_usec(const struct remote_study2 *s, size_t condition)
{
	uint64_t sum = 0;
	size_t n = 0;
	for (size_t i = 0; i < s->experiment->n_runs; i++) {
		const struct experiment_run *run = &s->experiment->runs[i];
		if (run->condition != condition || !run->result.figures.valid)
			continue;
		if (run->result.figures.psi_io_some_usec == FIGURE_ABSENT)
			return FIGURE_ABSENT;
		sum += run->result.figures.psi_io_some_usec;
		n++;
	}
	return n ? sum : FIGURE_ABSENT;
}

enum row { TIME, SLOWER, THROTTLED, THROTTLED_MS, CPU_PRESSURE, IO_PRESSURE, CPU_PER_WORK, ROWS };

static double figure(const struct remote_study2 *s, size_t i, enum row row)
{
	const struct summary *x = &s->summaries[i];
	if (x->runs == 0)
		return (double)NAN;
	switch (row) {
	case TIME:
		return x->p50_ms;
	case SLOWER:
		return x->p50_ms / s->summaries[0].p50_ms;
	case THROTTLED:
		return x->nr_throttled == FIGURE_ABSENT ? (double)NAN : (double)x->nr_throttled;
	case THROTTLED_MS:
		return ms_of(x->throttled_usec);
	case CPU_PRESSURE:
		return ms_of(x->psi_cpu_some_usec);
	case IO_PRESSURE:
		return ms_of(psi_io_usec(s, i));
	case CPU_PER_WORK:
		return x->cpu_ms_per_request;
	case ROWS:
		break;
	}
	return (double)NAN;
}

static const struct {
	const char *head, *key;
	int decimals;
} rows[ROWS] = {
	[TIME] = {"time, median (ms)", "p50_ms", 1},
	[SLOWER] = {"slower than the first by", "slower_by", 2},
	[THROTTLED] = {"nr_throttled", "nr_throttled", 0},
	[THROTTLED_MS] = {"throttled time (ms)", "throttled_ms", 1},
	[CPU_PRESSURE] = {"cpu.pressure some (ms)", "psi_cpu_some_ms", 1},
	[IO_PRESSURE] = {"io.pressure some (ms)", "psi_io_some_ms", 1},
	[CPU_PER_WORK] = {"CPU time of one work (ms)", "cpu_ms_per_request", 1},
};

static int write_table(FILE *out, const struct remote_study2 *s, bool color)
{
	struct table_column columns[1 + REMOTE_TARGETS_MAX] = {{NULL, "", true}};
	size_t n = s->experiment->n_conditions;
	struct table t;
	for (size_t i = 0; i < n; i++)
		columns[1 + i] = (struct table_column){NULL, name_of(s, i), false};
	table_init(&t, columns, 1 + n);
	for (enum row row = 0; row < ROWS; row++) {
		table_cell(&t, "%s", rows[row].head);
		for (size_t i = 0; i < n; i++)
			table_number(&t, figure(s, i, row), rows[row].decimals, "");
	}
	table_cell(&t, "the sidecar says");
	for (size_t i = 0; i < n; i++) {
		char verdict[REMOTE_VERDICT_SIZE];
		verdict_of(s, i, verdict);
		table_cell(&t, "%s", verdict);
	}
	int rc = table_write(&t, out, color);
	table_release(&t);
	return rc;
}

int study2_write_text(FILE *out, const struct remote_study2 *s, bool color)
{
	int rc = write_table(out, s, color);
	fputs("Counters: sums over the valid runs, each from just before the first work to just after the last.\n"
	      "Published, for A, B, C, D: slower by 1.00, 6.15, 2.50, 1.06; nr_throttled 0, 114, 0, 0; cpu.pressure 0.12,\n"
	      "7886, 1395, 0.41 ms; io.pressure 0, 0, 0, 306 ms. There D's work did not touch the disk.\n\n",
	      out);
	write_left_out(out, s);
	write_judgement(out, s);
	return rc;
}

void study2_write_message(FILE *out, const struct remote_study2 *s)
{
	write_judgement(out, s);
	for (size_t i = 0; i < s->experiment->n_conditions; i++) {
		char verdict[REMOTE_VERDICT_SIZE];
		verdict_of(s, i, verdict);
		fprintf(out,
			"%s: %zu valid runs, median %.1f ms, %.0f throttled periods, cpu.pressure %.1f ms, io.pressure "
			"%.1f ms: %s\n",
			name_of(s, i), s->summaries[i].runs, figure(s, i, TIME), figure(s, i, THROTTLED),
			figure(s, i, CPU_PRESSURE), figure(s, i, IO_PRESSURE), verdict);
	}
	write_left_out(out, s);
}

/* ---- JSON -----------------------------------------------------------------------------------------------------------
 */

static json_value *case_json(const struct remote_study2 *s, size_t i)
{
	const char *expected = study2_expected_verdict(name_of(s, i));
	char verdict[REMOTE_VERDICT_SIZE];
	json_value *o = json_new_object();
	verdict_of(s, i, verdict);
	json_set_text(o, "case", name_of(s, i));
	json_set_text(o, "probe", s->remote->targets[i].probe_url);
	json_set_text(o, "report", s->remote->targets[i].report_url);
	json_set_bool(o, "same_node", s->remote->targets[i].same_node);
	json_set_real(o, "limit_cpus",
		      s->remote->targets[i].limit_cpus > 0 ? s->remote->targets[i].limit_cpus : (double)NAN);
	json_set_u64(o, "runs", s->summaries[i].runs);
	json_set_u64(o, "runs_invalid", s->summaries[i].invalid);
	for (enum row row = 0; row < ROWS; row++)
		json_set_real(o, rows[row].key, figure(s, i, row));
	json_set_text(o, "verdict", strcmp(verdict, "-") == 0 ? NULL : verdict);
	json_set_text(o, "expected_verdict", expected);
	return o;
}

json_value *study2_json(const struct remote_study2 *s)
{
	const struct experiment *e = s->experiment;
	json_value *o = json_new_object();
	json_value *cases = json_new_array();
	char started[CLOCK_RFC3339_SIZE];
	clock_rfc3339(s->started_wall_ns, started);
	json_set_u64(o, "schema_version", 1);
	json_set_text(o, "study", "2");
	json_set_text(o, "started", started);
	json_set_u64(o, "rounds", s->remote->rounds * s->remote->times);
	json_set_real(o, "seconds", (double)e->setup.duration_ns / 1e9);
	json_set_u64(o, "repetitions", e->repetitions);
	json_set_u64(o, "seed", s->seed);
	for (size_t i = 0; i < e->n_conditions; i++)
		json_add_value(cases, case_json(s, i));
	json_set_value(o, "cases", cases);
	json_set_text(o, "verdicts", s->unfinished ? NULL : study2_differences(s, NULL) ? "differ" : "as published");
	json_set_text(o, "unfinished", s->unfinished);
	json_set_text(o, "results", s->folder);
	return o;
}
