#include "concurrency.h"

#include "law.h"
#include "tables.h"

#include <errno.h>
#include <math.h>

int concurrency_apply(struct concurrency *c, struct fault *f)
{
	c->threads_effective = law_threads(c->cpu_ms, c->wait_ms, c->effective_cpus);
	c->threads_nproc = law_threads(c->cpu_ms, c->wait_ms, c->nproc);
	c->max_rate = law_max_rate(c->cpu_ms, c->effective_cpus);
	if (isnan(c->threads_effective) || isnan(c->threads_nproc))
		return fault_set(
			f, -EINVAL,
			"the law needs a request with some CPU time (here %g ms), a wait of 0 or more (%g ms) and "
			"some CPU (%g)",
			c->cpu_ms, c->wait_ms, c->effective_cpus);
	return 0;
}

double concurrency_whole(double threads)
{
	/* 30.000000001 is 30: what is left of dividing */
	return fmax(1, ceil(threads - 1e-6));
}

static void tell_of_difference(const struct concurrency *c, char *out, size_t size)
{
	double fair = concurrency_whole(c->threads_effective);
	double by_nproc = concurrency_whole(c->threads_nproc);
	if (by_nproc > fair)
		snprintf(
			out, size,
			"By nproc it would be %.0f: no request more per second, but each would take %.1f times as long "
			"when all are at work, most of it throttled.",
			by_nproc, by_nproc / fair);
	else if (by_nproc < fair)
		snprintf(out, size, "By nproc it would be %.0f, and some of the limit would never be used.", by_nproc);
	else
		snprintf(out, size, "By nproc it would be the same number.");
}

void concurrency_sentence(const struct concurrency *c, char out[CONCURRENCY_TEXT_SIZE])
{
	char difference[256];
	tell_of_difference(c, difference, sizeof difference);
	snprintf(
		out, CONCURRENCY_TEXT_SIZE,
		"A request that computes for %.3g ms and waits for %.3g ms needs %.0f thread%s to use %.3g CPUs fully: "
		"(%.3g + %.3g) / %.3g x %.3g = %.1f, at most %.4g requests/s. More threads do not make it more, only the "
		"responses longer. %s",
		c->cpu_ms, c->wait_ms, concurrency_whole(c->threads_effective),
		concurrency_whole(c->threads_effective) > 1 ? "s" : "", c->effective_cpus, c->cpu_ms, c->wait_ms,
		c->cpu_ms, c->effective_cpus, c->threads_effective, c->max_rate, difference);
}

void concurrency_write_text(FILE *out, const struct concurrency *c)
{
	char text[CONCURRENCY_TEXT_SIZE];
	fprintf(out, "request    %.4g ms of CPU, %.4g ms of waiting", c->cpu_ms, c->wait_ms);
	if (isnan(c->requests))
		fputs(" (given)\n", out);
	else
		fprintf(out, " (of %.2f ms for one alone, mean of %.0f; CPU as the %s tells it)\n", c->response_ms,
			c->requests, c->source);
	fprintf(out, "CPUs       %.4g (%s), nproc %u\n", c->effective_cpus, c->cpus_source, c->nproc);
	fprintf(out, "threads    %.0f with %.4g CPUs, %.0f with nproc\n\n", concurrency_whole(c->threads_effective),
		c->effective_cpus, concurrency_whole(c->threads_nproc));
	concurrency_sentence(c, text);
	tables_wrap(out, "", text, 0, 100);
}

json_value *concurrency_json(const struct concurrency *c)
{
	json_value *o = json_new_object();
	char text[CONCURRENCY_TEXT_SIZE];
	json_set_u64(o, "schema_version", 1);
	json_set_real(o, "cpu_ms", c->cpu_ms);
	json_set_real(o, "wait_ms", c->wait_ms);
	json_set_text(o, "source", c->source);
	json_set_real(o, "response_ms", c->response_ms);
	json_set_real(o, "requests", c->requests);
	json_set_real(o, "effective_cpus", c->effective_cpus);
	json_set_text(o, "effective_cpus_source", c->cpus_source);
	json_set_u64(o, "nproc", c->nproc);
	json_set_real(o, "law_threads", c->threads_effective);
	json_set_real(o, "threads", concurrency_whole(c->threads_effective));
	json_set_real(o, "law_threads_by_nproc", c->threads_nproc);
	json_set_real(o, "threads_by_nproc", concurrency_whole(c->threads_nproc));
	json_set_real(o, "max_requests_per_s", c->max_rate);
	concurrency_sentence(c, text);
	json_set_text(o, "sentence", text);
	return o;
}
