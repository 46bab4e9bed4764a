#include "remote_reading.h"

#include <errno.h>
#include <math.h>
#include <string.h>

static const json_value *find_container(const json_value *all, const char *name, struct fault *f)
{
	char names[200] = "";
	size_t n = json_length(all);
	for (size_t i = 0; i < n; i++) {
		const json_value *c = json_at(all, i);
		const char *its_name = json_get_text(c, "container");
		size_t used = strlen(names);
		if (n == 1 || (its_name && strcmp(its_name, name) == 0))
			return c;
		snprintf(names + used, sizeof names - used, "%s%s", i ? ", " : "", its_name ? its_name : "?");
	}
	if (n == 0)
		fault_set(f, -ENOENT, "the sidecar has found no container to watch yet");
	else
		fault_set(f, -ENOENT, "the sidecar watches %zu containers (%s) and none is called %s: --container", n,
			  names, name);
	return NULL;
}

static void copy_text(const json_value *o, const char *key, char *out, size_t size)
{
	const char *text = json_get_text(o, key);
	snprintf(out, size, "%s", text ? text : "");
}

static void take_limit(const json_value *c, struct reading *r)
{
	const char *status = json_get_text(c, "quota_status");
	r->limit_cpus = 0;
	r->limit_known = status && (strcmp(status, "unlimited") == 0 || json_get_real(c, "quota_cpus", &r->limit_cpus));
}

static void take_phase(const json_value *c, struct reading *r)
{
	const json_value *demand = json_get(c, "demand");
	double phase_ms, width_ms;
	r->have_phase =
		json_get_real(demand, "phase_ms", &phase_ms) && json_get_real(demand, "phase_width_ms", &width_ms);
	if (!r->have_phase)
		return;
	r->phase_ns = (int64_t)(phase_ms * 1e6);
	r->phase_width_ns = (int64_t)(width_ms * 1e6);
}

int reading_take(const json_value *document, const char *container, struct reading *out, struct fault *f)
{
	const json_value *all = json_get(document, "containers");
	bool readable = false;
	*out = (struct reading){.window = NULL};
	copy_text(document, "token", out->token, sizeof out->token);
	if (!all || !*out->token || !json_get_i64(document, "mono_ns", &out->mono_ns))
		return fault_set(f, -EPROTO, "this is no report of headroom-sidecar");
	const json_value *c = find_container(all, container, f);
	if (!c)
		return -ENOENT;
	copy_text(c, "container", out->container, sizeof out->container);
	copy_text(c, "container_id", out->container_id, sizeof out->container_id);
	if (!json_get_bool(c, "readable", &readable) || !readable) {
		const char *why = json_get_text(c, "error");
		return fault_set(f, -ENODATA, "the sidecar cannot read the container %s: %s", out->container,
				 why ? why : "it does not say why");
	}
	if (!json_get_u64(c, "restarts", &out->restarts))
		out->restarts = 0;
	take_limit(c, out);
	take_phase(c, out);
	/* null is no window */
	out->window = json_get(json_get(c, "window"), "duration_s") ? json_get(c, "window") : NULL;
	return 0;
}

static uint64_t count_of(const json_value *window, const char *key)
{
	uint64_t n;
	return json_get_u64(window, key, &n) ? n : FIGURE_ABSENT;
}

static double real_of(const json_value *window, const char *key)
{
	double value;
	return json_get_real(window, key, &value) ? value : (double)NAN;
}

void figures_take_window(struct figures *o, const json_value *window, double limit_cpus)
{
	o->cpu_observed_s = real_of(window, "duration_s");
	o->cpu_cores_mean = real_of(window, "cpu_cores_mean");
	if (limit_cpus > 0)
		o->of_limit = o->cpu_cores_mean / limit_cpus;
	o->nr_periods = count_of(window, "nr_periods");
	o->nr_throttled = count_of(window, "nr_throttled");
	o->throttled_usec = count_of(window, "throttled_usec");
	o->psi_cpu_some_usec = count_of(window, "psi_cpu_some_usec");
	o->psi_io_some_usec = count_of(window, "psi_io_some_usec");
}
