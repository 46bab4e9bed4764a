#include "result.h"

#include "stats.h"
#include "units.h"

int result_init(struct result *r, size_t room, struct fault *f)
{
	*r = (struct result){.valid = true};
	int rc = dist_init(&r->latency, room, f);
	if (rc == 0)
		rc = dist_init(&r->service, room, f);
	if (rc == 0)
		rc = dist_init(&r->lateness, room, f);
	return rc;
}

void result_free(struct result *r)
{
	dist_free(&r->latency);
	dist_free(&r->service);
	dist_free(&r->lateness);
}

static void count_outcome(struct result *r, const struct shot *shot)
{
	enum answer_error error = (enum answer_error)shot->error;
	bool sent = shot->sent_ns != ANSWER_ABSENT;
	r->sent += sent;
	r->errors[error] += error != ANSWER_WHOLE;
	if (shot->status < RESULT_STATUSES && shot->status > 0)
		r->by_status[shot->status]++;
	if (answer_is_ok(shot->status, error))
		r->ok++;
	else if (error != ANSWER_INTERRUPTED)
		r->failed++;
	else
		r->unfinished += sent;
	r->bytes += (uint64_t)shot->bytes;
}

static void count_times(struct result *r, const struct shot *shot)
{
	if (shot->sent_ns == ANSWER_ABSENT)
		return;
	bool has_plan = shot->planned_ns != ANSWER_ABSENT;
	int64_t from_ns = has_plan ? shot->planned_ns : shot->sent_ns;
	if (has_plan)
		dist_add(&r->lateness, shot->sent_ns - shot->planned_ns);
	if (!answer_is_ok(shot->status, (enum answer_error)shot->error) && shot->error != ANSWER_TIMEOUT)
		return;
	dist_add(&r->latency, shot->done_ns - from_ns);
	dist_add(&r->service, shot->done_ns - shot->sent_ns);
}

static void count_server(struct result *r, const struct shot *shot, const int64_t *server_ns)
{
	for (int k = 0; k < ANSWER_FIELDS; k++) {
		if (shot->server_have & (1u << k)) {
			r->server_n[k]++;
			r->server_sum_ns[k] += (double)server_ns[k];
		}
	}
}

void result_count(struct result *r, const struct shots *shots)
{
	size_t n = shots_count(shots);
	for (size_t i = 0; i < n; i++) {
		const struct shot *shot = shots_at(shots, i);
		count_outcome(r, shot);
		count_times(r, shot);
		if (shot->server_have)
			count_server(r, shot, shots_server(shots, i));
		if (shot->blocked) {
			r->blocked++;
			/* one that was never sent has waited for as long as we were ready to */
			r->blocked_late += shot->sent_ns == ANSWER_ABSENT ||
					   shot->sent_ns - shot->planned_ns > r->lateness_bound_ns;
		}
		if (shot->done_ns != ANSWER_ABSENT && shot->done_ns - r->start_mono_ns > r->elapsed_ns)
			r->elapsed_ns = shot->done_ns - r->start_mono_ns;
	}
	dist_seal(&r->latency);
	dist_seal(&r->service);
	dist_seal(&r->lateness);
}

void result_judge(struct result *r)
{
	char is[UNITS_TEXT_SIZE];
	char bound[UNITS_TEXT_SIZE];
	int64_t p99_ns = dist_percentile(&r->lateness, STATS_P99);
	if (!r->open_loop || !r->valid)
		return;
	r->valid = false;
	units_format_duration(p99_ns, is);
	units_format_duration(r->lateness_bound_ns, bound);
	if (r->interrupted_by)
		snprintf(r->invalid_reason, RESULT_REASON_SIZE, "interrupted: %llu of %llu planned requests were sent",
			 (unsigned long long)r->sent, (unsigned long long)r->planned);
	else if (r->blocked_late > 0)
		snprintf(
			r->invalid_reason, RESULT_REASON_SIZE,
			"%llu requests waited longer than %s for one of %llu connections: more --connections are needed",
			(unsigned long long)r->blocked_late, bound, (unsigned long long)r->connections);
	else if (r->sent < r->planned)
		snprintf(r->invalid_reason, RESULT_REASON_SIZE, "%llu of %llu planned requests were not sent",
			 (unsigned long long)(r->planned - r->sent), (unsigned long long)r->planned);
	else if (p99_ns > r->lateness_bound_ns)
		snprintf(r->invalid_reason, RESULT_REASON_SIZE, "the sender was late: lateness p99 %s is above %s", is,
			 bound);
	else
		r->valid = true;
}

double result_rate(const struct result *r)
{
	return r->duration_ns > 0 ? (double)r->sent * 1e9 / (double)r->duration_ns : 0;
}

double result_target_cpus(const struct result *r)
{
	if (r->server_n[ANSWER_CPU] == 0 || r->duration_ns <= 0)
		return -1;
	return r->server_sum_ns[ANSWER_CPU] / (double)r->duration_ns;
}
