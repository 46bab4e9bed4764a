#include "experiment.h"

#include "order.h"
#include "remote.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { TRIES = 2 };

static const double period_ms = LIMIT_PERIOD_USEC / 1000.0;

static int allocate(struct experiment *e, struct fault *f)
{
	size_t runs = e->n_conditions * e->repetitions;
	e->order = calloc(runs, sizeof *e->order);
	e->phases_ms = calloc(runs, sizeof *e->phases_ms);
	e->runs = calloc(runs * TRIES, sizeof *e->runs);
	e->mismatch = calloc(e->n_conditions, sizeof *e->mismatch);
	if (e->order && e->phases_ms && e->runs && e->mismatch)
		return 0;
	return fault_set(f, ENOMEM, "experiment");
}

int experiment_plan(struct experiment *e, const struct condition *conditions, size_t n, size_t repetitions,
		    uint64_t seed, double phase_ms, struct fault *f)
{
	struct rng dice = {.state = seed};
	*e = (struct experiment){.conditions = conditions, .n_conditions = n, .repetitions = repetitions};
	int rc = allocate(e, f);
	if (rc < 0) {
		experiment_release(e);
		return rc;
	}
	order_draw(&dice, n, repetitions, e->order);
	for (size_t c = 0; c < n; c++) {
		double *phases_ms = e->phases_ms + c * repetitions;
		/* drawn in any case, so that --phase does not change anything else that the seed decides */
		order_draw_phases(&dice, period_ms, repetitions, phases_ms);
		for (size_t r = 0; !isnan(phase_ms) && r < repetitions; r++)
			phases_ms[r] = phase_ms;
	}
	return 0;
}

int64_t experiment_run_ns(const struct run_setup *setup)
{
	/* start of the probe, warm-up, ending everything: measured */
	return setup->duration_ns + setup->lead_ns + 1100 * NSEC_PER_MSEC;
}

/* The line with that event, to be freed; NULL when there is none. */
static char *find_event(const char *log, const char *event)
{
	while (log && *log) {
		size_t len = strcspn(log, "\n");
		CLEANUP_JSON json_value *line = json_parse(log, len, NULL);
		const char *name = json_get_text(line, "event");
		if (name && strcmp(name, event) == 0)
			return strndup(log, len);
		log += len + (log[len] == '\n');
	}
	return NULL;
}

static struct run_plan plan_of(const struct experiment *e, size_t repetition, size_t position, size_t condition)
{
	return (struct run_plan){.condition = e->conditions[condition],
				 .repetition = (unsigned)repetition + 1,
				 .position = (unsigned)position + 1,
				 .phase_ms = e->phases_ms[condition * e->repetitions + repetition]};
}

static void announce(const struct experiment *e, const struct run_plan *plan)
{
	char what[80];
	char limit[LIMIT_TEXT_SIZE];
	limit_text(plan->condition.limit_cpus, limit);
	snprintf(what, sizeof what, "%s, limit %s", plan->condition.load->name, limit);
	progress_begin(e->setup.progress, what);
}

/* One try; it is in the files afterwards, however it ended. */
static int try_once(struct experiment *e, size_t condition, const struct run_plan *plan, bool *valid, struct fault *f)
{
	struct experiment_run *run = &e->runs[e->n_runs];
	struct fault late = {0};
	char limit[LIMIT_TEXT_SIZE];
	*run = (struct experiment_run){.condition = condition, .plan = *plan};
	announce(e, plan);
	int rc = e->setup.remote ? remote_condition(&e->setup, plan, &run->result, f)
				 : run_condition(&e->setup, plan, &run->result, f);
	limit_text(plan->condition.limit_cpus, limit);
	if (rc < 0 && rc != -EINTR)
		fault_prefix(f, rc, "%s at %s", plan->condition.load->name, limit);
	int add_rc = 0;
	if (e->results && (run->result.measured || run->result.requests_csv))
		add_rc = results_add(e->results, &e->setup, plan, &run->result, rc ? &late : f);
	if (run->result.measured)
		e->n_runs++;
	if (!e->mismatch[condition])
		e->mismatch[condition] = find_event(run->result.sidecar_log, "nproc_quota_mismatch");
	*valid = run->result.measured && run->result.figures.valid;
	if (!run->result.measured)
		run_result_release(&run->result);
	return rc ? rc : add_rc;
}

static int one_run(struct experiment *e, size_t repetition, size_t position, struct fault *f)
{
	size_t condition = e->order[repetition * e->n_conditions + position];
	struct run_plan plan = plan_of(e, repetition, position, condition);
	bool valid = false;
	int rc = 0;
	for (int i = 0; rc == 0 && !valid && i < TRIES; i++)
		rc = try_once(e, condition, &plan, &valid, f);
	progress_end_run(e->setup.progress);
	return rc;
}

int experiment_run(struct experiment *e, struct fault *f)
{
	int rc = 0;
	for (size_t r = 0; rc == 0 && r < e->repetitions; r++)
		for (size_t p = 0; rc == 0 && p < e->n_conditions; p++)
			rc = one_run(e, r, p, f);
	progress_clear(e->setup.progress);
	return rc;
}

void experiment_release(struct experiment *e)
{
	for (size_t i = 0; i < e->n_runs; i++)
		run_result_release(&e->runs[i].result);
	for (size_t c = 0; e->mismatch && c < e->n_conditions; c++)
		free(e->mismatch[c]);
	free(e->order);
	free(e->phases_ms);
	free(e->runs);
	free(e->mismatch);
	*e = (struct experiment){.conditions = NULL};
}
