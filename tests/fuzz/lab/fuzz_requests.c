/* fuzz_requests.c - requests.csv, as the lab reads it, and what each request waited for.
 * seeds:
 */
#include "../fuzz.h"
#include "lab/parts.h"
#include "lab/requests.h"

enum { COLUMNS = 14 };

/* In the order of struct request. */
static char *write_requests(const struct requests *r)
{
	char *text = NULL;
	size_t len = 0;
	FILE *out = open_memstream(&text, &len);
	FUZZ_HOLDS(out);
	fputs("planned_ns,sent_ns,first_byte_ns,done_ns,status,server_arrived_ns,server_started_ns,server_ended_ns,"
	      "server_queue_ns,server_cpu_ns,server_runqueue_wait_ns,server_wait_ns,server_disk_ns,server_pool_wait_ns,"
	      "error\n",
	      out);
	for (size_t i = 0; i < r->n; i++) {
		const struct request *q = &r->list[i];
		const int64_t fields[COLUMNS] = {q->planned_ns, q->sent_ns,     q->first_byte_ns,    q->done_ns,
						 q->status,     q->arrived_ns,  q->started_ns,       q->ended_ns,
						 q->queue_ns,   q->cpu_ns,      q->runqueue_wait_ns, q->wait_ns,
						 q->disk_ns,    q->pool_wait_ns};
		for (size_t k = 0; k < COLUMNS; k++) {
			if (fields[k] != REQUEST_ABSENT)
				fprintf(out, "%lld", (long long)fields[k]);
			fputc(',', out);
		}
		fputs(q->failed ? "\"a \"\"b\"\", c\"\n" : "\n", out);
	}
	fclose(out);
	return text;
}

static void check_parts(const struct request *r)
{
	struct tick list[] = {
		{.at = {.mono_ns = 100}, .is_tick = true},
		{.at = {.mono_ns = 100000100, .throttled_usec = 70000}, .is_tick = true, .throttled_more_usec = 70000},
	};
	const struct ticks ticks = {.list = list, .n = ARRAY_LEN(list)};
	int64_t ns[PARTS];
	if (!parts_of(r, &ticks, ns))
		return;
	int64_t sum_ns = 0;
	for (int p = 0; p < PARTS; p++)
		sum_ns += ns[p];
	FUZZ_HOLDS(sum_ns == request_latency_ns(r));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = fuzz_text(data, size);
	struct fault f = {0};
	struct requests requests;
	struct requests again;
	int rc = requests_parse(text, &requests, &f);
	fuzz_check_fault(rc, &f);
	if (rc < 0)
		return 0;
	for (size_t i = 0; i < requests.n; i++) {
		const struct request *r = &requests.list[i];
		FUZZ_HOLDS(r->planned_ns >= 0 && r->sent_ns >= REQUEST_ABSENT && r->done_ns >= REQUEST_ABSENT);
		FUZZ_HOLDS(!request_ok(r) || (r->status >= 200 && r->status <= 299));
		check_parts(r);
	}
	CLEANUP_FREE char *written = write_requests(&requests);
	FUZZ_HOLDS(requests_parse(written, &again, NULL) == 0 && again.n == requests.n);
	FUZZ_HOLDS(memcmp(again.list, requests.list, requests.n * sizeof *again.list) == 0);
	requests_release(&requests);
	requests_release(&again);
	return 0;
}
