#include "sender.h"

#include "clock.h"
#include "files.h"

#include <string.h>

int sender_start_warm_up(struct program *load, const struct run_setup *setup, const char *url, struct fault *f)
{
	const char *const argv[] = {setup->load,  url,     "--pattern",        "paced", "--interval", "50ms",
				    "--duration", "600ms", "--lateness-bound", "1h",    "-o",         "json",
				    NULL};
	struct child_spec spec = {.argv = argv};
	return program_start(load, &spec, f);
}

/* Numbers as words of a command. */
struct load_words {
	char burst[16], every[32], duration[32], start[32], connections[16], bound[32];
};

static void spell(const struct run_setup *setup, const struct workload *load, int64_t start_ns, struct load_words *w)
{
	int64_t every_ns = load->every_ns * setup->stretch;
	snprintf(w->burst, sizeof w->burst, "%u", load->burst);
	snprintf(w->every, sizeof w->every, "%lldus", (long long)(every_ns / NSEC_PER_USEC));
	snprintf(w->duration, sizeof w->duration, "%lldms", (long long)(setup->duration_ns / NSEC_PER_MSEC));
	snprintf(w->start, sizeof w->start, "%lld", (long long)start_ns);
	snprintf(w->connections, sizeof w->connections, "%u", setup->connections);
	snprintf(w->bound, sizeof w->bound, "%lldus", (long long)(setup->lateness_bound_ns / NSEC_PER_USEC));
}

int sender_start(struct program *load, const struct run_setup *setup, const struct run_plan *plan, const char *url,
		 int64_t start_ns, struct fault *f)
{
	struct load_words w;
	bool even = plan->condition.load->burst == 1;
	spell(setup, plan->condition.load, start_ns, &w);
	const char *const argv[] = {setup->load,
				    url,
				    "--pattern",
				    even ? "paced" : "burst",
				    "--burst",
				    w.burst,
				    even ? "--interval" : "--every",
				    w.every,
				    "--duration",
				    w.duration,
				    "--connections",
				    w.connections,
				    "--lateness-bound",
				    w.bound,
				    "--start-mono-ns",
				    w.start,
				    "--requests",
				    setup->requests_path,
				    "-o",
				    "json",
				    NULL};
	struct child_spec spec = {.argv = argv};
	return program_start(load, &spec, f);
}

bool sender_was_late(const struct program *load, int64_t start_ns)
{
	CLEANUP_FREE char *report = capture_text(&load->out);
	return child_exit_code(&load->child) == 1 && report && !*report && clock_mono_ns() >= start_ns;
}

json_value *sender_report(const struct program *load)
{
	CLEANUP_FREE char *text = capture_text(&load->out);
	return text ? json_parse(text, strlen(text), NULL) : NULL;
}

int sender_take_requests(const struct run_setup *setup, struct run_result *out, struct fault *f)
{
	int rc = file_load(setup->requests_path, &out->requests_csv, f);
	if (rc == 0)
		rc = requests_parse(out->requests_csv, &out->requests, f);
	unlink(setup->requests_path);
	return rc;
}
