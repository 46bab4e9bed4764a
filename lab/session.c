#include "session.h"

#include "clock.h"
#include "program.h"
#include "siblings.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/mman.h>

const char *const session_output_names[] = {"table", "json", NULL};

/* ---- calibration ----------------------------------------------------------------------------------------------------
 */

/* A signal ends the waiting. */
static int wait_for_calibration(struct session *s, struct program *probe, struct fault *f)
{
	while (!program_has_ended(probe)) {
		if (signals_take(&s->signals))
			return fault_set(f, -EINTR, "interrupted by SIG%s", sigabbrev_np(s->signals.last));
		clock_sleep_until_ns(clock_mono_ns() + 20 * NSEC_PER_MSEC, NULL);
	}
	return child_exit_code(&probe->child) == 0 ? 0 : program_failed(probe, "while calibrating", f);
}

static int read_calibration(struct calibration *c, const struct program *probe, struct fault *f)
{
	CLEANUP_FREE char *line = capture_first_line(&probe->out);
	CLEANUP_JSON json_value *v = line ? json_parse(line, strlen(line), NULL) : NULL;
	double median_ns;
	if (!json_get_u64(v, "rounds", &c->rounds) || c->rounds == 0)
		return fault_set(f, -EPROTO, "headroom-probe --calibrate did not tell the rounds");
	c->cpu_ms = json_get_real(v, "median_ns", &median_ns) ? median_ns / 1e6 : (double)NAN;
	return 0;
}

static int calibrate(struct session *s, const struct session_options *o, struct fault *f)
{
	const char *const argv[] = {s->probe, "--calibrate", NULL};
	struct child_spec spec = {.argv = argv};
	struct program probe;
	s->calibration = (struct calibration){.rounds = o->rounds, .cpu_ms = (double)NAN};
	if (o->rounds_given)
		return 0;
	program_init(&probe, "headroom-probe");
	int rc = program_start(&probe, &spec, f);
	if (rc == 0)
		rc = wait_for_calibration(s, &probe, f);
	if (rc == 0)
		rc = read_calibration(&s->calibration, &probe, f);
	int end_rc = child_end(&probe.child, NSEC_PER_SEC, rc ? NULL : f);
	program_release(&probe);
	return rc ? rc : end_rc;
}

/* ---- the session ----------------------------------------------------------------------------------------------------
 */

static int find_programs(struct session *s, bool sidecar_wanted, struct fault *f)
{
	int rc = sibling_find("headroom-probe", &s->probe, f);
	if (rc == 0)
		rc = sibling_find("headroom-load", &s->load, f);
	if (rc == 0 && sidecar_wanted)
		rc = sibling_find("headroom-sidecar", &s->sidecar, f);
	return rc;
}

static int open_results(struct session *s, const char *out, struct fault *f)
{
	int rc = results_open(&s->results, out, f);
	if (rc == 0 && asprintf(&s->requests_path, "%s/.requests-of-this-run.csv", s->results.folder) < 0) {
		s->requests_path = NULL;
		rc = fault_set(f, ENOMEM, "results");
	}
	return rc;
}

static uint64_t choose_seed(const struct session_options *o)
{
	return o->seed_given ? o->seed : (uint64_t)clock_wall_ns() / (uint64_t)NSEC_PER_MSEC % 1000000;
}

int session_open(struct session *s, const struct session_options *o, struct fault *f)
{
	s->seed = choose_seed(o);
	int rc = signals_open(&s->signals, f);
	if (rc == 0)
		rc = find_programs(s, !o->no_sidecar, f);
	if (rc == 0)
		rc = limiter_choose(&s->limiter, "/", o->limiter_given ? (enum limit_way)o->limiter : LIMIT_WAYS, f);
	if (rc == 0)
		rc = open_results(s, o->out, f);
	return rc == 0 ? calibrate(s, o, f) : rc;
}

static int keep_requests_in_memory(struct session *s, struct fault *f)
{
	s->requests_fd = memfd_create("requests.csv", MFD_CLOEXEC);
	if (s->requests_fd < 0)
		return fault_set(f, errno, "requests.csv");
	if (asprintf(&s->requests_path, "/proc/%d/fd/%d", (int)getpid(), s->requests_fd) >= 0)
		return 0;
	s->requests_path = NULL;
	return fault_set(f, ENOMEM, "requests.csv");
}

int session_open_remote(struct session *s, const struct session_options *o, struct fault *f)
{
	s->seed = choose_seed(o);
	s->results.started_wall_ns = clock_wall_ns();
	int rc = signals_open(&s->signals, f);
	if (rc == 0)
		rc = sibling_find("headroom-load", &s->load, f);
	if (rc == 0 && o->out)
		rc = results_open(&s->results, o->out, f);
	return rc == 0 ? keep_requests_in_memory(s, f) : rc;
}

void session_close(struct session *s)
{
	if (s->requests_fd >= 0)
		close(s->requests_fd);
	s->requests_fd = -1;
	progress_clear(&s->progress);
	results_close(&s->results);
	limiter_release(&s->limiter);
	signals_close(&s->signals);
	free(s->probe);
	free(s->load);
	free(s->sidecar);
	free(s->requests_path);
	s->probe = s->load = s->sidecar = s->requests_path = NULL;
}

struct run_setup session_run_setup(struct session *s)
{
	return (struct run_setup){.limiter = &s->limiter,
				  .probe = s->probe,
				  .load = s->load,
				  .sidecar = s->sidecar,
				  .rounds = s->calibration.rounds,
				  .stretch = 1,
				  .requests_path = s->requests_path,
				  .signals = &s->signals,
				  .progress = &s->progress};
}

int session_status(const struct session *s, int rc, bool as_published)
{
	if (s->signals.last)
		return 128 + s->signals.last;
	return rc < 0 || !as_published ? 1 : 0;
}
