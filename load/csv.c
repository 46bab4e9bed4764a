#include "csv.h"

#include <string.h>

const char *csv_shot_head(void)
{
	static char head[512];
	if (head[0])
		return head;
	size_t n =
		(size_t)snprintf(head, sizeof head, "seq,planned_ns,sent_ns,first_byte_ns,done_ns,status,bytes,error");
	for (int i = 0; i < ANSWER_FIELDS; i++)
		n += (size_t)snprintf(head + n, sizeof head - n, ",%s", answer_field_column((enum answer_field)i));
	snprintf(head + n, sizeof head - n, ",blocked,on_time,threads\n");
	return head;
}

/* By hand: a schedule of 20,000 a second spends its spare time here, and snprintf takes ten times as long. */
static char *put_number(char *w, int64_t value)
{
	char digits[20];
	int n = 0;
	uint64_t rest = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
	do {
		digits[n++] = (char)('0' + rest % 10);
		rest /= 10;
	} while (rest);
	if (value < 0)
		*w++ = '-';
	while (n > 0)
		*w++ = digits[--n];
	return w;
}

static char *put_if(char *w, bool there, int64_t value)
{
	*w++ = ',';
	return there ? put_number(w, value) : w;
}

static char *put_instant(char *w, int64_t ns)
{
	return put_if(w, ns != ANSWER_ABSENT, ns);
}

size_t csv_shot(char out[CSV_SHOT_SIZE], size_t seq, const struct shot *shot, const int64_t *server_ns,
		const struct csv_run *run)
{
	char *w = put_number(out, (int64_t)seq);
	w = put_instant(w, shot->planned_ns);
	w = put_instant(w, shot->sent_ns);
	w = put_instant(w, shot->first_byte_ns);
	w = put_instant(w, shot->done_ns);
	w = put_if(w, shot->status != 0, shot->status);
	w = put_if(w, shot->first_byte_ns != ANSWER_ABSENT, shot->bytes);
	*w++ = ',';
	w = stpcpy(w, answer_error_name((enum answer_error)shot->error));
	for (int i = 0; i < ANSWER_FIELDS; i++) {
		bool there = shot->server_have & (1u << i);
		w = put_if(w, there, there ? server_ns[i] : 0);
	}
	w = put_if(w, true, shot->blocked);
	bool sent = shot->sent_ns != ANSWER_ABSENT;
	w = put_if(w, shot->planned_ns != ANSWER_ABSENT,
		   sent && shot->sent_ns - shot->planned_ns <= run->lateness_bound_ns);
	w = put_if(w, run->threads > 0, (int64_t)run->threads);
	*w++ = '\n';
	*w = '\0';
	return (size_t)(w - out);
}

void csv_field(FILE *out, const char *text)
{
	if (!strpbrk(text, ",\"\r\n")) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (const char *c = text; *c; c++) {
		if (*c == '"')
			fputc('"', out);
		fputc(*c, out);
	}
	fputc('"', out);
}
