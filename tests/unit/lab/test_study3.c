/* Which points are measured, where the knee is, and when the published shape has come back. */
#include "tests/unit/check.h"

#include "lab/study3_run.h"

#include <math.h>

enum { WAIT, CPU, POOL };

/* A service that follows the law exactly. */
static void ideal(struct study3_outcome *o, size_t which, double cpus)
{
	const struct study3_case *c = &study3_cases[which];
	struct study3_threads t;
	double law = study3_law(c, cpus);
	double alone_ms = c->cpu_ms + c->wait_ms + c->hold_ms;
	study3_choose_threads(law, &t);
	*o = (struct study3_outcome){.of = c, .n = t.n};
	for (size_t i = 0; i < t.n; i++) {
		double rate = fmin((double)t.list[i], law) / alone_ms * 1000;
		o->points[i] = (struct study3_point){.threads = t.list[i],
						     .runs = 1,
						     .requests_per_s = rate,
						     .mean_ms = (double)t.list[i] / rate * 1000,
						     .cpu_ms = c->cpu_ms,
						     .wait_ms = c->wait_ms};
	}
	study3_evaluate(o, cpus);
}

static size_t differences(const struct study3_outcome *o)
{
	struct study3_judgement j;
	study3_judge(o, 1, &j);
	for (size_t i = 0; i < j.n; i++)
		assert_true(j.differences[i][0] != '\0');
	return j.n;
}

static void test_points(void **state)
{
	(void)state;
	for (double law = 0.3; law < 600; law *= 1.3) {
		struct study3_threads t;
		size_t behind = 0;
		size_t ahead = 0;
		study3_choose_threads(law, &t);
		for (size_t i = 0; i < t.n; i++) {
			assert_true(t.list[i] >= 1 && t.list[i] <= STUDY3_THREADS_MAX);
			assert_true(i == 0 || t.list[i] > t.list[i - 1]);
			behind += (double)t.list[i] >= law;
			ahead += (double)t.list[i] < law;
		}
		assert_true(behind >= 3);
		assert_true(ahead >= 4 || law < 7);
	}
}

static void test_points_as_text(void **state)
{
	static const char *const wrong[] = {"",    "0",   "2,",   ",2",
					    "2,2", "5,2", "x",    "2;5",
					    "901", "-1",  "2, 5", "1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17"};
	struct study3_threads t;
	struct fault f = {0};
	(void)state;
	assert_int_equal(study3_parse_threads("2,5,900", &t, &f), 0);
	assert_int_equal(t.n, 3);
	assert_int_equal(t.list[0], 2);
	assert_int_equal(t.list[2], 900);
	for (size_t i = 0; i < ARRAY_LEN(wrong); i++) {
		f = (struct fault){0};
		assert_case(study3_parse_threads(wrong[i], &t, &f) == -EINVAL && f.text[0], wrong[i]);
	}
}

static void test_ideal_services_are_as_published(void **state)
{
	static const double limits[] = {0.5, 1, 2, 4};
	(void)state;
	for (size_t l = 0; l < ARRAY_LEN(limits); l++) {
		struct study3_outcome o[STUDY3_CASES];
		for (size_t c = 0; c < STUDY3_CASES; c++) {
			ideal(&o[c], c, limits[l]);
			assert_true(fabs(o[c].difference) < 0.03);
		}
		assert_int_equal(o[WAIT].method, STUDY3_FIT);
		assert_int_equal(o[CPU].method, limits[l] < 2 ? STUDY3_SERVICE_TIME : STUDY3_FIT);
		assert_int_equal(differences(o), 0);
	}
}

/* The published figures themselves. */
static void test_published(void **state)
{
	(void)state;
	for (size_t c = WAIT; c <= CPU; c++) {
		const struct study3_published *p = &study3_published[c];
		struct study3_outcome o = {.of = &study3_cases[c], .n = p->n};
		for (size_t i = 0; i < p->n; i++)
			o.points[i] = (struct study3_point){.threads = (uint64_t)p->points[i].threads,
							    .runs = 1,
							    .requests_per_s = p->points[i].requests_per_s,
							    .mean_ms = p->points[i].mean_ms,
							    .cpu_ms = study3_cases[c].cpu_ms,
							    .wait_ms = study3_cases[c].wait_ms};
		study3_evaluate(&o, 2);
		assert_true(fabs(o.law_threads - p->law_threads) < 0.01);
		assert_true(fabs(o.difference) < 0.15);
	}
}

/* Twice the CPU for each request is half of the law's N, not a knee at the wrong place. */
static void test_measured_cost_counts(void **state)
{
	struct study3_outcome o;
	(void)state;
	ideal(&o, CPU, 0.5);
	for (size_t i = 0; i < o.n; i++) {
		o.points[i].cpu_ms *= 2;
		o.points[i].requests_per_s /= 2;
	}
	study3_evaluate(&o, 0.5);
	assert_true(fabs(o.difference) < 0.03);
	ideal(&o, WAIT, 0.5);
	o.points[0].cpu_ms = o.points[0].wait_ms = 1000; /* few requests count little */
	o.points[0].requests_per_s = 0.001;
	study3_evaluate(&o, 0.5);
	assert_true(fabs(o.law_threads / o.law_nominal - 1) < 0.05);
}

static void test_what_must_be_noticed(void **state)
{
	struct study3_outcome good[STUDY3_CASES];
	struct study3_outcome o[STUDY3_CASES];
	(void)state;
	for (size_t c = 0; c < STUDY3_CASES; c++)
		ideal(&good[c], c, 0.5);

	memcpy(o, good, sizeof o); /* the quota was not enforced */
	for (size_t i = 0; i < o[CPU].n; i++)
		o[CPU].points[i].requests_per_s *= 1.3;
	study3_evaluate(&o[CPU], 0.5);
	assert_int_equal(differences(o), 1);

	memcpy(o, good, sizeof o);
	o[WAIT].points[1].requests_per_s = o[WAIT].points[0].requests_per_s;
	assert_int_equal(differences(o), 1);

	memcpy(o, good, sizeof o);
	o[POOL].points[o[POOL].n - 1].requests_per_s *= 1.3;
	assert_int_equal(differences(o), 1);

	memcpy(o, good, sizeof o);
	o[WAIT].points[o[WAIT].n - 1].mean_ms = 100;
	assert_int_equal(differences(o), 1);

	memcpy(o, good, sizeof o);
	o[WAIT].points[2].runs = 0;
	study3_evaluate(&o[WAIT], 0.5);
	assert_int_equal(differences(o), 1);

	memcpy(o, good, sizeof o);
	o[WAIT].n -= 1;
	assert_int_equal(differences(o), 1);

	memcpy(o, good, sizeof o);
	o[POOL].n = 0; /* was no part of it */
	assert_int_equal(differences(o), 0);
}

static void test_without_figures(void **state)
{
	struct study3_outcome o = {.of = &study3_cases[WAIT], .n = 3};
	char text[STUDY3_TEXT_SIZE] = "old";
	(void)state;
	for (size_t i = 0; i < 3; i++)
		study3_point_init(&o.points[i], i + 1);
	study3_evaluate(&o, 0.5);
	assert_true(isnan(o.knee_threads) && isnan(o.law_threads) && isnan(o.difference));
	study3_sentence(&o, 0.5, text);
	assert_string_equal(text, "");
	ideal(&o, POOL, 0.5);
	study3_sentence(&o, 0.5, text);
	assert_non_null(strstr(text, "the 5 units of the pool"));
}

/* A request counts by the part of its life in the window. */
static void test_requests_in_a_window(void **state)
{
	struct request list[] = {
		{.sent_ns = 0, .done_ns = 2000000000, .status = 200, .cpu_ns = 5000000, .wait_ns = REQUEST_ABSENT},
		{.sent_ns = 1000000000, .done_ns = 1500000000, .status = 200, .cpu_ns = 3000000, .wait_ns = 1000000},
		{.sent_ns = 1500000000, .done_ns = 3500000000, .status = 200, .cpu_ns = 9000000, .wait_ns = 1000000},
		{.sent_ns = 1000000000, .done_ns = 1500000000, .status = 503},
		{.sent_ns = 2500000000, .done_ns = 2600000000, .status = 200},
	};
	const struct requests r = {.list = list, .n = ARRAY_LEN(list)};
	struct study3_point p = {.threads = 2};
	(void)state;
	study3_take_requests(&p, &r, 1000000000, 2000000000);
	assert_true(fabs(p.requests_per_s - (0.5 + 1 + 0.25)) < 1e-9);
	assert_true(fabs(p.mean_ms - 500) < 1e-9);
	assert_true(fabs(p.cpu_ms - 3) < 1e-9);
	assert_true(fabs(p.wait_ms - 1) < 1e-9);
	assert_true(fabs(p.p99_ms - 500) < 1e-9);
	study3_take_requests(&p, &r, 5000000000, 6000000000);
	assert_true(p.requests_per_s == 0 && isnan(p.mean_ms) && isnan(p.p99_ms));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_points),
		cmocka_unit_test(test_points_as_text),
		cmocka_unit_test(test_ideal_services_are_as_published),
		cmocka_unit_test(test_published),
		cmocka_unit_test(test_measured_cost_counts),
		cmocka_unit_test(test_what_must_be_noticed),
		cmocka_unit_test(test_without_figures),
		cmocka_unit_test(test_requests_in_a_window),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
