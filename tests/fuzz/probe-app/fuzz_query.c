/* fuzz_query.c - what a request and a command line ask of the probe: the query of /work, --pool, --listen, --workers.
 * seeds:
 */
#include "../fuzz.h"
#include "probe-app/config.h"
#include "probe-app/listen.h"
#include "probe-app/query.h"

#include <arpa/inet.h>

static const struct pool_spec pools[] = {{"db", 5, 20 * NSEC_PER_MSEC}, {"cache-1", 1, 0}};

static int hex(char c)
{
	return c >= '0' && c <= '9' ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* Percent signs and plus signs turned back, in place, as the HTTP library does; the new length. */
static size_t decode(char *text, size_t len)
{
	size_t n = 0;
	for (size_t i = 0; i < len; i++) {
		bool escaped = text[i] == '%' && i + 2 < len && hex(text[i + 1]) >= 0 && hex(text[i + 2]) >= 0;
		text[n++] = (char)(escaped ? hex(text[i + 1]) << 4 | hex(text[i + 2]) : text[i] == '+' ? ' ' : text[i]);
		i += escaped ? 2 : 0;
	}
	return n;
}

/* One "key=value" of exactly that size. */
static int take_parameter(struct query *q, const char *text, size_t len, struct fault *f)
{
	const char *equals = memchr(text, '=', len);
	size_t key_len = equals ? (size_t)(equals - text) : len;
	size_t value_len = equals ? len - key_len - 1 : 0;
	CLEANUP_FREE char *key = fuzz_copy(text, key_len);
	CLEANUP_FREE char *value = fuzz_copy(equals ? equals + 1 : text, value_len);
	key_len = decode(key, key_len);
	value_len = decode(value, value_len);
	return query_take(q, key, key_len, equals ? value : NULL, value_len, f);
}

static void check_query(const char *text, double rounds_per_ms)
{
	const struct unit defaults = {.rounds = 4000, .pool = UNIT_NO_POOL};
	const struct query_context context = {&defaults, rounds_per_ms, pools, ARRAY_LEN(pools)};
	struct query q;
	int rc = 0;
	query_begin(&q, &context);
	while (rc == 0 && *text) {
		struct fault f = {0};
		size_t len = strcspn(text, "&");
		rc = take_parameter(&q, text, len, &f);
		fuzz_check_fault(rc, &f);
		FUZZ_HOLDS(rc == 0 || rc == -EINVAL);
		text += len + (text[len] == '&');
	}
	if (rc < 0)
		return;
	FUZZ_HOLDS(q.unit.rounds <= QUERY_ROUNDS_MAX && q.unit.disk_kb <= QUERY_DISK_KB_MAX);
	FUZZ_HOLDS(q.unit.wait_ns >= 0 && (double)q.unit.wait_ns <= QUERY_WAIT_MS_MAX * 1e6);
	FUZZ_HOLDS(q.unit.pool == UNIT_NO_POOL || (size_t)q.unit.pool < ARRAY_LEN(pools));
}

static void check_pool(const char *text)
{
	struct fault f = {0};
	struct pool_spec pool;
	int rc = config_parse_pool(text, &pool, &f);
	fuzz_check_fault(rc, &f);
	if (rc == 0)
		FUZZ_HOLDS(pool.units >= 1 && pool.hold_ns >= 0 && strlen(pool.name) >= 1 &&
			   strncmp(pool.name, text, strlen(pool.name)) == 0);
}

static void check_listen(const char *text)
{
	struct fault f = {0};
	struct listen_address a;
	int rc = listen_parse(text, &a, &f);
	fuzz_check_fault(rc, &f);
	if (rc < 0)
		return;
	char host[INET6_ADDRSTRLEN];
	char written[INET6_ADDRSTRLEN + 16];
	struct listen_address again;
	bool v6 = a.u.any.sa_family == AF_INET6;
	FUZZ_HOLDS(v6 || a.u.any.sa_family == AF_INET);
	FUZZ_HOLDS(inet_ntop(a.u.any.sa_family, v6 ? (void *)&a.u.v6.sin6_addr : (void *)&a.u.v4.sin_addr, host,
			     sizeof host));
	snprintf(written, sizeof written, v6 ? "[%s]:%u" : "%s:%u", host,
		 ntohs(v6 ? a.u.v6.sin6_port : a.u.v4.sin_port));
	FUZZ_HOLDS(listen_parse(written, &again, NULL) == 0);
	FUZZ_HOLDS(a.len == again.len && memcmp(&a.u, &again.u, a.len) == 0);
}

static void check_workers(const char *text)
{
	struct fault f = {0};
	uint32_t workers = 0;
	/* these two ask the kernel */
	if (strcmp(text, "nproc") == 0 || strcmp(text, "quota") == 0)
		return;
	int rc = config_parse_workers(text, &workers, &f);
	fuzz_check_fault(rc, &f);
	FUZZ_HOLDS(rc < 0 || (workers >= 1 && workers <= GATE_SLOTS_MAX));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	CLEANUP_FREE char *text = fuzz_text(data, size);
	check_query(text, 1250.5);
	check_query(text, 0);
	check_pool(text);
	check_listen(text);
	check_workers(text);
	return 0;
}
