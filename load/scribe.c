#include "scribe.h"

#include "clock.h"
#include "stats.h"
#include "units.h"

#include <errno.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <time.h>

enum { BUFFER = 256 * 1024, LIVE_SUB_BITS = 7 };

#define PERIOD_NS  (250 * NSEC_PER_MSEC)
#define HIGHEST_NS (3600 * NSEC_PER_SEC)

bool scribe_wants_live_line(void)
{
	const char *term = getenv("TERM");
	return isatty(STDERR_FILENO) && !(term && strcmp(term, "dumb") == 0);
}

static void flush(struct scribe *s)
{
	for (size_t done = 0; done < s->buffered && s->write_error == 0;) {
		ssize_t n = write(s->csv_fd, s->buffer + done, s->buffered - done);
		if (n > 0)
			done += (size_t)n;
		else if (errno != EINTR)
			s->write_error = n < 0 ? errno : EIO;
	}
	s->buffered = 0;
}

static void append(struct scribe *s, size_t i, const struct shot *shot)
{
	if (s->buffered + CSV_SHOT_SIZE > BUFFER)
		flush(s);
	s->buffered += csv_shot(s->buffer + s->buffered, s->first_seq + i, shot, shots_server(s->shots, i), &s->run);
}

static void count(struct scribe *s, const struct shot *shot)
{
	int64_t from_ns = shot->planned_ns != ANSWER_ABSENT ? shot->planned_ns : shot->sent_ns;
	if (shot->sent_ns == ANSWER_ABSENT)
		return;
	if (shot->planned_ns != ANSWER_ABSENT)
		histogram_record(&s->lateness, shot->sent_ns - shot->planned_ns);
	if (answer_is_ok(shot->status, (enum answer_error)shot->error)) {
		s->ok++;
		histogram_record(&s->latency, shot->done_ns - from_ns);
	}
}

static void walk(struct scribe *s)
{
	size_t n = shots_count(s->shots);
	for (; s->walked < n; s->walked++) {
		const struct shot *shot = shots_at(s->shots, s->walked);
		if (!shots_is_settled(shot))
			break;
		if (s->csv_fd >= 0 && s->write_error == 0)
			append(s, s->walked, shot);
		if (s->live)
			count(s, shot);
	}
	if (s->csv_fd >= 0)
		flush(s);
}

static void show(struct scribe *s)
{
	char p99[UNITS_TEXT_SIZE];
	char late[UNITS_TEXT_SIZE];
	char of[32] = "";
	int64_t passed_ns = clock_mono_ns() - s->start_ns;
	if (passed_ns < 0)
		return;
	units_format_duration(histogram_percentile(&s->latency, STATS_P99), p99);
	units_format_duration(histogram_percentile(&s->lateness, STATS_P99), late);
	if (s->planned)
		snprintf(of, sizeof of, " of %llu", (unsigned long long)s->planned);
	fprintf(stderr, "\r%.1f s  sent %zu%s  ok %llu  p99 %s  ", (double)passed_ns / 1e9, shots_count(s->shots), of,
		(unsigned long long)s->ok, p99);
	if (s->planned)
		fprintf(stderr, "lateness p99 %s", late);
	fputs("\033[K", stderr);
	fflush(stderr);
}

static void *work(void *context)
{
	struct scribe *s = context;
	struct timespec at;
	/* of this thread only: Linux gives every thread a nice value of its own */
	setpriority(PRIO_PROCESS, (id_t)syscall(SYS_gettid), 19);
	clock_gettime(CLOCK_MONOTONIC, &at);
	pthread_mutex_lock(&s->lock);
	while (!s->stopping) {
		int64_t next_ns = (int64_t)at.tv_sec * NSEC_PER_SEC + at.tv_nsec + PERIOD_NS;
		at = (struct timespec){.tv_sec = next_ns / NSEC_PER_SEC, .tv_nsec = next_ns % NSEC_PER_SEC};
		while (!s->stopping && pthread_cond_timedwait(&s->wake, &s->lock, &at) == 0)
			;
		pthread_mutex_unlock(&s->lock);
		walk(s);
		if (s->live)
			show(s);
		pthread_mutex_lock(&s->lock);
	}
	pthread_mutex_unlock(&s->lock);
	return NULL;
}

static int start_thread(struct scribe *s)
{
	pthread_condattr_t attributes;
	pthread_mutex_init(&s->lock, NULL);
	pthread_condattr_init(&attributes);
	pthread_condattr_setclock(&attributes, CLOCK_MONOTONIC);
	pthread_cond_init(&s->wake, &attributes);
	pthread_condattr_destroy(&attributes);
	int rc = pthread_create(&s->thread, NULL, work, s);
	s->started = rc == 0;
	return -rc;
}

static void release(struct scribe *s)
{
	histogram_free(&s->latency);
	histogram_free(&s->lateness);
	free(s->buffer);
	s->buffer = NULL;
}

int scribe_start(struct scribe *s, struct fault *f)
{
	if (s->csv_fd < 0 && !s->live)
		return 0;
	s->buffer = malloc(BUFFER);
	int rc = s->buffer ? 0 : -ENOMEM;
	if (rc == 0)
		rc = histogram_init(&s->latency, LIVE_SUB_BITS, HIGHEST_NS, NULL);
	if (rc == 0)
		rc = histogram_init(&s->lateness, LIVE_SUB_BITS, HIGHEST_NS, NULL);
	if (rc == 0)
		rc = start_thread(s);
	if (rc == 0)
		return 0;
	release(s);
	return fault_set(f, -rc, "cannot start the thread that writes the records");
}

int scribe_stop(struct scribe *s)
{
	if (!s->started)
		return 0;
	pthread_mutex_lock(&s->lock);
	s->stopping = true;
	pthread_cond_signal(&s->wake);
	pthread_mutex_unlock(&s->lock);
	pthread_join(s->thread, NULL);
	pthread_cond_destroy(&s->wake);
	pthread_mutex_destroy(&s->lock);
	s->started = false;
	walk(s);
	if (s->live)
		fputs("\r\033[K", stderr);
	release(s);
	return -s->write_error;
}
