#include "shots.h"

#include <errno.h>
#include <string.h>

struct shots_chunk {
	struct shot shot[SHOTS_CHUNK];
	int64_t server_ns[SHOTS_CHUNK][ANSWER_FIELDS]; /* calloc: no memory behind it until it is written */
};

static int add_chunk(struct shots *s)
{
	size_t k = s->room / SHOTS_CHUNK;
	if (k == SHOTS_CHUNKS_MAX)
		return -ERANGE;
	s->chunks[k] = calloc(1, sizeof *s->chunks[k]);
	if (!s->chunks[k])
		return -ENOMEM;
	/* a value other than 0 in every page: calloc's zero page would be replaced at the first write, in the run */
	for (size_t i = 0; i < SHOTS_CHUNK; i++)
		s->chunks[k]->shot[i].planned_ns = ANSWER_ABSENT;
	s->room += SHOTS_CHUNK;
	return 0;
}

int shots_init(struct shots *s, size_t reserve, struct fault *f)
{
	memset(s, 0, sizeof *s);
	while (s->room < reserve) {
		int rc = add_chunk(s);
		if (rc < 0)
			return fault_set(f, -rc, "no room for the records of %zu requests", reserve);
	}
	return 0;
}

void shots_free(struct shots *s)
{
	for (size_t k = 0; k < s->room / SHOTS_CHUNK; k++)
		free(s->chunks[k]);
	memset(s, 0, sizeof *s);
}

void shots_clear(struct shots *s)
{
	atomic_store(&s->n, 0);
}

struct shot *shots_at(const struct shots *s, size_t i)
{
	return &s->chunks[i / SHOTS_CHUNK]->shot[i % SHOTS_CHUNK];
}

int64_t *shots_server(const struct shots *s, size_t i)
{
	return s->chunks[i / SHOTS_CHUNK]->server_ns[i % SHOTS_CHUNK];
}

struct shot *shots_begin(struct shots *s, int64_t planned_ns)
{
	size_t n = atomic_load_explicit(&s->n, memory_order_relaxed);
	if (n == s->room && add_chunk(s) < 0)
		return NULL;
	struct shot *shot = shots_at(s, n);
	*shot = (struct shot){
		.planned_ns = planned_ns,
		.sent_ns = ANSWER_ABSENT,
		.first_byte_ns = ANSWER_ABSENT,
		.done_ns = ANSWER_ABSENT,
	};
	atomic_store_explicit(&s->n, n + 1, memory_order_release);
	return shot;
}

void shots_settle(struct shots *s, size_t i, const struct answer *a)
{
	struct shot *shot = shots_at(s, i);
	shot->sent_ns = a->sent_ns;
	shot->first_byte_ns = a->first_byte_ns;
	shot->done_ns = a->done_ns;
	shot->bytes = a->bytes;
	shot->status = a->status;
	shot->error = (uint8_t)a->error;
	shot->server_have = a->server_have;
	if (a->server_have)
		memcpy(shots_server(s, i), a->server_ns, sizeof a->server_ns);
	atomic_store_explicit(&shot->settled, true, memory_order_release);
}
