/* options.h - the command line of headroom-load, checked.
 *
 * Everything that can be found wrong without sending a request is found here: a usage error ends with status 2.
 */
#ifndef HEADROOM_OPTIONS_H
#define HEADROOM_OPTIONS_H

#include "opts.h"
#include "pacer.h"

enum load_pattern { PATTERN_PACED, PATTERN_BURST, PATTERN_POISSON, PATTERN_RAMP, PATTERN_CLOSED, PATTERN_FILE };
enum load_output { OUTPUT_TABLE, OUTPUT_JSON, OUTPUT_CSV };
enum { LOAD_THREADS_MAX = 32 };

/* Exit statuses, the same in all programs of the toolkit. */
enum { EXIT_DONE = 0, EXIT_FAILED = 1, EXIT_USAGE = 2, EXIT_GATE = 3, EXIT_SIGNAL = 128 };

struct load_options {
	const char *url;
	int pattern;
	int64_t interval_ns, every_ns, duration_ns;
	bool interval_given, every_given, duration_given, rate_given;
	uint64_t burst;
	double rate, ramp_to;
	bool ramp_to_given;
	uint64_t seed;
	uint64_t connections;
	bool connections_given;
	const char *threads_text;
	uint64_t threads[LOAD_THREADS_MAX]; /* closed loop: one run for each */
	size_t n_threads;
	const char *file, *time_field;
	double speed;
	int within_second; /* index into {"spread", "together"} */
	const char *shard_text;
	unsigned shard_index, shard_count; /* count 0: no shards */
	const char *start_at_text;
	int64_t start_wall_ns; /* 0 = not given */
	uint64_t start_mono_ns;
	bool start_mono_given;
	const char *requests_file, *hgrm_file;
	int64_t lateness_bound_ns, timeout_ns;
	uint64_t warmup;
	bool warmup_given;
	const char *warmup_url;
	struct opt_list headers, fail_on;
	const char *method, *data;
	char *body; /* of --data, read; owned */
	size_t body_len;
	bool http2, insecure;
	const char *cacert, *proxy;
	int64_t spin_ns;
	bool spin_given;
	int priority; /* enum pacer_priority */
	uint64_t keep_samples;
	int output;
};

extern const char *const load_pattern_names[];

/* Reads the command line and the environment. Returns -1 to go on, else the exit status. To be freed in any case. */
int options_begin(struct load_options *o, int argc, char **argv);
void options_free(struct load_options *o);

/* "I/N" with I from 0 to N - 1. Pure. */
int options_parse_shard(const char *text, unsigned *index, unsigned *count, struct fault *f) MUST_CHECK;

/* "2,5,10", each 1 to 10000, at most LOAD_THREADS_MAX of them. Pure. */
int options_parse_threads(const char *text, uint64_t *threads, size_t *n, struct fault *f) MUST_CHECK;

#endif
