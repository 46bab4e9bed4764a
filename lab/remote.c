#include "remote.h"

#include "clock.h"
#include "units.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <poll.h>
#include <string.h>

static const int64_t ask_timeout_ns = 5 * NSEC_PER_SEC;
static const int64_t try_again_ns = NSEC_PER_SEC / 2;
static const int64_t say_again_ns = 15 * NSEC_PER_SEC;

/* ---- targets --------------------------------------------------------------------------------------------------------
 */

static bool is_url(const char *text)
{
	return strncmp(text, "http://", 7) == 0 && text[7] && text[7] != '/' && !strpbrk(text, " \t\r\n");
}

int remote_add(struct remote *r, const char *text, struct fault *f)
{
	const char *equals = strchr(text, '=');
	const char *comma = equals ? strchr(equals, ',') : NULL;
	if (!comma || equals == text)
		return fault_set(f, -EINVAL, "--remote %.100s: write NAME=PROBE_URL,REPORT_URL", text);
	if (r->n == REMOTE_TARGETS_MAX)
		return fault_set(f, -EINVAL, "--remote is given more than %d times", REMOTE_TARGETS_MAX);
	struct remote_target *t = &r->targets[r->n++];
	*t = (struct remote_target){.name = strndup(text, (size_t)(equals - text)),
				    .probe_url = strndup(equals + 1, (size_t)(comma - equals - 1)),
				    .report_url = strdup(comma + 1)};
	if (!t->name || !t->probe_url || !t->report_url)
		return fault_set(f, ENOMEM, "--remote");
	const char *wrong = !is_url(t->probe_url) ? t->probe_url : !is_url(t->report_url) ? t->report_url : NULL;
	if (wrong)
		return fault_set(f, -EINVAL, "--remote %.60s: '%.200s' is no URL that begins with http://", t->name,
				 wrong);
	return 0;
}

bool remote_limit(const char *name, double *cpus)
{
	char digits[32];
	size_t len = strlen(name);
	*cpus = LIMIT_NO_CPUS;
	if (strcmp(name, "none") == 0)
		return true;
	if (len == 0 || len >= sizeof digits)
		return false;
	bool milli = name[len - 1] == 'm';
	snprintf(digits, sizeof digits, "%.*s", (int)(milli ? len - 1 : len), name);
	if (units_parse_decimal(digits, cpus, NULL) < 0)
		return false;
	*cpus = milli ? *cpus / 1000 : *cpus;
	return *cpus > 0;
}

struct remote_target *remote_find(struct remote *r, double limit_cpus)
{
	double cpus;
	for (size_t i = 0; i < r->n; i++)
		if (remote_limit(r->targets[i].name, &cpus) && fabs(cpus - limit_cpus) < 1e-9)
			return &r->targets[i];
	return NULL;
}

struct remote_target *remote_of(struct remote *r, const struct condition *condition)
{
	for (size_t i = 0; i < r->n; i++)
		if (strcmp(r->targets[i].name, condition->load->name) == 0)
			return &r->targets[i];
	return remote_find(r, condition->limit_cpus);
}

static char *with_query(const char *url, const char *key, const char *value)
{
	char *out;
	return asprintf(&out, "%s%c%s=%s", url, strchr(url, '?') ? '&' : '?', key, value) < 0 ? NULL : out;
}

char *remote_work_url(const struct remote *r, const struct remote_target *t, uint64_t times)
{
	char rounds[24];
	snprintf(rounds, sizeof rounds, "%" PRIu64, r->rounds * times);
	return r->rounds ? with_query(t->probe_url, "rounds", rounds) : strdup(t->probe_url);
}

/* ---- questions ------------------------------------------------------------------------------------------------------
 */

static int get(struct remote *r, const char *url, struct http_answer *out, struct fault *f)
{
	const struct http_request request = {.method = "GET", .url = url, .timeout_ns = ask_timeout_ns};
	int rc = http_call(&r->http, &request, out, f);
	return rc < 0 ? fault_prefix(f, rc, "%.200s", url) : 0;
}

static int judge(const struct http_answer *a, const char *url, struct fault *f)
{
	if (a->status == 410)
		return fault_set(f, -ESTALE, "the sidecar or the container beside it was started anew");
	if (a->status < 200 || a->status > 299)
		return fault_set(f, -EIO, "%.200s answers with status %ld", url, a->status);
	return 0;
}

void remote_answer_release(struct remote_answer *a)
{
	json_release(a->document);
	*a = (struct remote_answer){.document = NULL};
}

int remote_ask(struct remote *r, const struct remote_target *t, const char *since, struct remote_answer *out,
	       struct fault *f)
{
	struct http_answer got = {.text = NULL};
	CLEANUP_FREE char *url = since ? with_query(t->report_url, "since", since) : strdup(t->report_url);
	*out = (struct remote_answer){.asked_ns = clock_mono_ns()};
	int rc = url ? get(r, url, &got, f) : fault_set(f, ENOMEM, "URL");
	out->answered_ns = clock_mono_ns();
	if (rc == 0)
		rc = judge(&got, t->report_url, f);
	if (rc == 0) {
		out->document = json_parse(got.text, got.len, NULL);
		rc = reading_take(out->document, r->container, &out->reading, f);
		if (rc < 0)
			fault_prefix(f, rc, "%.200s", t->report_url);
	}
	free(got.text);
	return rc;
}

/* ---- waiting --------------------------------------------------------------------------------------------------------
 */

static int check_limit(const struct remote_target *t, const struct reading *reading, struct fault *f)
{
	char seen[LIMIT_TEXT_SIZE];
	double cpus;
	if (!reading->limit_known)
		return fault_set(f, -EIO, "%.200s: the sidecar does not know the limit of %s", t->report_url,
				 reading->container);
	limit_text(reading->limit_cpus, seen);
	/* a name that is no limit promises none */
	if (remote_limit(t->name, &cpus) && fabs(cpus - reading->limit_cpus) > 0.005)
		return fault_set(f, -EINVAL, "--remote %.60s: its sidecar sees a limit of %s for the container %s: %s",
				 t->name, seen, reading->container,
				 "the limit in front of the = is the one of that container");
	return 0;
}

static int try_target(struct remote *r, struct remote_target *t, struct remote_answer *out, struct fault *f)
{
	struct http_answer work = {.text = NULL};
	int rc = get(r, t->probe_url, &work, f);
	if (rc == 0)
		rc = judge(&work, t->probe_url, f);
	free(work.text);
	if (rc < 0)
		return rc;
	rc = remote_ask(r, t, NULL, out, f);
	return rc == 0 ? check_limit(t, &out->reading, f) : rc;
}

/* Sleeps, unless a signal comes. */
static int pause_for(const struct run_setup *setup, int64_t ns, struct fault *f)
{
	struct pollfd fd = {.fd = setup->signals->fd, .events = POLLIN};
	(void)poll(&fd, 1, (int)(ns / NSEC_PER_MSEC));
	if (!signals_take(setup->signals))
		return 0;
	return fault_set(f, -EINTR, "interrupted by SIG%s", sigabbrev_np(setup->signals->last));
}

int remote_wait(struct remote *r, struct remote_target *t, const struct run_setup *setup, struct remote_answer *out,
		struct fault *f)
{
	int64_t began_ns = clock_mono_ns();
	int64_t say_ns = began_ns;
	*out = (struct remote_answer){.document = NULL};
	for (;;) {
		struct fault why = {0};
		int rc = try_target(r, t, out, &why);
		if (rc == 0)
			return 0;
		int64_t now_ns = clock_mono_ns();
		bool time_is_up = now_ns - began_ns >= r->wait_ns;
		if (f && (rc == -EINVAL || rc == -ENOMEM || time_is_up))
			*f = why;
		remote_answer_release(out);
		if (rc == -EINVAL || rc == -ENOMEM)
			return rc;
		if (time_is_up)
			return fault_prefix(f, -ETIMEDOUT, "%s is not ready after %lld s", t->name,
					    (long long)(r->wait_ns / NSEC_PER_SEC));
		if (now_ns >= say_ns) {
			fprintf(stderr, "%s: waiting for %s: %s\n", r->program, t->name, fault_text(&why));
			say_ns = now_ns + say_again_ns;
		}
		rc = pause_for(setup, try_again_ns, f);
		if (rc < 0)
			return rc;
	}
}

/* ---- all of them ----------------------------------------------------------------------------------------------------
 */

/* Two hosts whose clocks since their start differ by less than an answer takes: that does not happen by chance. */
static void take_facts(struct remote_target *t, const struct remote_answer *a)
{
	const int64_t read_ns = NSEC_PER_MSEC;
	t->same_node = a->reading.mono_ns >= a->asked_ns - read_ns && a->reading.mono_ns <= a->answered_ns + read_ns;
	t->limit_cpus = a->reading.limit_cpus;
	snprintf(t->container, sizeof t->container, "%s", a->reading.container);
}

/* Calibrated with the most CPUs, where the calibration itself is disturbed least. */
static int take_rounds(struct remote *r, const struct remote_target *t, struct fault *f)
{
	struct http_answer work = {.text = NULL};
	int rc = get(r, t->probe_url, &work, f);
	if (rc == 0)
		rc = judge(&work, t->probe_url, f);
	CLEANUP_JSON json_value *v = rc == 0 ? json_parse(work.text, work.len, NULL) : NULL;
	if (!json_get_u64(v, "rounds", &r->rounds))
		r->rounds = 0;
	free(work.text);
	return rc;
}

int remote_open(struct remote *r, const struct run_setup *setup, struct fault *f)
{
	const struct remote_target *widest = NULL;
	double most_cpus = 0;
	int rc = http_open(&r->http, NULL, f);
	for (size_t i = 0; rc == 0 && i < r->n; i++) {
		struct remote_answer a;
		rc = remote_wait(r, &r->targets[i], setup, &a, f);
		if (rc < 0)
			break;
		double cpus = a.reading.limit_cpus > 0 ? a.reading.limit_cpus : INFINITY;
		if (cpus > most_cpus) {
			most_cpus = cpus;
			widest = &r->targets[i];
		}
		take_facts(&r->targets[i], &a);
		remote_answer_release(&a);
	}
	return rc == 0 && widest && r->rounds == 0 ? take_rounds(r, widest, f) : rc;
}

void remote_close(struct remote *r)
{
	for (size_t i = 0; i < r->n; i++) {
		free(r->targets[i].name);
		free(r->targets[i].probe_url);
		free(r->targets[i].report_url);
	}
	http_close(&r->http);
	*r = REMOTE_NONE;
}
