#include "config.h"

#include "own.h"
#include "query.h"
#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <string.h>

/* Values as the option table stores them, before they are checked against each other. */
struct raw_options {
	const char *listen, *workers, *disk_dir;
	uint64_t queue, connections, rounds, disk_kb, ring, body_kb;
	double cpu_ms, wait_ms;
	int64_t idle_timeout_ns, drain_ns;
	bool calibrate, rounds_given;
	struct opt_list pools;
};

int config_parse_workers(const char *text, uint32_t *workers, struct fault *f)
{
	uint64_t n;
	int rc;
	if (strcmp(text, "nproc") == 0)
		return own_affinity_cpus(workers, f);
	if (strcmp(text, "quota") == 0)
		return own_quota_cpus(workers, f);
	rc = units_parse_u64(text, &n, f);
	if (rc < 0)
		return fault_set(f, -EINVAL, "'%.40s' is neither a number nor nproc nor quota", text);
	if (n < 1 || n > GATE_SLOTS_MAX)
		return fault_set(f, -ERANGE, "%.40s is out of range: 1 to %d", text, GATE_SLOTS_MAX);
	*workers = (uint32_t)n;
	return 0;
}

static bool is_pool_name(const char *text, size_t len)
{
	if (len < 1 || len >= POOL_NAME_SIZE)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!isalnum((unsigned char)text[i]) && text[i] != '_' && text[i] != '-')
			return false;
	return true;
}

static int pool_form(const char *text, struct fault *f)
{
	return fault_set(f, -EINVAL, "'%.60s' is not NAME=UNITS:DURATION (like db=5:20ms)", text);
}

int config_parse_pool(const char *text, struct pool_spec *out, struct fault *f)
{
	char units[24];
	uint64_t n;
	size_t name_len = strcspn(text, "=");
	if (!text[name_len] || !is_pool_name(text, name_len))
		return pool_form(text, f);
	const char *units_at = text + name_len + 1;
	size_t units_len = strcspn(units_at, ":");
	if (!units_at[units_len] || units_len >= sizeof units)
		return pool_form(text, f);
	memcpy(units, units_at, units_len);
	units[units_len] = '\0';
	if (units_parse_u64(units, &n, NULL) < 0 || n < 1 || n > GATE_SLOTS_MAX)
		return fault_set(f, -EINVAL, "'%.60s': the number of units is 1 to %d", text, GATE_SLOTS_MAX);
	memcpy(out->name, text, name_len);
	out->name[name_len] = '\0';
	out->units = (uint32_t)n;
	int rc = units_parse_duration_ns(units_at + units_len + 1, &out->hold_ns, f);
	return rc < 0 ? fault_prefix(f, rc, "'%.60s'", text) : 0;
}

static int take_pools(struct probe_config *c, const struct opt_list *list, struct fault *f)
{
	for (size_t i = 0; i < list->n; i++) {
		if (c->pool_count == POOLS_MAX)
			return fault_set(f, -ERANGE, "--pool: more than %d pools", POOLS_MAX);
		struct pool_spec *pool = &c->pools[c->pool_count];
		int rc = config_parse_pool(list->values[i], pool, f);
		if (rc < 0)
			return fault_prefix(f, rc, "--pool");
		if (query_find_pool(c->pools, c->pool_count, pool->name) != UNIT_NO_POOL)
			return fault_set(f, -EINVAL, "--pool: %s is given twice", pool->name);
		c->pool_count++;
	}
	return 0;
}

static int check_bounds(const struct raw_options *raw, struct fault *f)
{
	if (raw->cpu_ms > QUERY_CPU_MS_MAX)
		return fault_set(f, -ERANGE, "--cpu-ms: at most %.0f", QUERY_CPU_MS_MAX);
	if (raw->wait_ms > QUERY_WAIT_MS_MAX)
		return fault_set(f, -ERANGE, "--wait-ms: at most %.0f", QUERY_WAIT_MS_MAX);
	if (raw->rounds_given && raw->calibrate)
		return fault_set(f, -EINVAL,
				 "--calibrate and --rounds exclude each other: --calibrate finds the rounds");
	if ((raw->rounds_given && raw->rounds > 0 && raw->cpu_ms <= 0) || (raw->calibrate && raw->cpu_ms <= 0))
		return fault_set(f, -EINVAL, "--cpu-ms must be above 0 here: it says how long the rounds take");
	return 0;
}

static int take_raw(struct probe_config *c, const struct raw_options *raw, struct fault *f)
{
	int rc = check_bounds(raw, f);
	if (rc < 0)
		return rc;
	*c = (struct probe_config){
		.listen = raw->listen,
		.queue_max = (uint32_t)raw->queue,
		.connections_max = (uint32_t)raw->connections,
		.idle_timeout_s = (uint32_t)((raw->idle_timeout_ns + NSEC_PER_SEC - 1) / NSEC_PER_SEC),
		.drain_ns = raw->drain_ns,
		.body_max_bytes = raw->body_kb * 1024,
		.ring = raw->ring,
		.calibrate_only = raw->calibrate,
		.rounds_given = raw->rounds_given,
		.rounds = raw->rounds,
		.cpu_ms = raw->cpu_ms,
		.wait_ns = llround(raw->wait_ms * (double)NSEC_PER_MSEC),
		.disk_kb = raw->disk_kb,
		.disk_dir = raw->disk_dir,
	};
	rc = take_pools(c, &raw->pools, f);
	if (rc < 0 || c->calibrate_only)
		return rc;
	rc = config_parse_workers(raw->workers, &c->workers, f);
	return rc < 0 ? fault_prefix(f, rc, "--workers") : 0;
}

static const char examples[] =
	"  headroom-probe --listen 127.0.0.1:8080 --workers 2      4 ms of CPU a request, two at a time\n"
	"  headroom-probe --calibrate                              how many rounds are 4 ms on this machine\n"
	"  headroom-probe --rounds 40000 --workers quota           that many, without calibrating\n"
	"  headroom-probe --pool db=5:20ms                         and: curl 'http://127.0.0.1:8080/work?pool=db'\n";

static const char notes[] =
	"Paths: /work does one unit (?cpu_ms= ?rounds= ?wait_ms= ?disk_kb= ?pool= change it), /healthz,\n"
	"/metrics, /requests.csv. SIGTERM and SIGINT end the server after the requests at hand.\n"
	"Exit status: 0 ended as asked, 1 could not start or calibrate, 2 wrong options.\n";

int config_read(struct probe_config *c, int argc, char **argv)
{
	struct raw_options raw = {
		.listen = "127.0.0.1:8080",
		.workers = "1",
		.disk_dir = "/tmp",
		.queue = 1024,
		.connections = 1024,
		.cpu_ms = 4,
		.ring = 20000,
		.body_kb = 1024,
		.idle_timeout_ns = 60 * NSEC_PER_SEC,
		.drain_ns = 10 * NSEC_PER_SEC,
	};
	const struct opt table[] = {
		{.name = "listen",
		 .kind = OPT_TEXT,
		 .into = &raw.listen,
		 .arg = "ADDR:PORT",
		 .help = "where to listen; port 0 = any free one, [::1]:8080 for IPv6 (default 127.0.0.1:8080)"},
		{.name = "workers",
		 .kind = OPT_TEXT,
		 .into = &raw.workers,
		 .arg = "N|nproc|quota",
		 .help = "requests at work at a time; nproc = CPUs of the affinity mask, quota = CPU quota rounded up "
			 "(default 1)"},
		{.name = "queue",
		 .kind = OPT_U64,
		 .into = &raw.queue,
		 .arg = "N",
		 .max = 1000000,
		 .help = "requests that may wait for a worker; more are answered 503 (default 1024)"},
		{.name = "cpu-ms",
		 .kind = OPT_DECIMAL,
		 .into = &raw.cpu_ms,
		 .arg = "MS",
		 .help = "CPU time of one unit of work (default 4)"},
		{.name = "rounds",
		 .kind = OPT_U64,
		 .into = &raw.rounds,
		 .arg = "N",
		 .max = QUERY_ROUNDS_MAX,
		 .given = &raw.rounds_given,
		 .help = "rounds of SHA-256 that take --cpu-ms: no calibration"},
		{.name = "calibrate",
		 .kind = OPT_FLAG,
		 .into = &raw.calibrate,
		 .help = "find the rounds that take --cpu-ms, print them as JSON, end"},
		{.name = "wait-ms",
		 .kind = OPT_DECIMAL,
		 .into = &raw.wait_ms,
		 .arg = "MS",
		 .help = "deliberate wait of one unit (default 0)"},
		{.name = "disk-kb",
		 .kind = OPT_U64,
		 .into = &raw.disk_kb,
		 .arg = "N",
		 .max = QUERY_DISK_KB_MAX,
		 .help = "kB that one unit writes and syncs (default 0)"},
		{.name = "disk-dir",
		 .kind = OPT_TEXT,
		 .into = &raw.disk_dir,
		 .arg = "DIR",
		 .help = "where it writes them; a tmpfs costs no disk time (default /tmp)"},
		{.name = "pool",
		 .kind = OPT_LIST,
		 .into = &raw.pools,
		 .arg = "NAME=K:TIME",
		 .help = "a resource of K units, each held for TIME; used by ?pool=NAME; may be repeated"},
		{.name = "ring",
		 .kind = OPT_U64,
		 .into = &raw.ring,
		 .arg = "N",
		 .min = 1,
		 .max = 10000000,
		 .help = "how many requests /requests.csv remembers, 200 bytes each (default 20000)"},
		{.name = "connections",
		 .kind = OPT_U64,
		 .into = &raw.connections,
		 .arg = "N",
		 .min = 1,
		 .max = 100000,
		 .help = "connections at a time (default 1024)"},
		{.name = "idle-timeout",
		 .kind = OPT_DURATION,
		 .into = &raw.idle_timeout_ns,
		 .arg = "TIME",
		 .min = (uint64_t)NSEC_PER_SEC,
		 .max = 24 * 3600 * (uint64_t)NSEC_PER_SEC,
		 .help = "silent connections are closed, in whole seconds (default 60s)"},
		{.name = "drain",
		 .kind = OPT_DURATION,
		 .into = &raw.drain_ns,
		 .arg = "TIME",
		 .help = "how long requests at hand may take after SIGTERM (default 10s)"},
		{.name = "body-max-kb",
		 .kind = OPT_U64,
		 .into = &raw.body_kb,
		 .arg = "N",
		 .max = 1048576,
		 .help = "request bodies are read and forgotten up to this size (default 1024)"},
		{.name = NULL},
	};
	const struct opts_spec spec = {
		.program = "headroom-probe",
		.usage = "[options]",
		.summary = "HTTP service whose requests cost a calibrated amount of CPU, waiting, disk or pool units,\n"
			   "and which tells for each request where its time went.",
		.examples = examples,
		.notes = notes,
		.table = table,
	};
	struct fault f = {0};
	int status = opts_begin(&spec, &argc, argv, stdout, stderr);
	if (status >= 0)
		return status;
	if (argc > 1)
		fault_set(&f, -EINVAL, "'%.40s' is no option: --help lists them", argv[1]);
	else if (take_raw(c, &raw, &f) == 0)
		return -1;
	fprintf(stderr, "headroom-probe: %s\n", fault_text(&f));
	return 2;
}
