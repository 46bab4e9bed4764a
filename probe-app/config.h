/* config.h - the options of headroom-probe. */
#ifndef HEADROOM_PROBE_CONFIG_H
#define HEADROOM_PROBE_CONFIG_H

#include "opts.h"
#include "unit.h"

struct probe_config {
	const char *listen; /* see listen.h */
	uint32_t workers;
	uint32_t queue_max;
	uint32_t connections_max;
	uint32_t idle_timeout_s;
	int64_t drain_ns;
	uint64_t body_max_bytes;
	uint64_t ring;
	bool calibrate_only;
	bool rounds_given;
	uint64_t rounds; /* of the default unit: given, or by calibration */
	double cpu_ms;   /* what `rounds` take */
	int64_t wait_ns;
	uint64_t disk_kb;
	const char *disk_dir;
	struct pool_spec pools[POOLS_MAX];
	size_t pool_count;
};

/* Reads argv and the environment, answers --help and --version. Returns -1 to go on, else the exit status,
 * everything having been said. Texts in *c point into argv or the environment. */
int config_read(struct probe_config *c, int argc, char **argv);

/* "5", "nproc" or "quota". -EINVAL or -ERANGE with a sentence. */
int config_parse_workers(const char *text, uint32_t *workers, struct fault *f) MUST_CHECK;

/* "db=5:20ms". The name: letters, digits, '_' and '-', up to 31. Pure. */
int config_parse_pool(const char *text, struct pool_spec *out, struct fault *f) MUST_CHECK;

#endif
