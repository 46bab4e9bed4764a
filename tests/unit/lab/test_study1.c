/* When the published shape has come back, and when not. */
#include "tests/unit/check.h"

#include "lab/study1.h"

#include <math.h>

#define assert_near(a, b, epsilon) assert_true(fabs((a) - (b)) <= (epsilon))

enum { EVEN_025, BURST_025, EVEN_05, BURST_05, EVEN_NONE, BURST_NONE };

/* What a calm machine with one worker gives at a phase of 60 ms. */
static void calm(struct summary s[STUDY1_CONDITIONS])
{
	static const double p50_ms[] = {4.5, 22, 4.5, 18, 4.4, 18};
	static const double p99_ms[] = {5.1, 67, 5.0, 34, 4.9, 34};
	static const uint64_t throttled[] = {0, 13, 0, 0, 0, 0};
	for (size_t c = 0; c < STUDY1_CONDITIONS; c++) {
		double limit = study1_conditions[c].limit_cpus;
		s[c] = (struct summary){.condition = study1_conditions[c],
					.runs = 1,
					.requests = 100,
					.ok = 100,
					.cpu_cores_mean = 0.085,
					.of_limit = limit > 0 ? 0.085 / limit : (double)NAN,
					.p50_ms = p50_ms[c],
					.p99_ms = p99_ms[c],
					.nr_periods = limit > 0 ? 50 : 0,
					.nr_throttled = throttled[c]};
	}
}

static const double calibrated_ms = 4;

static size_t differences(const struct summary *s)
{
	struct study1_judgement j;
	study1_judge(s, 1, calibrated_ms, &j);
	for (size_t i = 0; i < j.n; i++)
		assert_true(j.differences[i][0] != '\0');
	return j.n;
}

static void test_calm_is_as_published(void **state)
{
	(void)state;
	struct summary s[STUDY1_CONDITIONS];
	calm(s);
	assert_int_equal(differences(s), 0);
}

/* The published figures themselves, with a run without limits of our own. */
static void test_the_published_figures_are_as_published(void **state)
{
	(void)state;
	struct summary s[STUDY1_CONDITIONS];
	calm(s);
	for (size_t c = EVEN_025; c <= BURST_05; c++) {
		const struct study1_published *p = &study1_published[c];
		s[c].cpu_cores_mean = p->cpu_cores_mean;
		s[c].of_limit = p->of_limit;
		s[c].p99_ms = p->p99_ms;
		s[c].nr_throttled = (uint64_t)p->nr_throttled;
		s[c].nr_periods = 600;
	}
	assert_int_equal(differences(s), 0);
}

/* Against probes elsewhere, whose limits are those of their pods. */
static void test_conditions_that_were_no_part(void **state)
{
	(void)state;
	struct summary s[STUDY1_CONDITIONS];
	char text[STUDY1_TEXT_SIZE];
	calm(s);
	for (size_t c = EVEN_05; c <= BURST_NONE; c++)
		s[c] = (struct summary){.condition = {.load = NULL}};
	assert_int_equal(differences(s), 0);
	study1_sentence(s, 20, text);
	assert_null(strstr(text, "Without a limit"));
	s[BURST_025].nr_throttled = 0;
	assert_int_equal(differences(s), 1);
}

static void test_what_must_be_noticed(void **state)
{
	(void)state;
	struct summary s[STUDY1_CONDITIONS];
	const struct {
		const char *what;
		size_t condition;
		size_t offset;
		bool is_count;
		double value;
	} cases[] = {
#define REAL(c, field, v) {#c " " #field, c, offsetof(struct summary, field), false, v}
#define COUNT(c, field, v)                                                                                             \
	{                                                                                                              \
#c " " #field, c, offsetof(struct summary, field), true, v                                             \
	}
		COUNT(BURST_025, nr_throttled, 0),     REAL(BURST_025, p99_ms, 15),
		COUNT(EVEN_025, nr_throttled, 2),      COUNT(EVEN_05, nr_throttled, 5),
		COUNT(BURST_05, nr_throttled, 13),     REAL(BURST_05, p99_ms, 80),
		REAL(BURST_025, of_limit, 0.51),       REAL(EVEN_05, of_limit, 0.6),
		REAL(BURST_025, cpu_cores_mean, 0.13), REAL(EVEN_NONE, p99_ms, 30),
		REAL(BURST_NONE, p99_ms, 66),          COUNT(EVEN_NONE, nr_throttled, 1),
		COUNT(BURST_NONE, nr_throttled, 1),    REAL(BURST_025, p99_ms, (double)NAN),
#undef REAL
#undef COUNT
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		calm(s);
		char *field = (char *)&s[cases[i].condition] + cases[i].offset;
		if (cases[i].is_count)
			*(uint64_t *)(void *)field = (uint64_t)cases[i].value;
		else
			*(double *)(void *)field = cases[i].value;
		assert_case(differences(s) > 0, cases[i].what);
	}
}

/* One stall of the machine in 50 periods, or 6 in 300, is not a different shape. */
static void test_tolerance_of_even(void **state)
{
	(void)state;
	struct summary s[STUDY1_CONDITIONS];
	calm(s);
	s[EVEN_025].nr_throttled = 1;
	assert_int_equal(differences(s), 0);
	s[EVEN_025].nr_periods = 300;
	s[EVEN_025].nr_throttled = 6;
	assert_int_equal(differences(s), 0);
	s[EVEN_025].nr_throttled = 7;
	assert_int_equal(differences(s), 1);
}

static void test_counters_that_are_not_there(void **state)
{
	(void)state;
	struct summary s[STUDY1_CONDITIONS];
	calm(s);
	s[BURST_025].nr_throttled = FIGURE_ABSENT;
	assert_true(differences(s) > 0);
	calm(s);
	s[EVEN_025].nr_throttled = FIGURE_ABSENT;
	assert_true(differences(s) > 0);
	/* v2 has no such counters where the controller is not on */
	calm(s);
	s[EVEN_NONE].nr_throttled = s[BURST_NONE].nr_throttled = FIGURE_ABSENT;
	assert_int_equal(differences(s), 0);
}

static void test_missing_runs(void **state)
{
	(void)state;
	struct summary s[STUDY1_CONDITIONS];
	struct study1_judgement j;
	calm(s);
	study1_judge(s, 3, calibrated_ms, &j);
	assert_int_equal(j.n, STUDY1_CONDITIONS);
	calm(s);
	s[BURST_05].runs = 0;
	study1_judge(s, 1, calibrated_ms, &j);
	assert_int_equal(j.n, 1);
	assert_non_null(strstr(j.differences[0], "burst at 0.5: 0 valid runs of 1"));
}

/* A mean above half of the limit is told, unless the requests cost that much more than at their calibration; never
 * above 90%. */
static void test_mean_bound_follows_the_cost(void **state)
{
	(void)state;
	assert_near(study1_mean_bound(3.9, 4), 0.5, 1e-9);
	assert_near(study1_mean_bound(6, 4), 0.75, 1e-9);
	assert_near(study1_mean_bound(40, 4), 0.9, 1e-9);
	assert_near(study1_mean_bound(6, (double)NAN), 0.5, 1e-9);
	struct summary s[STUDY1_CONDITIONS];
	calm(s);
	s[EVEN_025].of_limit = s[BURST_025].of_limit = 0.6;
	s[EVEN_025].cpu_ms_per_request = s[BURST_025].cpu_ms_per_request = 4;
	assert_int_equal(differences(s), 2);
	s[EVEN_025].cpu_ms_per_request = s[BURST_025].cpu_ms_per_request = 6.5;
	assert_int_equal(differences(s), 0);
}

/* 32 ms of work against 25 ms a period: the end is the next tick and the rest, or one tick later. */
static void test_end_of_a_burst(void **state)
{
	(void)state;
	static const struct {
		double work_ms, budget_ms, phase_ms, end_ms;
	} cases[] = {
		{32, 25, 60, 67},  {32, 25, 99, 106}, {32, 25, 25, 32},
		{32, 25, 26, 33},  {32, 25, 10, 32}, /* 10 before the tick and 22 after it: two budgets, no wait */
		{32, 25, 7, 32},   {32, 25, 5, 107},  {32, 25, 0, 107},
		{32, 50, 60, 32},  {32, 50, 1, 32},   {43, 25, 60, 78},
		{60, 25, 60, 170}, {60, 25, 10, 135}, {4, 25, 50, 4},
	};
	for (size_t i = 0; i < ARRAY_LEN(cases); i++) {
		double end_ms = study1_burst_end_ms(cases[i].work_ms, cases[i].budget_ms, cases[i].phase_ms);
		if (fabs(end_ms - cases[i].end_ms) > 1e-6)
			print_error("case %zu: %f\n", i, end_ms);
		assert_true(fabs(end_ms - cases[i].end_ms) <= 1e-6);
	}
}

static void test_sentence(void **state)
{
	(void)state;
	struct summary s[STUDY1_CONDITIONS];
	char text[STUDY1_TEXT_SIZE];
	calm(s);
	study1_sentence(s, 20, text);
	assert_non_null(strstr(text, "5.1 ms (p99)"));
	assert_non_null(strstr(text, "67.0 ms"));
	assert_non_null(strstr(text, "13.1 times"));
	assert_non_null(strstr(text, "0 and 13 periods"));
	assert_non_null(strstr(text, "33.0 ms are the limit"));
}

static void test_parts_sentence(void **state)
{
	(void)state;
	struct summary s[STUDY1_CONDITIONS];
	char text[STUDY1_TEXT_SIZE];
	calm(s);
	study1_parts_sentence(s, text);
	assert_string_equal(text, "");
	s[BURST_025].n_parts = 5;
	s[BURST_025].parts_total_ms = 80;
	s[BURST_025].parts_ms[PART_QUOTA] = 8;
	s[BURST_025].parts_ms[PART_QUEUE_QUOTA] = 32;
	s[BURST_025].parts_ms[PART_QUEUE] = 36;
	s[BURST_025].parts_ms[PART_RUNNING] = 4;
	study1_parts_sentence(s, text);
	assert_non_null(strstr(text, "50% was waiting for the quota"));
	assert_non_null(strstr(text, "45% the queue"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_calm_is_as_published),
		cmocka_unit_test(test_the_published_figures_are_as_published),
		cmocka_unit_test(test_conditions_that_were_no_part),
		cmocka_unit_test(test_what_must_be_noticed),
		cmocka_unit_test(test_tolerance_of_even),
		cmocka_unit_test(test_counters_that_are_not_there),
		cmocka_unit_test(test_missing_runs),
		cmocka_unit_test(test_mean_bound_follows_the_cost),
		cmocka_unit_test(test_end_of_a_burst),
		cmocka_unit_test(test_sentence),
		cmocka_unit_test(test_parts_sentence),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
