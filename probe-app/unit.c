#include "unit.h"

#include "clock.h"
#include "disk.h"
#include "work.h"

#include <errno.h>

/* Everything that the kinds of work share while one unit is done. */
struct unit_run {
	const struct unit *unit;
	const struct unit_tools *tools;
	const struct meter *meter;
	struct record *record;
	struct fault *fault;
};

static bool wants_cpu(const struct unit *u)
{
	return u->rounds > 0;
}

static int run_cpu(struct unit_run *run)
{
	struct work_context *work = work_open(run->fault);
	if (!work)
		return -ENOTSUP;
	int rc = work_rounds(work, run->unit->rounds, run->tools->stop, run->record->digest);
	work_close(work);
	if (rc == 0)
		run->record->rounds = (int64_t)run->unit->rounds;
	return rc < 0 ? fault_set(run->fault, -rc, "SHA-256 rounds") : 0;
}

static bool wants_wait(const struct unit *u)
{
	return u->wait_ns > 0;
}

/* Up to the alarm it is a deliberate wait, what comes after it is a wait for a CPU: schedstat is not needed, and what
 * the thread missed between this line and its falling asleep does not count as either. */
static int sleep_measured(struct unit_run *run, int64_t ns, int64_t *asleep_ns)
{
	int64_t before = clock_mono_ns();
	int rc = stop_sleep_until(run->tools->stop, before + ns);
	int64_t passed = clock_mono_ns() - before;
	*asleep_ns = passed < ns ? passed : ns;
	return rc < 0 ? fault_set(run->fault, -rc, "waiting") : 0;
}

static int run_wait(struct unit_run *run)
{
	return sleep_measured(run, run->unit->wait_ns, &run->record->wait_ns);
}

static bool wants_disk(const struct unit *u)
{
	return u->disk_kb > 0;
}

static int run_disk(struct unit_run *run)
{
	struct reading before = meter_read(run->meter);
	int rc = disk_write(run->tools->disk_dir, run->unit->disk_kb, run->tools->stop, run->fault);
	struct reading after = meter_read(run->meter);
	run->record->disk_ns = meter_between(&before, &after).asleep_ns;
	return rc;
}

static bool wants_pool(const struct unit *u)
{
	return u->pool != UNIT_NO_POOL;
}

static int run_pool(struct unit_run *run)
{
	const struct pool_spec *spec = &run->tools->pool_specs[run->unit->pool];
	struct gate *pool = &run->tools->pools[run->unit->pool];
	struct gate_pass pass;
	int rc = gate_enter(pool, GATE_STAY, &pass);
	run->record->pool_wait_ns = pass.granted_ns - pass.queued_ns;
	if (rc < 0)
		return fault_set(run->fault, -rc, "waiting for a unit of pool %s", spec->name);
	rc = sleep_measured(run, spec->hold_ns, &run->record->pool_hold_ns);
	gate_leave(pool, pass.slot);
	return rc;
}

/* In the order in which a unit does them. */
static const struct work_kind {
	bool (*wanted)(const struct unit *u);
	int (*run)(struct unit_run *run);
} kinds[] = {
	{wants_pool, run_pool},
	{wants_cpu, run_cpu},
	{wants_wait, run_wait},
	{wants_disk, run_disk},
};

bool unit_is_empty(const struct unit *u)
{
	for (size_t i = 0; i < ARRAY_LEN(kinds); i++)
		if (kinds[i].wanted(u))
			return false;
	return true;
}

static void start_record(const struct unit_run *run, int64_t mono_ns)
{
	run->record->started_ns = mono_ns;
	run->record->rounds = 0;
	run->record->wait_ns = 0;
	run->record->disk_ns = 0;
	run->record->pool_wait_ns = 0;
	run->record->pool_hold_ns = 0;
}

int unit_run(const struct unit *u, const struct unit_tools *tools, const struct meter *meter,
	     const struct reading *since, struct record *r, struct fault *f)
{
	struct unit_run run = {.unit = u, .tools = tools, .meter = meter, .record = r, .fault = f};
	int64_t cpu_before = clock_thread_cpu_ns();
	int rc = 0;
	start_record(&run, clock_mono_ns());
	for (size_t i = 0; rc == 0 && i < ARRAY_LEN(kinds); i++)
		if (kinds[i].wanted(u))
			rc = kinds[i].run(&run);
	struct reading end = meter_read(meter);
	struct elapsed total = meter_between(since, &end);
	r->ended_ns = end.mono_ns;
	r->run_ns = end.mono_ns - r->started_ns;
	r->cpu_ns = end.cpu_ns - cpu_before;
	record_balance(r, &total);
	return rc;
}
