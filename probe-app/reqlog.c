#include "reqlog.h"

#include <errno.h>
#include <string.h>

int reqlog_init(struct reqlog *log, uint64_t size, struct fault *f)
{
	*log = (struct reqlog){.lock = PTHREAD_MUTEX_INITIALIZER, .size = size};
	log->ring = calloc(size, sizeof *log->ring);
	return log->ring ? 0 : fault_set(f, ENOMEM, "a log of %llu requests", (unsigned long long)size);
}

void reqlog_destroy(struct reqlog *log)
{
	free(log->ring);
	log->ring = NULL;
	pthread_mutex_destroy(&log->lock);
}

void reqlog_add(struct reqlog *log, struct record *r)
{
	pthread_mutex_lock(&log->lock);
	r->seq = (int64_t)++log->count;
	log->ring[(log->count - 1) % log->size] = *r;
	pthread_mutex_unlock(&log->lock);
}

bool reqlog_get(struct reqlog *log, uint64_t seq, struct record *out)
{
	bool found = false;
	pthread_mutex_lock(&log->lock);
	uint64_t oldest = log->count > log->size ? log->count - log->size + 1 : 1;
	if (seq < oldest)
		seq = oldest;
	if (seq <= log->count) {
		*out = log->ring[(seq - 1) % log->size];
		found = true;
	}
	pthread_mutex_unlock(&log->lock);
	return found;
}

size_t reqlog_csv(struct reqlog *log, uint64_t *seq, uint64_t last, char *out, size_t size)
{
	char row[RECORD_TEXT_SIZE];
	struct record r;
	size_t used = 0;
	if (*seq == 0) {
		used = record_csv_header(out);
		*seq = 1;
	}
	while (*seq <= last && reqlog_get(log, *seq, &r) && (uint64_t)r.seq <= last) {
		size_t n = record_csv_row(&r, row);
		if (used + n > size)
			break;
		memcpy(out + used, row, n);
		used += n;
		*seq = (uint64_t)r.seq + 1;
	}
	return used;
}

uint64_t reqlog_newest(struct reqlog *log)
{
	pthread_mutex_lock(&log->lock);
	uint64_t newest = log->count;
	pthread_mutex_unlock(&log->lock);
	return newest;
}
