#include "load.h"

#include "csv.h"
#include "gate.h"
#include "hgrm.h"
#include "measure.h"
#include "report.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static const char program[] = "headroom-load";

/* Files are opened before the first request: a path that cannot be written is found then, not after the run. */
struct outputs {
	int requests_fd;
	FILE *hgrm;
};

static int open_outputs(struct outputs *out, const struct load_options *o, struct fault *f)
{
	*out = (struct outputs){.requests_fd = -1};
	if (o->requests_file) {
		const char *head = csv_shot_head();
		size_t len = strlen(head);
		out->requests_fd = open(o->requests_file, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0666);
		if (out->requests_fd < 0 || write(out->requests_fd, head, len) != (ssize_t)len)
			return fault_set(f, errno, "--requests: cannot write %s", o->requests_file);
	}
	if (o->hgrm_file && !(out->hgrm = fopen(o->hgrm_file, "we")))
		return fault_set(f, errno, "--hgrm: cannot write %s", o->hgrm_file);
	return 0;
}

static void say_file_error(int error, const char *option, const char *path, const char *rest)
{
	fprintf(stderr, "%s: --%s: cannot write %s: %s%s\n", program, option, path, strerror(error), rest);
}

/* Closing shows errors that a network file system kept to itself. */
static bool close_outputs(struct outputs *out, const struct load_options *o, int write_error)
{
	bool good = true;
	if (out->requests_fd >= 0 && close(out->requests_fd) < 0 && !write_error)
		write_error = errno;
	if (write_error) {
		say_file_error(write_error, "requests", o->requests_file,
			       "; the lines before that are there, and the report below counts every request");
		good = false;
	}
	if (out->hgrm) {
		bool failed = ferror(out->hgrm) != 0;
		errno = 0;
		if (fclose(out->hgrm) == EOF || failed) {
			say_file_error(errno ? errno : EIO, "hgrm", o->hgrm_file, "");
			good = false;
		}
	}
	*out = (struct outputs){.requests_fd = -1};
	return good;
}

static void write_hgrm(const struct outputs *out, const struct result *r)
{
	char note[RESULT_REASON_SIZE + 32];
	if (!out->hgrm)
		return;
	snprintf(note, sizeof note, "#[INVALID: %s]\n", r->invalid_reason);
	hgrm_write(out->hgrm, &r->latency, r->valid ? NULL : note);
}

static int write_report(const struct load_options *o, const struct result *results, size_t n)
{
	int rc = o->output == OUTPUT_JSON  ? report_json(stdout, results, n, o->keep_samples)
		 : o->output == OUTPUT_CSV ? report_csv(stdout, results, n)
					   : report_table(stdout, results, n);
	if (rc < 0)
		fprintf(stderr, "%s: cannot write the report: %s\n", program, strerror(-rc));
	return rc;
}

/* What the run was worth, for the shell. */
static int judge(const struct load_options *o, const struct result *results, size_t n)
{
	char text[GATE_TEXT_SIZE];
	int status = EXIT_DONE;
	for (size_t i = 0; i < n; i++) {
		const struct result *r = &results[i];
		report_failures(stderr, program, r);
		for (size_t k = 0; k < o->fail_on.n; k++) {
			if (gate_trips(o->fail_on.values[k], r, text)) {
				fprintf(stderr, "%s: --fail-on: %s\n", program, text);
				status = status ? status : EXIT_GATE;
			}
		}
		if (!r->valid)
			fprintf(stderr, "%s: this run is invalid: %s\n", program, r->invalid_reason);
		if (!r->valid || (r->ok == 0 && r->planned > 0))
			status = EXIT_FAILED;
		if (r->interrupted_by)
			return EXIT_SIGNAL + r->interrupted_by;
	}
	return status;
}

static int say(const struct fault *f, int status)
{
	fprintf(stderr, "%s: %s\n", program, fault_text(f));
	return status;
}

/* One run for each number of threads; a single one for an open loop. *done counts those with a result. */
static int run_all(struct measure *m, struct result *results, size_t n, size_t *done, struct fault *f)
{
	for (*done = 0; *done < n; (*done)++) {
		struct result *r = &results[*done];
		m->threads = m->options->threads[*done];
		int rc = result_init(r, m->schedule ? m->schedule->plan.n : 0, f);
		if (rc == 0)
			rc = measure_run(m, r, f);
		if (rc < 0) {
			int signal = r->interrupted_by;
			result_free(r);
			if (rc == -EINTR)
				return EXIT_SIGNAL + signal;
			return rc == -EINVAL ? EXIT_USAGE : EXIT_FAILED;
		}
		if (r->interrupted_by) {
			(*done)++;
			break;
		}
	}
	return EXIT_DONE;
}

/* Measures and reports; what was measured before a failure is reported as well. */
static int measure_and_report(struct measure *m, struct outputs *out, size_t n, struct fault *f)
{
	const struct load_options *o = m->options;
	size_t done;
	struct result *results = calloc(n, sizeof *results);
	if (!results)
		return say(f, EXIT_FAILED);
	int failed = run_all(m, results, n, &done, f);
	if (done == 1)
		write_hgrm(out, results);
	if (failed)
		say(f, failed);
	bool files_good = close_outputs(out, o, m->write_error);
	bool report_good = done == 0 || write_report(o, results, done) == 0;
	int status = judge(o, results, done);
	for (size_t i = 0; i < done; i++)
		result_free(&results[i]);
	free(results);
	if (failed)
		return failed;
	return status < EXIT_SIGNAL && (!files_good || !report_good) ? EXIT_FAILED : status;
}

static int run(const struct load_options *o)
{
	struct fault f = {0};
	struct schedule schedule = {0};
	struct outputs out = {.requests_fd = -1};
	bool closed = o->pattern == PATTERN_CLOSED;
	int status;
	int rc = closed ? 0 : schedule_make(&schedule, o, &f);
	if (rc < 0) {
		status = say(&f, rc == -EINVAL || rc == -ERANGE ? EXIT_USAGE : EXIT_FAILED);
	} else if (open_outputs(&out, o, &f) < 0) {
		status = say(&f, EXIT_FAILED);
		close_outputs(&out, o, 0);
	} else {
		struct measure m = {
			.options = o, .schedule = closed ? NULL : &schedule, .requests_fd = out.requests_fd};
		status = measure_and_report(&m, &out, closed ? o->n_threads : 1, &f);
	}
	plan_free(&schedule.plan);
	return status;
}

int load_main(int argc, char **argv)
{
	struct load_options o;
	int status = options_begin(&o, argc, argv);
	if (status < 0)
		status = run(&o);
	options_free(&o);
	return status;
}
