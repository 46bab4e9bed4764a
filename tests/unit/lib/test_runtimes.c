/* Every cell of what is known about runtimes, and the edges of the judgement. */
#include "runtimes.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define NONE ((struct cpu_quota){.quota_usec = QUOTA_NONE, .period_usec = 100000})

static struct cpu_quota cpus(double n)
{
	return (struct cpu_quota){.quota_usec = (uint64_t)(n * 100000 + 0.5), .period_usec = 100000};
}

/* 8 CPUs, the limit on the process's own cgroup (v2). */
static struct runtime_view with_quota(struct cpu_quota q)
{
	return (struct runtime_view){
		.affinity = 8, .online = 8, .hierarchy = HIERARCHY_V2, .own = q, .visible = q, .binding = q};
}

/* The same limit on an ancestor. */
static struct runtime_view with_ancestor_quota(struct cpu_quota q)
{
	struct runtime_view v = with_quota(q);
	v.own = NONE;
	return v;
}

static const struct runtime *find(const char *id)
{
	const struct runtime *r = runtimes_find(id);
	if (!r)
		fail_msg("there is no runtime %s", id);
	return r;
}

static void expect_cpus(const char *id, const struct runtime_view *v, double want)
{
	double got = runtime_cpus(find(id), v);
	if (got != want)
		fail_msg("%s: %g instead of %g (own %g, binding %g, v%d)", id, got, want, cpu_quota_cpus(&v->own),
			 cpu_quota_cpus(&v->binding), v->hierarchy == HIERARCHY_V1 ? 1 : 2);
}

static struct runtime_judgement judge(const char *id, const struct runtime_view *v)
{
	struct runtime_judgement j;
	runtime_judge(find(id), v, &j);
	return j;
}

static void expect_fit(const char *id, const struct runtime_view *v, enum runtime_fit want)
{
	struct runtime_judgement j = judge(id, v);
	if (j.fit != want)
		fail_msg("%s: %s instead of %s: %s", id, runtime_fit_name(j.fit), runtime_fit_name(want), j.sentence);
}

static void expect_words(const char *text, const char *words)
{
	if (!strstr(text, words))
		fail_msg("'%s' is not in: %s", words, text);
}

/* ---- CPUs assumed: A = 8, each quota, on each kind of level, in v1 and v2 ------------------------------------------
 */

enum { QUOTAS = 7 };
static const double quotas[QUOTAS] = {0.25, 1.25, 1.5, 1.75, 2.5, 12, 0 /* none */};

struct row {
	const char *id;
	double cpus[QUOTAS];
	bool leaf; /* looks at its own cgroup only */
	bool v1;   /* reads the quota of v1 */
};

static const struct row rows[] = {
	{"go_1_25", {2, 2, 2, 2, 3, 8, 8}, .leaf = true, .v1 = true},
	{"go_before_1_25", {8, 8, 8, 8, 8, 8, 8}, .v1 = true},
	{"automaxprocs", {1, 1, 1, 1, 2, 12, 8}, .leaf = true, .v1 = true},
	{"jvm", {1, 2, 2, 2, 3, 8, 8}, .v1 = true},
	{"dotnet", {1, 2, 2, 2, 3, 8, 8}, .leaf = true, .v1 = true},
	{"node_libuv_1_52", {1, 1, 1, 1, 2, 8, 8}, .v1 = false},
	{"node_libuv_1_51", {8, 1, 1, 1, 2, 8, 8}, .v1 = false},
	{"node_libuv_1_49", {1, 1, 1, 1, 2, 8, 8}, .leaf = true},
	{"node_libuv_before_1_49", {8, 8, 8, 8, 8, 8, 8}, .v1 = false},
	{"rust_std", {1, 1, 1, 1, 2, 8, 8}, .v1 = true},
	{"num_cpus", {1, 2, 2, 2, 3, 8, 8}, .leaf = true, .v1 = true},
	{"python_os_cpu_count", {8, 8, 8, 8, 8, 8, 8}, .v1 = true},
	{"python_process_cpu_count", {8, 8, 8, 8, 8, 8, 8}, .v1 = true},
	{"joblib_loky", {1, 2, 2, 2, 3, 8, 8}, .leaf = true, .v1 = true},
	{"concurrent_ruby", {0.25, 1.25, 1.5, 1.75, 2.5, 8, 8}, .leaf = true, .v1 = true},
	{"nproc_9_8", {1, 1, 2, 2, 3, 8, 8}, .v1 = false},
	{"nproc_before_9_8", {8, 8, 8, 8, 8, 8, 8}, .v1 = false},
	{"openmp", {8, 8, 8, 8, 8, 8, 8}, .v1 = true},
	{"nginx", {8, 8, 8, 8, 8, 8, 8}, .v1 = true},
	{"lxcfs", {1, 2, 2, 2, 3, 8, 8}, .v1 = true},
};

static void test_every_runtime_has_a_row(void **state)
{
	(void)state;
	assert_int_equal(runtimes_count(), ARRAY_LEN(rows));
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		assert_string_equal(runtimes_at(i)->id, rows[i].id);
		assert_ptr_equal(runtimes_find(rows[i].id), runtimes_at(i));
	}
	assert_null(runtimes_find("cobol"));
	assert_null(runtimes_find("go"));
}

static void test_cpus_assumed(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t k = 0; k < QUOTAS; k++) {
			const struct row *row = &rows[i];
			struct runtime_view v = with_quota(quotas[k] > 0 ? cpus(quotas[k]) : NONE);
			expect_cpus(row->id, &v, row->cpus[k]);
			v.hierarchy = HIERARCHY_V1;
			expect_cpus(row->id, &v, row->v1 ? row->cpus[k] : 8);
		}
}

static void test_cpus_assumed_with_the_limit_on_an_ancestor(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++)
		for (size_t k = 0; k < QUOTAS; k++) {
			const struct row *row = &rows[i];
			struct runtime_view v = with_ancestor_quota(quotas[k] > 0 ? cpus(quotas[k]) : NONE);
			expect_cpus(row->id, &v, row->leaf ? 8 : row->cpus[k]);
			v.hierarchy = HIERARCHY_V1;
			expect_cpus(row->id, &v, row->leaf || !row->v1 ? 8 : row->cpus[k]);
			/* a cgroup namespace hides the ancestor: then nobody sees it */
			v.hierarchy = HIERARCHY_V2;
			v.visible = NONE;
			expect_cpus(row->id, &v, 8);
		}
}

static void test_a_leaf_reader_goes_by_its_own_quota_when_both_have_one(void **state)
{
	struct runtime_view v = with_quota(cpus(1.5));
	(void)state;
	v.own = cpus(4);
	expect_cpus("dotnet", &v, 4);
	expect_cpus("go_1_25", &v, 4);
	expect_cpus("concurrent_ruby", &v, 4);
	expect_cpus("jvm", &v, 2);
	expect_cpus("rust_std", &v, 1);
	expect_cpus("node_libuv_1_52", &v, 1);
}

/* ---- the other columns ---------------------------------------------------------------------------------------------
 */

static void test_resize_levels_and_settings(void **state)
{
	static const struct {
		const char *id, *resize, *setting;
		enum runtime_levels levels;
	} want[] = {
		{"go_1_25", "live", "GOMAXPROCS=#", RUNTIME_LOOKS_AT_LEAF},
		{"go_before_1_25", "never", "GOMAXPROCS=#", RUNTIME_LOOKS_NOWHERE},
		{"automaxprocs", "never", "GOMAXPROCS=#", RUNTIME_LOOKS_AT_LEAF},
		{"jvm", "value only", "-XX:ActiveProcessorCount=#", RUNTIME_WALKS},
		{"dotnet", "never", "DOTNET_PROCESSOR_COUNT=#", RUNTIME_LOOKS_AT_LEAF},
		{"node_libuv_1_52", "each call", "UV_THREADPOOL_SIZE=#", RUNTIME_WALKS},
		{"node_libuv_1_51", "each call", "UV_THREADPOOL_SIZE=#", RUNTIME_WALKS},
		{"node_libuv_1_49", "each call", "UV_THREADPOOL_SIZE=#", RUNTIME_LOOKS_AT_LEAF},
		{"node_libuv_before_1_49", "each call", "UV_THREADPOOL_SIZE=#", RUNTIME_LOOKS_NOWHERE},
		{"rust_std", "each call", "TOKIO_WORKER_THREADS=# RAYON_NUM_THREADS=#", RUNTIME_WALKS},
		{"num_cpus", "never", NULL, RUNTIME_LOOKS_AT_LEAF},
		{"python_os_cpu_count", "never", "PYTHON_CPU_COUNT=#", RUNTIME_LOOKS_NOWHERE},
		{"python_process_cpu_count", "never", "PYTHON_CPU_COUNT=#", RUNTIME_LOOKS_NOWHERE},
		{"joblib_loky", "each call", "LOKY_MAX_CPU_COUNT=#", RUNTIME_LOOKS_AT_LEAF},
		{"concurrent_ruby", "never", NULL, RUNTIME_LOOKS_AT_LEAF},
		{"nproc_9_8", "each run", "OMP_NUM_THREADS=#", RUNTIME_WALKS},
		{"nproc_before_9_8", "each run", "OMP_NUM_THREADS=#", RUNTIME_LOOKS_NOWHERE},
		{"openmp", "never", "OMP_NUM_THREADS=# OPENBLAS_NUM_THREADS=#", RUNTIME_LOOKS_NOWHERE},
		{"nginx", "never", "worker_processes #;", RUNTIME_LOOKS_NOWHERE},
		{"lxcfs", "live", NULL, RUNTIME_WALKS},
	};
	(void)state;
	assert_int_equal(ARRAY_LEN(want), runtimes_count());
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		const struct runtime *r = find(want[i].id);
		assert_string_equal(runtime_resize_name(r->resize), want[i].resize);
		assert_int_equal(r->levels, want[i].levels);
		if (want[i].setting)
			assert_string_equal(r->setting, want[i].setting);
		else
			assert_null(r->setting);
	}
}

static void test_settings_carry_the_number_for_this_limit(void **state)
{
	static const struct {
		const char *id;
		double quota;
		const char *setting;
	} want[] = {
		{"go_before_1_25", 0.25, "GOMAXPROCS=1"},
		{"go_before_1_25", 2.5, "GOMAXPROCS=3"},
		{"automaxprocs", 12, "GOMAXPROCS=8"},
		{"jvm", 1.75, "-XX:ActiveProcessorCount=2"},
		{"rust_std", 1.75, "TOKIO_WORKER_THREADS=2 RAYON_NUM_THREADS=2"},
		{"openmp", 2, "OMP_NUM_THREADS=2 OPENBLAS_NUM_THREADS=2"},
		{"nginx", 1.25, "worker_processes 2;"},
		{"concurrent_ruby", 1.25, ""},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		struct runtime_view v = with_quota(cpus(want[i].quota));
		assert_string_equal(judge(want[i].id, &v).setting, want[i].setting);
	}
}

/* ---- edges of the number -------------------------------------------------------------------------------------------
 */

static void test_one_cpu(void **state)
{
	struct runtime_view v = with_quota(cpus(0.25));
	(void)state;
	v.affinity = v.online = 1;
	for (size_t i = 0; i < runtimes_count(); i++) {
		double want = strcmp(runtimes_at(i)->id, "concurrent_ruby") == 0 ? 0.25 : 1;
		expect_cpus(runtimes_at(i)->id, &v, want);
		expect_fit(runtimes_at(i)->id, &v, RUNTIME_FITS);
	}
}

static void test_affinity_3_of_8(void **state)
{
	static const struct {
		const char *id;
		double none, twelve, two; /* CPUs for these quotas */
	} want[] = {
		{"go_1_25", 3, 3, 2},   {"automaxprocs", 3, 12, 2},       {"jvm", 3, 3, 2},
		{"rust_std", 3, 3, 2},  {"python_os_cpu_count", 8, 8, 8}, {"python_process_cpu_count", 3, 3, 3},
		{"openmp", 3, 3, 3},    {"concurrent_ruby", 8, 8, 2},     {"nginx", 8, 8, 8},
		{"nproc_9_8", 3, 3, 2},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		const double results[] = {want[i].none, want[i].twelve, want[i].two};
		const struct cpu_quota limits[] = {NONE, cpus(12), cpus(2)};
		for (size_t k = 0; k < ARRAY_LEN(limits); k++) {
			struct runtime_view v = with_quota(limits[k]);
			v.affinity = 3;
			expect_cpus(want[i].id, &v, results[k]);
		}
	}
}

static void test_lxcfs_counts_the_cpuset_not_the_affinity(void **state)
{
	struct runtime_view v = with_quota(NONE);
	(void)state;
	v.affinity = 3;
	v.cpuset = 5;
	expect_cpus("lxcfs", &v, 5);
	v.cpuset = 0;
	expect_cpus("lxcfs", &v, 3);
	v.affinity = 12;
	expect_cpus("lxcfs", &v, 8);
}

static void test_libuv_1_49_multiplies_by_the_weight(void **state)
{
	struct runtime_view v = with_quota(cpus(4));
	(void)state;
	expect_cpus("node_libuv_1_49", &v, 4);
	v.weight = 100;
	expect_cpus("node_libuv_1_49", &v, 4);
	v.weight = 10;
	expect_cpus("node_libuv_1_49", &v, 1);
	v.weight = 60;
	expect_cpus("node_libuv_1_49", &v, 2);
	v.weight = 150;
	expect_cpus("node_libuv_1_49", &v, 6);
	v.weight = 10000;
	expect_cpus("node_libuv_1_49", &v, 8);
	v = with_quota(NONE);
	v.weight = 1;
	expect_cpus("node_libuv_1_49", &v, 8);
	v = with_quota(cpus(4));
	v.weight = 10;
	expect_cpus("node_libuv_1_52", &v, 4);
}

static void test_nproc_rounds_half_up(void **state)
{
	static const double pairs[][2] = {{0.01, 1}, {0.5, 1}, {1.49, 1}, {1.5, 2}, {2.49, 2}, {2.5, 3}, {7.5, 8}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct runtime_view v = with_quota(cpus(pairs[i][0]));
		expect_cpus("nproc_9_8", &v, pairs[i][1]);
	}
}

static void test_libuv_1_51_ignores_only_quotas_below_1(void **state)
{
	static const double pairs[][2] = {{0.01, 8}, {0.99, 8}, {1, 1}, {1.99, 1}, {2, 2}};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(pairs); i++) {
		struct runtime_view v = with_quota(cpus(pairs[i][0]));
		expect_cpus("node_libuv_1_51", &v, pairs[i][1]);
	}
}

static void test_whole_quotas_are_not_rounded_away(void **state)
{
	(void)state;
	for (unsigned n = 1; n <= 8; n++) {
		/* odd periods: a quotient that is whole must stay whole */
		struct runtime_view v = with_quota((struct cpu_quota){n * UINT64_C(30001), 30001});
		expect_cpus("jvm", &v, n);
		expect_cpus("rust_std", &v, n);
		expect_cpus("nproc_9_8", &v, n);
		expect_cpus("go_1_25", &v, n < 2 ? 2 : n);
		v.own.quota_usec++;
		v.visible.quota_usec++;
		expect_cpus("jvm", &v, n < 8 ? n + 1 : 8);
		expect_cpus("rust_std", &v, n);
	}
}

static void test_huge_quota(void **state)
{
	struct runtime_view v = with_quota((struct cpu_quota){UINT64_MAX - 1, 1});
	(void)state;
	for (size_t i = 0; i < runtimes_count(); i++) {
		struct runtime_judgement j = judge(runtimes_at(i)->id, &v);
		assert_true(j.allowed == 8);
		assert_true(j.assumed >= 8);
	}
	assert_string_equal(judge("automaxprocs", &v).setting, "GOMAXPROCS=8");
}

/* ---- the judgement -------------------------------------------------------------------------------------------------
 */

#define FITS RUNTIME_FITS
#define MANY RUNTIME_TOO_MANY
#define FEW  RUNTIME_TOO_FEW

/* The same quotas as above, the limit on the own cgroup. */
static void test_fit_of_every_cell(void **state)
{
	static const struct {
		const char *id;
		enum runtime_fit fit[QUOTAS - 1];
	} want[] = {
		{"go_1_25", {FITS, FITS, FITS, FITS, FITS, FITS}},
		{"go_before_1_25", {MANY, MANY, MANY, MANY, MANY, FITS}},
		{"automaxprocs", {FITS, FEW, FEW, FEW, FEW, MANY}},
		{"jvm", {FITS, FITS, FITS, FITS, FITS, FITS}},
		{"dotnet", {FITS, FITS, FITS, FITS, FITS, FITS}},
		{"node_libuv_1_52", {FITS, FEW, FEW, FEW, FEW, FITS}},
		{"node_libuv_1_51", {MANY, FEW, FEW, FEW, FEW, FITS}},
		{"node_libuv_1_49", {FITS, FEW, FEW, FEW, FEW, FITS}},
		{"node_libuv_before_1_49", {MANY, MANY, MANY, MANY, MANY, FITS}},
		{"rust_std", {FITS, FEW, FEW, FEW, FEW, FITS}},
		{"num_cpus", {FITS, FITS, FITS, FITS, FITS, FITS}},
		{"python_os_cpu_count", {MANY, MANY, MANY, MANY, MANY, FITS}},
		{"python_process_cpu_count", {MANY, MANY, MANY, MANY, MANY, FITS}},
		{"joblib_loky", {FITS, FITS, FITS, FITS, FITS, FITS}},
		{"concurrent_ruby", {FITS, FITS, FITS, FITS, FITS, FITS}},
		{"nproc_9_8", {FITS, FEW, FITS, FITS, FITS, FITS}},
		{"nproc_before_9_8", {MANY, MANY, MANY, MANY, MANY, FITS}},
		{"openmp", {MANY, MANY, MANY, MANY, MANY, FITS}},
		{"nginx", {MANY, MANY, MANY, MANY, MANY, FITS}},
		{"lxcfs", {FITS, FITS, FITS, FITS, FITS, FITS}},
	};
	(void)state;
	assert_int_equal(ARRAY_LEN(want), runtimes_count());
	for (size_t i = 0; i < ARRAY_LEN(want); i++)
		for (size_t k = 0; k < QUOTAS - 1; k++) {
			struct runtime_view v = with_quota(cpus(quotas[k]));
			expect_fit(want[i].id, &v, want[i].fit[k]);
		}
}

static void test_ancestor_only_limit(void **state)
{
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(rows); i++) {
		struct runtime_view v = with_ancestor_quota(cpus(2));
		bool ignores = find(rows[i].id)->rounding == RUNTIME_IGNORES_QUOTA;
		enum runtime_fit seen = ignores ? MANY : FITS;
		expect_fit(rows[i].id, &v, rows[i].leaf ? RUNTIME_BLIND_TO_ANCESTOR : seen);
		v.visible = NONE;
		expect_fit(rows[i].id, &v, ignores ? MANY : RUNTIME_BLIND_TO_ANCESTOR);
		/* who reads nothing of v1 is blind to every level: that is another cause */
		v = with_ancestor_quota(cpus(2));
		v.hierarchy = HIERARCHY_V1;
		if (!rows[i].v1)
			expect_fit(rows[i].id, &v, MANY);
	}
}

static void test_blind_only_where_it_matters(void **state)
{
	struct runtime_view v = with_ancestor_quota(cpus(12));
	(void)state;
	/* above the 8 CPUs the limit of the ancestor changes nothing */
	expect_fit("go_1_25", &v, FITS);
	expect_fit("dotnet", &v, FITS);
	/* own 1.5, ancestor 1.2: two threads are right for both */
	v = with_quota(cpus(1.2));
	v.own = cpus(1.5);
	expect_fit("dotnet", &v, FITS);
	/* own 4, ancestor 1.5 */
	v = with_quota(cpus(1.5));
	v.own = cpus(4);
	expect_fit("dotnet", &v, RUNTIME_BLIND_TO_ANCESTOR);
	expect_words(judge("dotnet", &v).sentence, "its own cgroup has 4 CPUs");
	expect_words(judge("dotnet", &v).sentence, "a cgroup above allows 1.5 CPUs");
	/* automaxprocs would have too many with either quota: the ancestor is not the cause */
	v = with_quota(cpus(10));
	v.own = cpus(12);
	expect_fit("automaxprocs", &v, MANY);
	/* libuv 1.51 ignores the ancestor's quota even if it sees it */
	v = with_ancestor_quota(cpus(0.5));
	v.visible = NONE;
	expect_fit("node_libuv_1_51", &v, MANY);
}

static void test_no_limit(void **state)
{
	(void)state;
	for (size_t i = 0; i < runtimes_count(); i++) {
		struct runtime_view v = with_quota(NONE);
		struct runtime_judgement j = judge(runtimes_at(i)->id, &v);
		assert_int_equal(j.fit, RUNTIME_NO_LIMIT);
		assert_string_equal(j.setting, "");
		assert_true(j.unused == 0);
		expect_words(j.sentence, "8 CPUs of the node");
	}
}

static void test_a_cpuset_alone_is_a_limit(void **state)
{
	struct runtime_view v = with_quota(NONE);
	(void)state;
	v.affinity = 3;
	expect_fit("go_before_1_25", &v, FITS);
	expect_fit("jvm", &v, FITS);
	expect_fit("nginx", &v, MANY);
	expect_fit("python_os_cpu_count", &v, MANY);
	expect_fit("concurrent_ruby", &v, MANY);
	/* there is no quota, so nothing is throttled */
	assert_null(strstr(judge("nginx", &v).sentence, "stand still"));
	expect_words(judge("nginx", &v).sentence, "it counts the CPUs of the node, not those it may run on");
	assert_string_equal(judge("nginx", &v).setting, "worker_processes 3;");
}

static void test_go_takes_two_by_design(void **state)
{
	struct runtime_view v = with_quota(cpus(0.25));
	struct runtime_judgement j = judge("go_1_25", &v);
	(void)state;
	assert_int_equal(j.fit, FITS);
	expect_words(j.sentence, "2 CPUs for the 0.25 CPUs allowed, its least by design");
	expect_words(j.sentence, "2 busy threads use up the 25 ms of every 100 ms in 12.5 ms");
	expect_words(j.sentence, "GOMAXPROCS=1");
	/* with 2 CPUs it takes 2 whether it sees the limit or not: being blind changes nothing */
	v = with_ancestor_quota(cpus(0.25));
	v.affinity = v.online = 2;
	expect_cpus("go_1_25", &v, 2);
	expect_fit("go_1_25", &v, FITS);
	expect_fit("go_before_1_25", &v, MANY);
	expect_fit("dotnet", &v, RUNTIME_BLIND_TO_ANCESTOR);
	v.affinity = v.online = 3;
	expect_fit("go_1_25", &v, RUNTIME_BLIND_TO_ANCESTOR);
}

static void test_too_few_from_a_tenth(void **state)
{
	struct runtime_view v = with_quota(cpus(1.75));
	struct runtime_judgement j = judge("rust_std", &v);
	(void)state;
	assert_int_equal(j.fit, FEW);
	assert_true(j.unused == 0.75);
	expect_words(j.sentence, "takes 1 CPU of the 1.75 CPUs allowed, because it rounds down: 0.75 stays unused");
	v = with_quota(cpus(1.1));
	expect_fit("rust_std", &v, FITS);
	v = with_quota(cpus(1.12));
	expect_fit("rust_std", &v, FEW);
	v = with_quota(cpus(7.5));
	expect_fit("rust_std", &v, FITS);
	assert_true(judge("rust_std", &v).unused == 0.5);
	v = with_quota(cpus(4));
	v.weight = 39;
	expect_fit("node_libuv_1_49", &v, FEW);
	expect_words(judge("node_libuv_1_49", &v).sentence, "cpu.weight");
}

static void test_sentences_name_cause_cost_and_cure(void **state)
{
	static const struct {
		const char *id;
		double quota;
		enum hierarchy hierarchy;
		const char *words[4];
	} want[] = {
		{"go_before_1_25",
		 0.5,
		 HIERARCHY_V2,
		 {"takes 8 CPUs where 0.5 CPUs are allowed", "does not look at the quota",
		  "8 busy threads use up the 50 ms of every 100 ms in 6.25 ms", "set GOMAXPROCS=1."}},
		{"go_before_1_25", 1, HIERARCHY_V2, {"where 1 CPU is allowed"}},
		{"rust_std", 8, HIERARCHY_V1, {"takes 8 CPUs of the 8 CPUs allowed."}},
		{"nproc_9_8", 2, HIERARCHY_V1, {"does not read the quota of cgroup v1", "OMP_NUM_THREADS=2"}},
		{"node_libuv_1_51", 0.25, HIERARCHY_V2, {"ignores a quota below 1", "pool of 4 threads"}},
		{"automaxprocs", 12, HIERARCHY_V2, {"at the quota only", "they wait for one another", "GOMAXPROCS=8"}},
		{"jvm", 12, HIERARCHY_V2, {"takes 8 CPUs of the 8 CPUs allowed", "quota is above the CPUs"}},
		{"jvm", 1.75, HIERARCHY_V2, {"the smallest whole number that can use the 1.75 CPUs"}},
		{"python_os_cpu_count", 1, HIERARCHY_V2, {"PYTHON_CPU_COUNT=1 (Python 3.13 or newer)"}},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		struct runtime_view v = with_quota(cpus(want[i].quota));
		v.hierarchy = want[i].hierarchy;
		for (size_t k = 0; k < 4 && want[i].words[k]; k++)
			expect_words(judge(want[i].id, &v).sentence, want[i].words[k]);
	}
}

/* No combination leaves a sentence that is cut, or a placeholder in it. */
static void test_sentences_are_whole(void **state)
{
	(void)state;
	for (size_t i = 0; i < runtimes_count(); i++)
		for (unsigned c = 0; c < QUOTAS * QUOTAS * 8; c++) {
			double own = quotas[c % QUOTAS];
			double above = quotas[c / QUOTAS % QUOTAS];
			unsigned flags = c / (QUOTAS * QUOTAS);
			struct runtime_view v = with_quota(own > 0 ? cpus(own) : NONE);
			struct cpu_quota q = above > 0 ? cpus(above) : NONE;
			v.binding = cpu_quota_is_below(&q, &v.own) ? q : v.own;
			v.visible = flags & 1 ? v.own : v.binding;
			v.affinity = flags & 2 ? 3 : 8;
			v.hierarchy = flags & 4 ? HIERARCHY_V1 : HIERARCHY_V2;
			struct runtime_judgement j = judge(runtimes_at(i)->id, &v);
			size_t len = strlen(j.sentence);
			assert_int_not_equal(j.fit, RUNTIME_UNKNOWN);
			assert_true(len + 1 < sizeof j.sentence);
			assert_int_equal(j.sentence[len - 1], '.');
			assert_null(strchr(j.sentence, '#'));
			assert_null(strchr(j.setting, '#'));
			assert_null(strstr(j.sentence, "nan"));
			assert_null(strstr(j.sentence, "inf "));
		}
}

static void test_unknown_counts(void **state)
{
	struct runtime_view v = with_quota(cpus(2));
	struct runtime_judgement j;
	(void)state;
	v.online = 0;
	expect_fit("nginx", &v, RUNTIME_UNKNOWN);
	expect_fit("concurrent_ruby", &v, RUNTIME_UNKNOWN);
	expect_fit("jvm", &v, FITS);
	v = with_quota(cpus(2));
	v.affinity = 0;
	for (size_t i = 0; i < runtimes_count(); i++)
		expect_fit(runtimes_at(i)->id, &v, RUNTIME_UNKNOWN);
	j = judge("jvm", &v);
	assert_true(isnan(j.assumed) && isnan(j.allowed));
	assert_string_equal(j.setting, "");
	expect_words(j.sentence, "cannot be told");
}

/* ---- the view ------------------------------------------------------------------------------------------------------
 */

static void test_view_of_a_snapshot(void **state)
{
	struct snapshot s = {.n_levels = 3};
	struct cpu_counts counts = {.have_nproc = true, .nproc = 6, .have_online = true, .online = 8};
	struct runtime_view v;
	(void)state;
	s.levels[0] = (struct level_figures){.state = QUOTA_READ, .quota = NONE};
	s.levels[1] = (struct level_figures){.state = QUOTA_READ, .quota = cpus(1.5)};
	s.levels[2].state = QUOTA_NO_FILE;
	assert_true(runtime_view_make(&v, &s, &counts, HIERARCHY_V2));
	assert_int_equal(v.affinity, 6);
	assert_int_equal(v.online, 8);
	assert_int_equal(v.cpuset, 0);
	assert_int_equal(v.weight, 0);
	assert_int_equal(v.hierarchy, HIERARCHY_V2);
	assert_true(v.own.quota_usec == QUOTA_NONE);
	assert_int_equal(v.binding.quota_usec, 150000);
	assert_int_equal(v.visible.quota_usec, 150000);
	counts.have_cpuset = true;
	counts.cpuset = 4;
	assert_true(runtime_view_make(&v, &s, &counts, HIERARCHY_V1));
	assert_int_equal(v.affinity, 4);
	s.levels[0].state = QUOTA_NO_FILE;
	s.levels[1].quota = NONE;
	assert_true(runtime_view_make(&v, &s, &counts, HIERARCHY_V2));
	assert_true(v.own.quota_usec == QUOTA_NONE && v.own.period_usec > 0);
	assert_true(v.binding.quota_usec == QUOTA_NONE && v.binding.period_usec > 0);
}

static void test_no_view_without_limit_or_affinity(void **state)
{
	struct snapshot s = {.n_levels = 1};
	struct cpu_counts counts = {.have_nproc = true, .nproc = 8};
	struct runtime_view v;
	(void)state;
	s.levels[0].state = QUOTA_BROKEN;
	assert_false(runtime_view_make(&v, &s, &counts, HIERARCHY_V2));
	s.levels[0].state = QUOTA_NO_FILE;
	assert_true(runtime_view_make(&v, &s, &counts, HIERARCHY_V2));
	counts.have_nproc = false;
	assert_false(runtime_view_make(&v, &s, &counts, HIERARCHY_V2));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_every_runtime_has_a_row),
		cmocka_unit_test(test_cpus_assumed),
		cmocka_unit_test(test_cpus_assumed_with_the_limit_on_an_ancestor),
		cmocka_unit_test(test_a_leaf_reader_goes_by_its_own_quota_when_both_have_one),
		cmocka_unit_test(test_resize_levels_and_settings),
		cmocka_unit_test(test_settings_carry_the_number_for_this_limit),
		cmocka_unit_test(test_one_cpu),
		cmocka_unit_test(test_affinity_3_of_8),
		cmocka_unit_test(test_lxcfs_counts_the_cpuset_not_the_affinity),
		cmocka_unit_test(test_libuv_1_49_multiplies_by_the_weight),
		cmocka_unit_test(test_nproc_rounds_half_up),
		cmocka_unit_test(test_libuv_1_51_ignores_only_quotas_below_1),
		cmocka_unit_test(test_whole_quotas_are_not_rounded_away),
		cmocka_unit_test(test_huge_quota),
		cmocka_unit_test(test_fit_of_every_cell),
		cmocka_unit_test(test_ancestor_only_limit),
		cmocka_unit_test(test_blind_only_where_it_matters),
		cmocka_unit_test(test_no_limit),
		cmocka_unit_test(test_a_cpuset_alone_is_a_limit),
		cmocka_unit_test(test_go_takes_two_by_design),
		cmocka_unit_test(test_too_few_from_a_tenth),
		cmocka_unit_test(test_sentences_name_cause_cost_and_cure),
		cmocka_unit_test(test_sentences_are_whole),
		cmocka_unit_test(test_unknown_counts),
		cmocka_unit_test(test_view_of_a_snapshot),
		cmocka_unit_test(test_no_view_without_limit_or_affinity),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
