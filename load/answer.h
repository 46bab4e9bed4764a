/* answer.h - what became of one request, as the transport saw it.
 *
 * Instants are CLOCK_MONOTONIC ns. What did not happen is ANSWER_ABSENT, never 0.
 */
#ifndef HEADROOM_ANSWER_H
#define HEADROOM_ANSWER_H

#include "base.h"

#define ANSWER_ABSENT INT64_C(-1)

/* Why there is no whole answer. A status other than 2xx is an answer, not an error. */
enum answer_error {
	ANSWER_WHOLE = 0,   /* none: the answer came whole */
	ANSWER_REFUSED,     /* nothing listens there */
	ANSWER_UNREACHABLE, /* no connection for another reason */
	ANSWER_DNS,         /* the name does not resolve */
	ANSWER_TIMEOUT,     /* not whole within --timeout */
	ANSWER_CUT_SHORT,   /* closed before the announced length */
	ANSWER_CLOSED,      /* closed without a byte */
	ANSWER_RESET,       /* the connection broke while sending or receiving */
	ANSWER_CERTIFICATE, /* the certificate does not verify */
	ANSWER_TLS,         /* any other failure of TLS */
	ANSWER_NOT_HTTP,    /* what came is no HTTP answer */
	ANSWER_NOT_SENT,    /* no connection became free within --timeout of its instant */
	ANSWER_INTERRUPTED, /* still unanswered, or not yet sent, when the run was interrupted */
	ANSWER_OTHER,
	ANSWER_ERRORS, /* how many there are */
};

/* One word for CSV and JSON: "refused", "cut_short"; "" for ANSWER_WHOLE. */
const char *answer_error_name(enum answer_error error);

/* The error of that name; ANSWER_ERRORS when there is none. */
enum answer_error answer_error_by_name(const char *name);

/* What the server may say about the request in its headers, in the order of the CSV columns. */
enum answer_field {
	ANSWER_QUEUE,
	ANSWER_CPU,
	ANSWER_RUNQUEUE_WAIT,
	ANSWER_WAIT,
	ANSWER_ARRIVED,
	ANSWER_STARTED,
	ANSWER_ENDED,
	ANSWER_DISK,
	ANSWER_POOL_WAIT,
	ANSWER_POOL_HOLD,
	ANSWER_REST,
	ANSWER_ARRIVAL_WAIT,
	ANSWER_DEQUEUED,
	ANSWER_FIELDS,
};

/* "Headroom-Queue-Ns" -> ANSWER_QUEUE, in any case; ANSWER_FIELDS when it is none of ours. Not NUL-terminated. */
enum answer_field answer_field_by_header(const char *name, size_t len);

/* Is it an instant (CLOCK_MONOTONIC of the server's host), not a duration? */
bool answer_field_is_instant(enum answer_field field);

/* The column of requests.csv: "server_queue_ns". */
const char *answer_field_column(enum answer_field field);

struct answer {
	int64_t sent_ns;                  /* handed to the connection; when one had to be opened first, before that */
	int64_t first_byte_ns;            /* of the status line */
	int64_t done_ns;                  /* last byte of the body; for errors, when that was known */
	int64_t bytes;                    /* of the body */
	int64_t server_ns[ANSWER_FIELDS]; /* where server_have has the bit */
	uint16_t server_have;             /* 1 << field */
	uint16_t status;                  /* 0 = none came */
	uint16_t connects;                /* connections that were opened for it */
	enum answer_error error;
};

/* One header line as it came, its end included; not NUL-terminated. A figure of ours is taken into server_ns; anything
 * else changes nothing. Pure. */
void answer_take_header(struct answer *a, const char *line, size_t len);

static inline bool answer_is_ok(uint16_t status, enum answer_error error)
{
	return error == ANSWER_WHOLE && status >= 200 && status <= 299;
}

#endif
