#include "parts.h"

const char *part_key(enum part p)
{
	static const char *const keys[PARTS] = {
		[PART_LATENESS] = "lateness_ms",       [PART_NETWORK] = "network_ms", [PART_QUEUE] = "queue_ms",
		[PART_QUEUE_QUOTA] = "queue_quota_ms", [PART_RUNNING] = "running_ms", [PART_QUOTA] = "quota_ms",
		[PART_CONTENTION] = "contention_ms",   [PART_WAIT] = "wait_ms",
	};
	return keys[p];
}

static int64_t or_zero(int64_t ns)
{
	return ns == REQUEST_ABSENT ? 0 : ns;
}

static int64_t least(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

bool parts_of(const struct request *r, const struct ticks *ticks, int64_t ns[PARTS])
{
	if (!request_ok(r) || r->sent_ns == REQUEST_ABSENT || r->arrived_ns == REQUEST_ABSENT ||
	    r->ended_ns == REQUEST_ABSENT || r->queue_ns == REQUEST_ABSENT || r->cpu_ns == REQUEST_ABSENT ||
	    r->runqueue_wait_ns == REQUEST_ABSENT)
		return false;
	/* a thread that waited for a CPU before the request was sent did not wait for it */
	int64_t early_ns = r->arrived_ns < r->sent_ns ? r->sent_ns - r->arrived_ns : 0;
	int64_t cpu_wait_ns = r->runqueue_wait_ns - least(early_ns, r->runqueue_wait_ns);
	/* the turn of a request begins when it leaves the queue */
	int64_t turn_ns = r->arrived_ns + early_ns + r->queue_ns;
	int64_t queue_throttled_ns = ticks_throttled_within(ticks, turn_ns - r->queue_ns, turn_ns);
	int64_t turn_throttled_ns = ticks_throttled_within(ticks, turn_ns, r->ended_ns);
	ns[PART_LATENESS] = r->sent_ns - r->planned_ns;
	ns[PART_QUEUE_QUOTA] = least(queue_throttled_ns, r->queue_ns);
	ns[PART_QUEUE] = r->queue_ns - ns[PART_QUEUE_QUOTA];
	ns[PART_RUNNING] = r->cpu_ns;
	ns[PART_QUOTA] = least(turn_throttled_ns, cpu_wait_ns);
	ns[PART_CONTENTION] = cpu_wait_ns - ns[PART_QUOTA];
	ns[PART_WAIT] = or_zero(r->wait_ns) + or_zero(r->disk_ns) + or_zero(r->pool_wait_ns);
	int64_t known_ns = 0;
	ns[PART_NETWORK] = 0;
	for (int p = 0; p < PARTS; p++)
		known_ns += ns[p];
	ns[PART_NETWORK] = request_latency_ns(r) - known_ns;
	return true;
}
