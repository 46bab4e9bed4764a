/* Rows of runs.csv and requests.csv, figures of a run, and one condition summed up over its runs. */
#include "tests/unit/check.h"

#include "lab/results.h"
#include "lab/summary.h"

#include <math.h>

static const struct workload even = {"even", 1, 50 * NSEC_PER_MSEC};
static const struct condition conditions[] = {{0.25, &even}, {LIMIT_NO_CPUS, &even}};

static struct limiter limiter = {.way = LIMIT_V1};
static const struct run_setup setup = {.limiter = &limiter, .rounds = 5025};
static const struct run_plan plan = {.condition = {0.25, &even}, .repetition = 2, .position = 5};

static char *row_of(const struct figures *x)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	assert_non_null(out);
	results_write_run_row(out, &setup, &plan, x);
	fclose(out);
	return text;
}

static struct figures whole(void)
{
	return (struct figures){.planned = 400,
				.requests = 400,
				.ok = 399,
				.duration_s = 20,
				.cpu_observed_s = 20.1012,
				.cpu_cores_mean = 0.10312,
				.of_limit = 0.41248,
				.phase_ms = 41.7,
				.p50_ms = 4.5,
				.p90_ms = 6,
				.p99_ms = 10.1,
				.max_ms = 12,
				.mean_ms = 5,
				.lateness_p99_ms = 0.0421,
				.nr_periods = 200,
				.nr_throttled = 0,
				.throttled_usec = 0,
				.psi_cpu_some_usec = 12345,
				.psi_io_some_usec = 0,
				.steal_share = 0.01,
				.valid = false,
				.invalid_reason = "late, by \"much\""};
}

static size_t fields(const char *line)
{
	size_t n = 1;
	bool quoted = false;
	for (; *line && *line != '\n'; line++) {
		quoted ^= *line == '"';
		n += *line == ',' && !quoted;
	}
	return n;
}

static void test_run_row(void **state)
{
	(void)state;
	struct figures x = whole();
	CLEANUP_FREE char *row = row_of(&x);
	assert_string_equal(
		row, "0.25,even,2,5,41.700,400,399,20.000,20.101,0.10312,0.4125,4.500,10.100,12.000,0.0421,200,0,0,"
		     "12345,false,\"late, by \"\"much\"\"\",400,6.000,5.000,0,0.0100,5025,v1\n");
}

/* The columns of the contract come first, in this order. */
static void test_run_head(void **state)
{
	(void)state;
	static const char contract[] =
		"limit_cpus,pattern,repetition,position,phase_ms,requests,ok,duration_s,cpu_observed_s,cpu_cores_mean,"
		"of_limit,p50_ms,p99_ms,max_ms,lateness_p99_ms,nr_periods,nr_throttled,throttled_usec,"
		"psi_cpu_some_usec,valid,";
	char *head = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&head, &size);
	results_write_run_head(out);
	fclose(out);
	assert_int_equal(strncmp(head, contract, strlen(contract)), 0);
	struct figures x = whole();
	CLEANUP_FREE char *row = row_of(&x);
	assert_int_equal(fields(head), fields(row));
	free(head);
}

/* What was not there is empty, not 0. */
static void test_absent_is_empty(void **state)
{
	(void)state;
	struct figures x;
	figures_init(&x);
	CLEANUP_FREE char *row = row_of(&x);
	assert_string_equal(row, "0.25,even,2,5,,0,0,,,,,,,,,,,,,false,,0,,,,,5025,v1\n");
}

static void test_requests_get_their_condition(void **state)
{
	(void)state;
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	results_write_requests(out, &plan, "seq,a\n0,x\n1,y\n", true);
	results_write_requests(out, &plan, "seq,a\n2,z\n", false);
	results_write_requests(out, &plan, "seq,a", false);
	fclose(out);
	assert_string_equal(text, "limit_cpus,pattern,repetition,position,seq,a\n"
				  "0.25,even,2,5,0,x\n0.25,even,2,5,1,y\n0.25,even,2,5,2,z\n");
	free(text);
}

static void test_limit_text(void **state)
{
	(void)state;
	char text[LIMIT_TEXT_SIZE];
	limit_text(LIMIT_NO_CPUS, text);
	assert_string_equal(text, "none");
	limit_text(0.5, text);
	assert_string_equal(text, "0.5");
	limit_text(2, text);
	assert_string_equal(text, "2");
}

/* ---- figures --------------------------------------------------------------------------------------------------------
 */

static struct snapshot counters_at(int64_t mono_ns, uint64_t usage, uint64_t periods, uint64_t throttled)
{
	struct snapshot s = {.mono_ns = mono_ns, .n_levels = 1};
	struct counters *c = &s.levels[0].counters;
	c->have = 1U << COUNTER_USAGE | 1U << COUNTER_NR_PERIODS | 1U << COUNTER_NR_THROTTLED;
	c->value[COUNTER_USAGE] = usage;
	c->value[COUNTER_NR_PERIODS] = periods;
	c->value[COUNTER_NR_THROTTLED] = throttled;
	return s;
}

static void test_counters(void **state)
{
	(void)state;
	struct snapshot begin = counters_at(0, 1000000, 10, 3);
	struct snapshot end = counters_at(20101 * NSEC_PER_MSEC, 3070000, 210, 5);
	struct figures x;
	figures_init(&x);
	end.psi_status[PSI_CPU] = PSI_OK;
	figures_take_counters(&x, &begin, &end, 0.25);
	assert_true(fabs(x.cpu_observed_s - 20.101) < 1e-9);
	assert_true(fabs(x.cpu_cores_mean - 2.07 / 20.101) < 1e-9);
	assert_true(fabs(x.of_limit - 4 * 2.07 / 20.101) < 1e-9);
	assert_int_equal(x.nr_periods, 200);
	assert_int_equal(x.nr_throttled, 2);
	/* not there in one of both, or at all */
	assert_true(x.throttled_usec == FIGURE_ABSENT);
	assert_true(x.psi_cpu_some_usec == FIGURE_ABSENT);
	begin.psi_status[PSI_CPU] = PSI_OK;
	end.psi[PSI_CPU].some.total_usec = 77;
	figures_take_counters(&x, &begin, &end, 0);
	assert_int_equal(x.psi_cpu_some_usec, 77);
}

static void take(struct figures *x, const char *report)
{
	CLEANUP_JSON json_value *v = json_parse(report, strlen(report), NULL);
	assert_non_null(v);
	figures_init(x);
	figures_take_report(x, v);
}

static void test_report(void **state)
{
	(void)state;
	struct figures x;
	take(&x, "{\"planned\":10,\"sent\":10,\"ok\":10,\"p99_ms\":5.5,\"valid\":true,\"invalid_reason\":null}");
	assert_true(x.valid);
	assert_true(x.p99_ms == 5.5);
	assert_true(isnan(x.p50_ms));
	assert_string_equal(x.invalid_reason, "");
	take(&x, "{\"planned\":10,\"sent\":10,\"ok\":9,\"valid\":true}");
	assert_false(x.valid);
	assert_non_null(strstr(x.invalid_reason, "not every"));
	take(&x, "{\"planned\":10,\"sent\":10,\"ok\":10,\"valid\":false,\"invalid_reason\":\"late\"}");
	assert_false(x.valid);
	assert_string_equal(x.invalid_reason, "late");
	take(&x, "{\"planned\":10,\"sent\":10,\"ok\":10}");
	assert_false(x.valid);
}

/* ---- a condition over its runs --------------------------------------------------------------------------------------
 */

/* n requests of 1, 2, ... n ms, from `first`. */
static struct requests ladder(int64_t first, size_t n)
{
	struct requests r = {.list = calloc(n, sizeof *r.list), .n = n};
	for (size_t i = 0; i < n; i++)
		r.list[i] = (struct request){.planned_ns = 1000,
					     .done_ns = 1000 + (first + (int64_t)i) * NSEC_PER_MSEC,
					     .status = 200,
					     .arrived_ns = REQUEST_ABSENT};
	return r;
}

static struct experiment_run run_of(size_t condition, bool valid, double p99_ms, struct requests requests)
{
	struct experiment_run run = {.condition = condition};
	run.result.measured = true;
	run.result.requests = requests;
	run.result.figures = whole();
	run.result.figures.valid = valid;
	run.result.figures.p99_ms = p99_ms;
	run.result.figures.requests = run.result.figures.ok = requests.n;
	return run;
}

static void test_summary(void **state)
{
	(void)state;
	struct experiment_run runs[] = {
		run_of(0, true, 10, ladder(1, 600)),
		run_of(0, false, 9999, ladder(5000, 100)),
		run_of(1, true, 1, ladder(9000, 10)),
		run_of(0, true, 30, ladder(601, 600)),
	};
	struct experiment e = {.conditions = conditions, .n_conditions = 2, .runs = runs, .n_runs = ARRAY_LEN(runs)};
	struct summary s;
	runs[3].result.figures.psi_cpu_some_usec = FIGURE_ABSENT;
	runs[3].result.figures.nr_throttled = 4;
	runs[3].result.figures.cpu_cores_mean = 0.20312;
	assert_int_equal(summary_make(&e, 0, &s, NULL), 0);
	assert_int_equal(s.runs, 2);
	assert_int_equal(s.invalid, 1);
	assert_int_equal(s.requests, 1200);
	/* number 1,188 of 1,200 */
	assert_true(fabs(s.p99_ms - 1188) < 1e-9);
	assert_true(fabs(s.p50_ms - 600) < 1e-9);
	assert_true(fabs(s.max_ms - 1200) < 1e-9);
	assert_true(s.p99_low_ms == 10 && s.p99_high_ms == 30);
	assert_true(fabs(s.cpu_cores_mean - 0.15312) < 1e-9);
	assert_int_equal(s.nr_throttled, 4);
	assert_int_equal(s.nr_periods, 400);
	assert_true(s.psi_cpu_some_usec == FIGURE_ABSENT);
	assert_int_equal(s.n_parts, 0);
	assert_true(isnan(s.parts_ms[PART_QUOTA]));
	for (size_t i = 0; i < ARRAY_LEN(runs); i++)
		run_result_release(&runs[i].result);
}

static void test_summary_of_nothing(void **state)
{
	(void)state;
	struct experiment e = {.conditions = conditions, .n_conditions = 2};
	struct summary s;
	assert_int_equal(summary_make(&e, 1, &s, NULL), 0);
	assert_int_equal(s.runs, 0);
	assert_true(isnan(s.p99_ms) && isnan(s.cpu_cores_mean) && isnan(s.lateness_p99_ms));
	CLEANUP_JSON json_value *v = summary_json(&s);
	CLEANUP_FREE char *text = json_text(v, NULL);
	assert_non_null(strstr(text, "\"limit_cpus\": null"));
	assert_non_null(strstr(text, "\"p99_ms\": null"));
}

/* ---- the folder -----------------------------------------------------------------------------------------------------
 */

static void test_folder_is_not_used_twice(void **state)
{
	(void)state;
	char folder[64];
	char out[96];
	struct results r;
	struct fault f = {0};
	folder_make(folder);
	snprintf(out, sizeof out, "%s/a/b", folder);
	assert_int_equal(results_open(&r, out, &f), 0);
	assert_int_equal(results_begin_runs(&r, &f), 0);
	results_close(&r);
	assert_fault(results_open(&r, out, &f), &f, EEXIST);
	assert_null(r.folder);
	folder_remove(folder);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_run_row),
		cmocka_unit_test(test_run_head),
		cmocka_unit_test(test_absent_is_empty),
		cmocka_unit_test(test_requests_get_their_condition),
		cmocka_unit_test(test_limit_text),
		cmocka_unit_test(test_counters),
		cmocka_unit_test(test_report),
		cmocka_unit_test(test_summary),
		cmocka_unit_test(test_summary_of_nothing),
		cmocka_unit_test(test_folder_is_not_used_twice),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
