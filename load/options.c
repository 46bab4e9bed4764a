#include "options.h"

#include "gate.h"
#include "units.h"
#include "when.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

const char *const load_pattern_names[] = {"paced", "burst", "poisson", "ramp", "closed", "file", NULL};
static const char *const output_names[] = {"table", "json", "csv", NULL};
static const char *const within_second_names[] = {"spread", "together", NULL};
static const char *const priority_names[] = {"auto", "on", "off", NULL};

static const char examples[] =
	"  headroom-load http://localhost:8080/work                           20/s, evenly, for 20 s\n"
	"  headroom-load http://localhost:8080/work --pattern burst           the same rate, 8 at once every 400 ms\n"
	"  headroom-load URL --rate 1000/s --duration 1m --fail-on 'p99>50ms'\n"
	"  headroom-load URL --pattern closed --threads 2,5,10\n"
	"  headroom-load URL --pattern file --file access.log --speed 2\n"
	"  headroom-load merge shard-0.json shard-1.json\n";

static const char notes[] =
	"Patterns other than closed are an open loop: the instants are fixed before the run, no answer delays a send, and times\n"
	"count from the planned instant. A request for which no connection is free waits for one and is counted as blocked.\n"
	"The run is invalid when the p99 of the lateness is above --lateness-bound, when a request waited longer than that for\n"
	"a connection, or when one was never sent.\n"
	"\n"
	"Exit status: 0 done (failed requests are a result: see --fail-on), 1 the run is invalid, or nothing was answered well,\n"
	"or a file could not be written, 2 usage, 3 a --fail-on condition holds, 128 + n ended by signal n (partial report).\n";

static void make_table(struct load_options *o, struct opt table[48])
{
	const struct opt rows[] = {
		{"pattern", 'p', OPT_CHOICE, &o->pattern, "NAME",
		 "paced (default), burst, poisson, ramp, closed or file", load_pattern_names, 0, 0, NULL},
		{"interval", 'i', OPT_DURATION, &o->interval_ns, "TIME", "paced: between two requests (default 50ms)",
		 NULL, 1, 0, &o->interval_given},
		{"rate", 'r', OPT_RATE, &o->rate, "RATE",
		 "requests per second, instead of --interval or --every (default 20/s)", NULL, 0, 0, &o->rate_given},
		{"burst", 'b', OPT_U64, &o->burst, "N", "burst: requests at once (default 8)", NULL, 1, 1000000, NULL},
		{"every", 'e', OPT_DURATION, &o->every_ns, "TIME", "burst: between two bursts (default 400ms)", NULL, 1,
		 0, &o->every_given},
		{"ramp-to", 0, OPT_RATE, &o->ramp_to, "RATE", "ramp: the rate at the end (--rate: at the beginning)",
		 NULL, 0, 0, &o->ramp_to_given},
		{"duration", 't', OPT_DURATION, &o->duration_ns, "TIME",
		 "of the schedule (default 20s; file: all of it)", NULL, 1, 0, &o->duration_given},
		{"connections", 'c', OPT_U64, &o->connections, "N",
		 "at most N requests in flight (default: what the schedule sends in 2 s, 8 to 900)", NULL, 1, 60000,
		 &o->connections_given},
		{"seed", 0, OPT_U64, &o->seed, "N", "poisson: the same seed gives the same schedule (default 1)", NULL,
		 0, 0, NULL},
		{"threads", 0, OPT_TEXT, &o->threads_text, "N,N,...",
		 "closed: users that each send the next request when they have an answer; several: one run each", NULL,
		 0, 0, NULL},
		{"file", 'f', OPT_TEXT, &o->file, "FILE",
		 "file: seconds in one column, an access log, or JSON lines with a time field; - is stdin", NULL, 0, 0,
		 NULL},
		{"time-field", 0, OPT_TEXT, &o->time_field, "KEY",
		 "file: the key of the time in JSON lines (default: time, timestamp, ts, @timestamp)", NULL, 0, 0,
		 NULL},
		{"speed", 0, OPT_DECIMAL, &o->speed, "X", "file: replay X times as fast (default 1)", NULL, 0, 0, NULL},
		{"within-second", 0, OPT_CHOICE, &o->within_second, "HOW",
		 "file: requests that an access log puts into one second: spread (default) evenly, or together",
		 within_second_names, 0, 0, NULL},
		{"shard", 0, OPT_TEXT, &o->shard_text, "I/N", "send share I (from 0) of N of the schedule", NULL, 0, 0,
		 NULL},
		{"start-at", 0, OPT_TEXT, &o->start_at_text, "TIME",
		 "first instant, by the wall clock: RFC 3339 or seconds since 1970", NULL, 0, 0, NULL},
		{"start-mono-ns", 0, OPT_U64, &o->start_mono_ns, "NS", "first instant, by CLOCK_MONOTONIC of this host",
		 NULL, 0, INT64_MAX, &o->start_mono_given},
		{"requests", 0, OPT_TEXT, &o->requests_file, "FILE", "one CSV line for every request", NULL, 0, 0,
		 NULL},
		{"hgrm", 0, OPT_TEXT, &o->hgrm_file, "FILE", "percentile distribution for HdrHistogram's plotter", NULL,
		 0, 0, NULL},
		{"output", 'o', OPT_CHOICE, &o->output, "FORM", "table (default), json or csv on stdout", output_names,
		 0, 0, NULL},
		{"fail-on", 0, OPT_LIST, &o->fail_on, "COND",
		 "exit 3 when it holds: 'p99>50ms', 'failed>1%', 'rate<990/s', ...; several by comma or repetition",
		 NULL, 0, 0, NULL},
		{"lateness-bound", 0, OPT_DURATION, &o->lateness_bound_ns, "TIME",
		 "the run is invalid when its sends are later at p99 (default 5ms)", NULL, 0, 0, NULL},
		{"timeout", 0, OPT_DURATION, &o->timeout_ns, "TIME", "from a send to the last byte (default 30s)", NULL,
		 (uint64_t)NSEC_PER_MSEC, (uint64_t)(24 * 3600 * NSEC_PER_SEC), NULL},
		{"warmup", 0, OPT_U64, &o->warmup, "N",
		 "requests before the first instant, not recorded; they open connections (default: one for each of --connections)",
		 NULL, 0, 0, &o->warmup_given},
		{"warmup-url", 0, OPT_TEXT, &o->warmup_url, "URL", "where the warm-up requests go (default: URL)", NULL,
		 0, 0, NULL},
		{"header", 'H', OPT_LIST, &o->headers, "LINE", "a header of every request, 'Name: value'; repeatable",
		 NULL, 0, 0, NULL},
		{"method", 'X', OPT_TEXT, &o->method, "NAME", "GET, or POST when there is --data", NULL, 0, 0, NULL},
		{"data", 'd', OPT_TEXT, &o->data, "TEXT", "the body of every request; @FILE reads it from a file", NULL,
		 0, 0, NULL},
		{"http2", 0, OPT_FLAG, &o->http2, NULL,
		 "HTTP/2 over one connection (assumed on http://, offered on https://)", NULL, 0, 0, NULL},
		{"insecure", 'k', OPT_FLAG, &o->insecure, NULL, "accept any certificate", NULL, 0, 0, NULL},
		{"cacert", 0, OPT_TEXT, &o->cacert, "FILE", "trust these certificates (PEM)", NULL, 0, 0, NULL},
		{"proxy", 0, OPT_TEXT, &o->proxy, "URL", "through this proxy (those of the environment are not used)",
		 NULL, 0, 0, NULL},
		{"spin", 0, OPT_DURATION, &o->spin_ns, "TIME",
		 "stay awake that long before an instant (default: 100us, less for short gaps, 0 above 2000/s)", NULL,
		 0, (uint64_t)NSEC_PER_SEC, &o->spin_given},
		{"realtime", 0, OPT_CHOICE, &o->priority, "WHEN",
		 "real-time priority: auto (default: for schedules, if permitted), on, off", priority_names, 0, 0,
		 NULL},
		{"keep-samples", 0, OPT_U64, &o->keep_samples, "N",
		 "JSON carries all samples up to this many (default 20000)", NULL, 0, 0, NULL},
		{0},
	};
	_Static_assert(sizeof rows <= 48 * sizeof *table, "make room for more options");
	memcpy(table, rows, sizeof rows);
}

static void set_defaults(struct load_options *o)
{
	*o = (struct load_options){
		.interval_ns = 50 * NSEC_PER_MSEC,
		.every_ns = 400 * NSEC_PER_MSEC,
		.duration_ns = 20 * NSEC_PER_SEC,
		.burst = 8,
		.rate = 20,
		.seed = 1,
		.connections = 8, /* closed loop; see measure_connections() for the others */
		.speed = 1,
		.lateness_bound_ns = 5 * NSEC_PER_MSEC,
		.timeout_ns = 30 * NSEC_PER_SEC,
		.spin_ns = -1,
		.keep_samples = 20000,
	};
}

int options_parse_shard(const char *text, unsigned *index, unsigned *count, struct fault *f)
{
	char first[24];
	uint64_t i;
	uint64_t n;
	const char *slash = strchr(text, '/');
	if (!slash || (size_t)(slash - text) >= sizeof first)
		return fault_set(f, -EINVAL, "'%.40s' is not I/N, as in 0/4", text);
	snprintf(first, sizeof first, "%.*s", (int)(slash - text), text);
	if (units_parse_u64(first, &i, NULL) < 0 || units_parse_u64(slash + 1, &n, NULL) < 0)
		return fault_set(f, -EINVAL, "'%.40s' is not I/N, as in 0/4", text);
	if (n < 1 || n > 10000 || i >= n)
		return fault_set(f, -ERANGE, "shard %.40s does not exist: of N they are numbered from 0 to N - 1",
				 text);
	*index = (unsigned)i;
	*count = (unsigned)n;
	return 0;
}

int options_parse_threads(const char *text, uint64_t *threads, size_t *n, struct fault *f)
{
	*n = 0;
	for (const char *p = text;; p++) {
		char word[24];
		size_t len = strcspn(p, ",");
		snprintf(word, sizeof word, "%.*s", (int)(len < sizeof word ? len : sizeof word - 1), p);
		if (*n == LOAD_THREADS_MAX)
			return fault_set(f, -ERANGE, "more than %d numbers of threads", LOAD_THREADS_MAX);
		if (units_parse_u64(word, &threads[*n], NULL) < 0 || threads[*n] < 1 || threads[*n] > 10000)
			return fault_set(f, -EINVAL, "'%.40s' is not a list of numbers from 1 to 10000, as in 2,5,10",
					 text);
		(*n)++;
		p += len;
		if (!*p)
			return 0;
	}
}

/* The whole file; bodies are sent from memory. */
static int read_body_file(struct load_options *o, const char *path, struct fault *f)
{
	CLEANUP_CLOSE int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat info;
	if (fd < 0 || fstat(fd, &info) < 0)
		return fault_set(f, errno, "--data: cannot open %s", path);
	if (!S_ISREG(info.st_mode) || info.st_size > INT32_MAX)
		return fault_set(f, -EINVAL, "--data: %s is not a file of at most 2 GiB", path);
	size_t size = (size_t)info.st_size;
	o->body = malloc(size + 1);
	if (!o->body)
		return fault_set(f, ENOMEM, "--data: %s", path);
	while (o->body_len < size) {
		ssize_t got = read(fd, o->body + o->body_len, size - o->body_len);
		if (got < 0)
			return fault_set(f, errno, "--data: cannot read %s", path);
		if (got == 0)
			break;
		o->body_len += (size_t)got;
	}
	return 0;
}

static int read_body(struct load_options *o, struct fault *f)
{
	if (!o->data)
		return 0;
	if (*o->data == '@')
		return read_body_file(o, o->data + 1, f);
	o->body = strdup(o->data);
	o->body_len = strlen(o->data);
	return o->body ? 0 : fault_set(f, ENOMEM, "--data");
}

/* Options that contradict each other are refused: one of them would be ignored in silence. */
static int check_pattern(const struct load_options *o, struct fault *f)
{
	if (o->rate_given && (o->interval_given || o->every_given))
		return fault_set(f, -EINVAL, "--rate and --%s say the same in two ways: give one",
				 o->interval_given ? "interval" : "every");
	if (o->threads_text && o->pattern != PATTERN_CLOSED)
		return fault_set(f, -EINVAL, "--threads belongs to --pattern closed; here it is --connections");
	if (o->ramp_to_given != (o->pattern == PATTERN_RAMP))
		return fault_set(f, -EINVAL, "--pattern ramp and --ramp-to RATE need each other");
	if ((o->file != NULL) != (o->pattern == PATTERN_FILE))
		return fault_set(f, -EINVAL, "--pattern file and --file FILE need each other");
	if (o->speed <= 0)
		return fault_set(f, -EINVAL, "--speed must be above 0");
	if (o->pattern == PATTERN_CLOSED && (o->shard_text || o->start_at_text || o->start_mono_given))
		return fault_set(f, -EINVAL,
				 "a closed loop has no schedule: no --shard, --start-at or --start-mono-ns");
	if (o->start_at_text && o->start_mono_given)
		return fault_set(f, -EINVAL, "--start-at and --start-mono-ns both name the first instant: give one");
	return 0;
}

static int finish_threads(struct load_options *o, struct fault *f)
{
	if (o->pattern != PATTERN_CLOSED)
		return 0;
	if (!o->threads_text) {
		o->threads[0] = o->connections;
		o->n_threads = 1;
		return 0;
	}
	if (o->connections_given)
		return fault_set(f, -EINVAL,
				 "in a closed loop every one of the --threads has a connection: no --connections");
	int rc = options_parse_threads(o->threads_text, o->threads, &o->n_threads, f);
	if (rc < 0)
		return fault_prefix(f, rc, "--threads");
	if (o->hgrm_file && o->n_threads > 1)
		return fault_set(f, -EINVAL, "--hgrm holds one distribution: give one number of --threads");
	return 0;
}

static int check(struct load_options *o, int argc, char **argv, struct fault *f)
{
	int rc;
	if (argc != 2)
		return fault_set(f, -EINVAL, argc < 2 ? "which URL? %s" : "more than one URL: %s",
				 argc < 2 ? "headroom-load http://host:8080/work" : argv[2]);
	o->url = argv[1];
	if ((rc = check_pattern(o, f)) < 0 || (rc = finish_threads(o, f)) < 0 || (rc = read_body(o, f)) < 0)
		return rc;
	if (o->shard_text && (rc = options_parse_shard(o->shard_text, &o->shard_index, &o->shard_count, f)) < 0)
		return fault_prefix(f, rc, "--shard");
	if (o->start_at_text && (rc = when_parse(o->start_at_text, &o->start_wall_ns, f)) < 0)
		return fault_prefix(f, rc, "--start-at");
	for (size_t i = 0; i < o->fail_on.n; i++)
		if ((rc = gate_check(o->fail_on.values[i], f)) < 0)
			return fault_prefix(f, rc, "--fail-on");
	return 0;
}

int options_begin(struct load_options *o, int argc, char **argv)
{
	struct opt table[48];
	struct fault f = {0};
	set_defaults(o);
	make_table(o, table);
	const struct opts_spec spec = {
		.program = "headroom-load",
		.usage = "URL [options]  |  headroom-load merge FILE... [options]",
		.summary = "Sends HTTP requests on a fixed schedule and records every one of them.",
		.examples = examples,
		.notes = notes,
		.table = table,
	};
	int status = opts_begin(&spec, &argc, argv, stdout, stderr);
	if (status >= 0)
		return status;
	if (check(o, argc, argv, &f) == 0)
		return -1;
	fprintf(stderr, "headroom-load: %s\n", fault_text(&f));
	return EXIT_USAGE;
}

void options_free(struct load_options *o)
{
	free(o->body);
	o->body = NULL;
}
