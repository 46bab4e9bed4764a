/* The sender's records, and where the time of a request went. */
#include "tests/unit/check.h"

#include "lab/parts.h"

#define MS NSEC_PER_MSEC

static const char head[] =
	"seq,planned_ns,sent_ns,first_byte_ns,done_ns,status,bytes,error,server_queue_ns,server_cpu_ns,"
	"server_runqueue_wait_ns,server_arrived_ns,server_ended_ns\n";

static struct requests parse(const char *rows)
{
	char text[4096];
	struct requests r;
	struct fault f = {0};
	snprintf(text, sizeof text, "%s%s", head, rows);
	int rc = requests_parse(text, &r, &f);
	if (rc < 0)
		print_error("%s\n", fault_text(&f));
	assert_int_equal(rc, 0);
	return r;
}

static void test_a_whole_row(void **state)
{
	(void)state;
	struct requests r = parse("0,1000,1010,1500,1600,200,42,,5,400,60,1020,1490\n"
				  "1,2000,2000,,,,,timeout,,,,,\n");
	assert_int_equal(r.n, 2);
	assert_int_equal(r.list[0].planned_ns, 1000);
	assert_int_equal(r.list[0].done_ns, 1600);
	assert_int_equal(r.list[0].cpu_ns, 400);
	assert_int_equal(r.list[0].runqueue_wait_ns, 60);
	assert_int_equal(r.list[0].wait_ns, REQUEST_ABSENT);
	assert_true(request_ok(&r.list[0]));
	assert_int_equal(request_latency_ns(&r.list[0]), 600);
	assert_true(r.list[1].failed);
	assert_int_equal(r.list[1].done_ns, REQUEST_ABSENT);
	assert_false(request_ok(&r.list[1]));
	requests_release(&r);
}

static void test_what_is_ok(void **state)
{
	(void)state;
	struct requests r =
		parse("0,1,2,3,4,200,,,,,,,\n1,1,2,3,4,204,,,,,,,\n2,1,2,3,4,503,,,,,,,\n3,1,2,3,4,,,,,,,,\n"
		      "4,1,2,3,4,200,,cut_short,,,,,\n5,1,2,,,200,,,,,,,\n");
	static const bool ok[] = {true, true, false, false, false, false};
	assert_int_equal(r.n, ARRAY_LEN(ok));
	for (size_t i = 0; i < r.n; i++)
		assert_int_equal(request_ok(&r.list[i]), ok[i]);
	requests_release(&r);
}

/* Columns by name, in any order; quoted fields with commas and quotes; CRLF. */
static void test_layout_is_free(void **state)
{
	(void)state;
	struct requests r;
	assert_int_equal(requests_parse("note,status,done_ns,error,sent_ns,planned_ns\r\n"
					"\"a, \"\"b\"\"\",200,40,,20,10\r\n"
					"x,200,50,\"\",30,20\r\n",
					&r, NULL),
			 0);
	assert_int_equal(r.n, 2);
	assert_int_equal(r.list[0].planned_ns, 10);
	assert_int_equal(r.list[0].done_ns, 40);
	assert_true(request_ok(&r.list[1]));
	requests_release(&r);
}

/* A closed loop has no plan: its requests were meant to be sent when they were. */
static void test_closed_loop(void **state)
{
	struct requests r;
	struct fault f = {0};
	(void)state;
	assert_int_equal(requests_parse("planned_ns,sent_ns,done_ns,status\n,2,5,200\n", &r, &f), 0);
	assert_int_equal(r.list[0].planned_ns, 2);
	assert_int_equal(request_latency_ns(&r.list[0]), 3);
	requests_release(&r);
}

static void test_broken_files(void **state)
{
	(void)state;
	static const char *const broken[] = {
		"",
		"a,b\n1,2\n",
		"planned_ns,sent_ns,done_ns\n1,2,3\n",
		"planned_ns,sent_ns,done_ns,status\n1,2,3\n",
		"planned_ns,sent_ns,done_ns,status\n1,2,3,200,5\n",
		"planned_ns,sent_ns,done_ns,status\nx,2,3,200\n",
		"planned_ns,sent_ns,done_ns,status\n-1,2,3,200\n",
		"planned_ns,sent_ns,done_ns,status\n,,3,200\n",
		"planned_ns,sent_ns,done_ns,status\n99999999999999999999,2,3,200\n",
		"planned_ns,sent_ns,done_ns,status\n9999999999999999999,2,3,200\n",
	};
	for (size_t i = 0; i < ARRAY_LEN(broken); i++) {
		struct requests r;
		struct fault f = {0};
		assert_case(requests_parse(broken[i], &r, &f) == -EINVAL, broken[i]);
		assert_case(f.text[0] != '\0', broken[i]);
		assert_case(r.list == NULL, broken[i]);
	}
}

static void test_the_line_is_named(void **state)
{
	(void)state;
	struct requests r;
	struct fault f = {0};
	assert_int_equal(requests_parse("planned_ns,sent_ns,done_ns,status\n1,2,3,200\n1,x,3,200\n", &r, &f), -EINVAL);
	assert_non_null(strstr(fault_text(&f), "line 3"));
}

/* Throttled from 130 to 160 ms and from 230 to 260 ms. */
static struct ticks two_throttles(void)
{
	struct ticks t = TICKS_NONE;
	static const struct tick_sample samples[] = {{160 * MS, 0, 0, 0, 0},
						     {160 * MS, 1, 1, 30000, 0},
						     {260 * MS, 1, 1, 30000, 0},
						     {260 * MS, 2, 2, 60000, 0}};
	for (size_t i = 0; i < ARRAY_LEN(samples); i++)
		assert_int_equal(ticks_observe(&t, &samples[i], NULL), 0);
	return t;
}

static struct request answered(void)
{
	return (struct request){.planned_ns = 100 * MS,
				.sent_ns = 101 * MS,
				.arrived_ns = 102 * MS,
				.queue_ns = 70 * MS, /* until 172, of which 30 throttled */
				.cpu_ns = 60 * MS,
				.runqueue_wait_ns = 36 * MS, /* 30 throttled and 6 for other reasons */
				.ended_ns = 268 * MS,
				.done_ns = 270 * MS,
				.status = 200,
				.wait_ns = REQUEST_ABSENT,
				.disk_ns = REQUEST_ABSENT,
				.pool_wait_ns = REQUEST_ABSENT};
}

static void test_parts(void **state)
{
	(void)state;
	struct ticks t = two_throttles();
	struct request r = answered();
	int64_t ns[PARTS];
	assert_true(parts_of(&r, &t, ns));
	assert_int_equal(ns[PART_LATENESS], 1 * MS);
	assert_int_equal(ns[PART_QUEUE_QUOTA], 30 * MS);
	assert_int_equal(ns[PART_QUEUE], 40 * MS);
	assert_int_equal(ns[PART_RUNNING], 60 * MS);
	assert_int_equal(ns[PART_QUOTA], 30 * MS);
	assert_int_equal(ns[PART_CONTENTION], 6 * MS);
	assert_int_equal(ns[PART_WAIT], 0);
	assert_int_equal(ns[PART_NETWORK], 3 * MS);
	int64_t sum_ns = 0;
	for (int p = 0; p < PARTS; p++)
		sum_ns += ns[p];
	assert_int_equal(sum_ns, request_latency_ns(&r));
	ticks_release(&t);
}

/* Without throttling nothing is the quota's; and never more than the request waited. */
static void test_quota_is_bounded(void **state)
{
	(void)state;
	struct ticks none = TICKS_NONE;
	struct ticks t = two_throttles();
	struct request r = answered();
	int64_t ns[PARTS];
	assert_true(parts_of(&r, &none, ns));
	assert_int_equal(ns[PART_QUOTA] + ns[PART_QUEUE_QUOTA], 0);
	assert_int_equal(ns[PART_CONTENTION], 36 * MS);
	r.runqueue_wait_ns = 5 * MS;
	assert_true(parts_of(&r, &t, ns));
	assert_int_equal(ns[PART_QUOTA], 5 * MS);
	assert_int_equal(ns[PART_CONTENTION], 0);
	ticks_release(&t);
}

/* The server's thread had been waiting for 20 ms when the request was sent: 21 ms of its 36 are not this request's. */
static void test_waits_before_the_send_do_not_count(void **state)
{
	(void)state;
	struct ticks none = TICKS_NONE;
	struct request r = answered();
	int64_t ns[PARTS];
	int64_t sum_ns = 0;
	r.arrived_ns = r.sent_ns - 21 * MS;
	assert_true(parts_of(&r, &none, ns));
	assert_int_equal(ns[PART_CONTENTION], 15 * MS);
	for (int p = 0; p < PARTS; p++)
		sum_ns += ns[p];
	assert_int_equal(sum_ns, request_latency_ns(&r));
}

static void test_parts_need_the_server(void **state)
{
	(void)state;
	struct ticks none = TICKS_NONE;
	int64_t ns[PARTS];
	struct request r = answered();
	r.cpu_ns = REQUEST_ABSENT;
	assert_false(parts_of(&r, &none, ns));
	r = answered();
	r.status = 500;
	assert_false(parts_of(&r, &none, ns));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_a_whole_row),
		cmocka_unit_test(test_what_is_ok),
		cmocka_unit_test(test_layout_is_free),
		cmocka_unit_test(test_broken_files),
		cmocka_unit_test(test_closed_loop),
		cmocka_unit_test(test_the_line_is_named),
		cmocka_unit_test(test_parts),
		cmocka_unit_test(test_quota_is_bounded),
		cmocka_unit_test(test_waits_before_the_send_do_not_count),
		cmocka_unit_test(test_parts_need_the_server),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
