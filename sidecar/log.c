#include "log.h"

#include "clock.h"

#include <errno.h>
#include <poll.h>
#include <stdarg.h>
#include <string.h>

/* time, level and message as each collector wants them. */
static const struct {
	const char *time, *level, *msg;
	const char *levels[3];
} key_sets[] = {
	[LOG_KEYS_DEFAULT] = {"time", "level", "msg", {"info", "warn", "error"}},
	[LOG_KEYS_GCP] = {"time", "severity", "message", {"INFO", "WARNING", "ERROR"}},
	[LOG_KEYS_ECS] = {"@timestamp", "log.level", "message", {"info", "warn", "error"}},
};

json_value *log_line(const struct log *log, enum log_level level, const char *event, const char *msg, ...)
{
	char time_text[CLOCK_RFC3339_SIZE];
	char sentence[1024];
	va_list args;
	va_start(args, msg);
	vsnprintf(sentence, sizeof sentence, msg, args);
	va_end(args);
	clock_rfc3339(clock_wall_ns(), time_text);
	json_value *line = json_new_object();
	json_set_text(line, key_sets[log->keys].time, time_text);
	json_set_text(line, key_sets[log->keys].level, key_sets[log->keys].levels[level]);
	json_set_text(line, key_sets[log->keys].msg, sentence);
	json_set_text(line, "event", event);
	return line;
}

/* Ready means: for a pipe, room for PIPE_BUF bytes at once; for a file, always. */
static bool can_take(int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLOUT};
	return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT) && !(p.revents & (POLLERR | POLLHUP));
}

static bool write_line(int fd, const char *text, size_t len)
{
	/* A longer line could block in the middle; the largest event is well below. */
	enum { LINE_MAX_BYTES = 4096 };
	if (len > LINE_MAX_BYTES || !can_take(fd))
		return false;
	ssize_t n;
	while ((n = write(fd, text, len)) < 0 && errno == EINTR)
		continue;
	return n == (ssize_t)len;
}

static char *as_text(const struct log *log, const json_value *line, size_t *len)
{
	char *text = NULL;
	const char *level = json_get_text(line, key_sets[log->keys].level);
	int n = asprintf(&text, "%s %-5s %s\n", json_get_text(line, key_sets[log->keys].time), level ? level : "",
			 json_get_text(line, key_sets[log->keys].msg));
	*len = n < 0 ? 0 : (size_t)n;
	return n < 0 ? NULL : text;
}

static char *as_json(const json_value *line, size_t *len)
{
	char *text = json_text(line, len);
	char *longer = text ? realloc(text, *len + 2) : NULL;
	if (!longer) {
		free(text);
		return NULL;
	}
	memcpy(longer + *len, "\n", 2);
	(*len)++;
	return longer;
}

void log_emit(struct log *log, json_value *line)
{
	size_t len = 0;
	CLEANUP_FREE char *text = log->text ? as_text(log, line, &len) : as_json(line, &len);
	if (text && write_line(log->fd, text, len))
		log->written++;
	else
		log->dropped++;
	json_release(line);
}
