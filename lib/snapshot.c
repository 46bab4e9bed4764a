#include "snapshot.h"

#include "clock.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

const char *counter_key(enum counter c)
{
	static const char *const keys[COUNTERS] = {
		[COUNTER_USAGE] = "usage_usec",          [COUNTER_USER] = "user_usec",
		[COUNTER_SYSTEM] = "system_usec",        [COUNTER_NR_PERIODS] = "nr_periods",
		[COUNTER_NR_THROTTLED] = "nr_throttled", [COUNTER_THROTTLED] = "throttled_usec",
		[COUNTER_NR_BURSTS] = "nr_bursts",       [COUNTER_BURST] = "burst_usec",
	};
	return keys[c];
}

const char *psi_status_name(enum psi_status s)
{
	static const char *const names[] = {"absent", "ok", "disabled", "denied", "broken"};
	return names[s];
}

static const char *const psi_files[PSI_RESOURCES] = {"cpu.pressure", "io.pressure", "memory.pressure"};

/* ---- opening ---- */

/* Absent files are normal, at every level; anything else is remembered by leaving the file closed with its
 * reason in f. Returns 0 or the negative errno of what is not normal. */
static int open_optional(struct textfile *file, int folder_fd, const char *name, struct fault *f)
{
	struct fault why = {0};
	int rc = textfile_open_at(file, folder_fd, name, &why);
	if (rc == 0 || rc == -ENOENT)
		return 0;
	if (f)
		*f = why;
	return rc;
}

static int open_level(struct reader *r, struct level_files *level, int folder_fd, struct fault *f)
{
	int rc = 0;
	if (r->hierarchy == HIERARCHY_V2) {
		rc = open_optional(&level->quota, folder_fd, "cpu.max", f);
	} else {
		rc = open_optional(&level->quota, folder_fd, "cpu.cfs_quota_us", f);
		if (rc == 0)
			rc = open_optional(&level->period, folder_fd, "cpu.cfs_period_us", f);
	}
	if (rc == 0)
		rc = open_optional(&level->stat, folder_fd, "cpu.stat", f);
	return rc < 0 ? fault_prefix(f, rc, "cgroup %s", level->name) : 0;
}

/* The top tells whether there is something above it: in v2 only the real root has no cgroup.type, in v1 only the real
 * root has a release_agent. */
static void look_above(struct reader *r, int top_fd)
{
	bool is_v2 = r->hierarchy == HIERARCHY_V2;
	bool there = faccessat(top_fd, is_v2 ? "cgroup.type" : "release_agent", F_OK, AT_SYMLINK_NOFOLLOW) == 0;
	r->ancestors_hidden_known = there || errno == ENOENT;
	r->ancestors_hidden = is_v2 ? there : !there;
}

static void cut_last_part(char *path, size_t keep)
{
	char *slash = strrchr(path, '/');
	if (slash && (size_t)(slash - path) >= keep)
		*slash = '\0';
}

/* From the target's own folder up to the mount point, one level after the other. */
static int open_levels(struct reader *r, const struct cgroup_target *target, struct fault *f)
{
	CLEANUP_FREE char *folder = strdup(target->cpu.folder);
	CLEANUP_FREE char *name = strdup(target->cpu.name);
	if (!folder || !name)
		return fault_set(f, ENOMEM, "cgroup %s", target->cpu.name);
	for (;;) {
		struct cgroup_place at = {.hierarchy = r->hierarchy, .folder = folder, .name = name};
		CLEANUP_CLOSE int fd = cgroup_place_open(&at, &target->tree, f);
		if (fd < 0)
			return fd;
		if (r->n_levels == SNAPSHOT_LEVELS_MAX)
			return fault_set(f, -ELOOP, "cgroup %s is nested more than %d levels deep", target->cpu.name,
					 SNAPSHOT_LEVELS_MAX);
		struct level_files *level = &r->levels[r->n_levels++];
		*level = (struct level_files){
			.name = strdup(*name ? name : "/"),
			.quota = TEXTFILE_CLOSED,
			.period = TEXTFILE_CLOSED,
			.stat = TEXTFILE_CLOSED,
		};
		int rc = level->name ? open_level(r, level, fd, f) : fault_set(f, ENOMEM, "cgroup");
		if (rc < 0)
			return rc;
		if (strlen(folder) <= target->cpu.top_len || strcmp(folder, "/") == 0) {
			look_above(r, fd);
			return 0;
		}
		cut_last_part(folder, target->cpu.top_len);
		cut_last_part(name, 0);
	}
}

static void open_own_v1(struct reader *r, const struct cgroup_target *target)
{
	if (target->cpuacct.hierarchy != HIERARCHY_V1)
		return;
	CLEANUP_CLOSE int fd = cgroup_place_open(&target->cpuacct, &target->tree, NULL);
	if (fd < 0)
		return;
	(void)open_optional(&r->usage, fd, "cpuacct.usage", NULL);
	(void)open_optional(&r->user_system, fd, "cpuacct.stat", NULL);
}

static enum psi_status status_of_error(int rc)
{
	switch (rc) {
	case -ENOENT:
		return PSI_ABSENT;
	case -EOPNOTSUPP:
		return PSI_DISABLED;
	case -EACCES:
	case -EPERM:
		return PSI_DENIED;
	default:
		return PSI_BROKEN;
	}
}

static void open_pressure_file(struct reader *r, size_t i, int fd)
{
	int rc = fd < 0 ? -ENOENT : textfile_open_at(&r->psi[i], fd, psi_files[i], NULL);
	r->psi_open_status[i] = rc < 0 ? status_of_error(rc) : PSI_OK;
}

static int open_v2_folder(const struct cgroup_target *target)
{
	return target->v2.hierarchy == HIERARCHY_V2 ? cgroup_place_open(&target->v2, &target->tree, NULL) : -ENOENT;
}

static void open_pressure(struct reader *r, const struct cgroup_target *target)
{
	CLEANUP_CLOSE int fd = open_v2_folder(target);
	for (size_t i = 0; i < PSI_RESOURCES; i++)
		open_pressure_file(r, i, fd);
	if (fd >= 0)
		(void)open_optional(&r->stat_local, fd, "cpu.stat.local", NULL);
}

int reader_open(struct reader *r, const struct cgroup_target *target, struct fault *f)
{
	*r = (struct reader){
		.hierarchy = target->cpu.hierarchy,
		.usage = TEXTFILE_CLOSED,
		.user_system = TEXTFILE_CLOSED,
		.stat_local = TEXTFILE_CLOSED,
	};
	for (size_t i = 0; i < PSI_RESOURCES; i++)
		r->psi[i] = TEXTFILE_CLOSED;
	struct stat s;
	CLEANUP_CLOSE int own = cgroup_place_open(&target->cpu, &target->tree, f);
	int rc = own < 0 ? own : 0;
	if (rc == 0)
		rc = fstat(own, &s) == 0 ? 0 : fault_set(f, errno, "cgroup %s", target->cpu.name);
	if (rc == 0)
		rc = open_levels(r, target, f);
	if (rc < 0) {
		reader_close(r);
		return rc;
	}
	r->identity = s.st_ino;
	open_own_v1(r, target);
	open_pressure(r, target);
	return 0;
}

void reader_reopen_pressure(struct reader *r, const struct cgroup_target *target, const struct snapshot *last)
{
	CLEANUP_CLOSE int fd = -1;
	for (size_t i = 0; i < PSI_RESOURCES; i++) {
		if (last->psi_status[i] == PSI_OK)
			continue;
		if (fd < 0)
			fd = open_v2_folder(target);
		textfile_close(&r->psi[i]);
		open_pressure_file(r, i, fd);
	}
}

void reader_close(struct reader *r)
{
	if (r->hierarchy == HIERARCHY_NONE)
		return;
	for (size_t i = 0; i < r->n_levels; i++) {
		free(r->levels[i].name);
		textfile_close(&r->levels[i].quota);
		textfile_close(&r->levels[i].period);
		textfile_close(&r->levels[i].stat);
	}
	textfile_close(&r->usage);
	textfile_close(&r->user_system);
	textfile_close(&r->stat_local);
	for (size_t i = 0; i < PSI_RESOURCES; i++)
		textfile_close(&r->psi[i]);
	r->n_levels = 0;
}

/* ---- reading ---- */

/* Keeps the first reason of one snapshot. */
static void note(struct fault *f, const struct fault *why)
{
	if (f && !f->err)
		*f = *why;
}

static int read_quota_v1(const struct level_files *files, const char *quota_text, struct cpu_quota *out,
			 struct fault *f)
{
	char period_text[64];
	ssize_t len = files->period.fd < 0 ? -ENOENT : textfile_reread(&files->period, period_text, sizeof period_text);
	if (len < 0)
		return textfile_explain((int)len, "cpu.cfs_period_us", f);
	return kv_read_cfs_quota(quota_text, period_text, out, f);
}

static int read_quota(const struct reader *r, const struct level_files *files, struct level_figures *out,
		      struct fault *f)
{
	const char *file_name = r->hierarchy == HIERARCHY_V2 ? "cpu.max" : "cpu.cfs_quota_us";
	struct fault why;
	char text[128];
	fault_clear(&why);
	if (files->quota.fd < 0) {
		out->state = QUOTA_NO_FILE;
		return 0;
	}
	ssize_t len = textfile_reread(&files->quota, text, sizeof text);
	if (len == -ENODEV)
		return -ENODEV;
	int rc;
	if (len < 0)
		rc = textfile_explain((int)len, file_name, &why);
	else if (r->hierarchy == HIERARCHY_V2)
		rc = kv_read_cpu_max(text, &out->quota, &why);
	else
		rc = read_quota_v1(files, text, &out->quota, &why);
	if (rc < 0 && len < 0)
		fault_prefix(&why, rc, "cgroup %s", files->name);
	else if (rc < 0)
		fault_prefix(&why, rc, "%s of cgroup %s", file_name, files->name);
	if (rc < 0)
		note(f, &why);
	out->state = rc < 0 ? QUOTA_BROKEN : QUOTA_READ;
	return 0;
}

/* v1 names and units next to the v2 ones; a file has either, never both. */
static const char *const stat_keys[] = {
	"usage_usec",     "user_usec", "system_usec", "nr_periods",     "nr_throttled",
	"throttled_usec", "nr_bursts", "burst_usec",  "throttled_time", "burst_time",
};
enum { KEY_V1_THROTTLED = COUNTERS, KEY_V1_BURST = COUNTERS + 1 };

static void put(struct counters *c, enum counter which, uint64_t value)
{
	c->value[which] = value;
	c->have |= 1U << which;
}

static int parse_stat(const char *text, struct counters *out, struct fault *f)
{
	uint64_t values[ARRAY_LEN(stat_keys)];
	uint32_t have;
	int rc = kv_read_keys(text, stat_keys, ARRAY_LEN(stat_keys), values, &have, f);
	if (rc < 0)
		return rc;
	*out = (struct counters){.have = have & ((1U << COUNTERS) - 1)};
	memcpy(out->value, values, sizeof out->value);
	if (have & (1U << KEY_V1_THROTTLED))
		put(out, COUNTER_THROTTLED, values[KEY_V1_THROTTLED] / 1000);
	if (have & (1U << KEY_V1_BURST))
		put(out, COUNTER_BURST, values[KEY_V1_BURST] / 1000);
	return 0;
}

static int read_stat(const struct level_files *files, struct counters *out, struct fault *f)
{
	struct fault why;
	char text[TEXTFILE_MAX];
	fault_clear(&why);
	*out = (struct counters){0};
	if (files->stat.fd < 0)
		return 0;
	ssize_t len = textfile_reread(&files->stat, text, sizeof text);
	if (len == -ENODEV)
		return -ENODEV;
	int rc = len < 0 ? fault_set(&why, (int)-len, "cannot read it") : parse_stat(text, out, &why);
	if (rc < 0) {
		fault_prefix(&why, rc, "cpu.stat of cgroup %s", files->name);
		note(f, &why);
	}
	return 0;
}

/* USER_HZ is 100 on every architecture that runs containers. */
enum { USEC_PER_TICK = 10000 };

static void read_usage_v1(const struct reader *r, struct counters *own, struct fault *f)
{
	struct fault why;
	char text[64];
	uint64_t usage_ns;
	fault_clear(&why);
	if (r->usage.fd < 0 || textfile_reread(&r->usage, text, sizeof text) < 0)
		return;
	if (kv_read_number(text, &usage_ns, &why) == 0)
		put(own, COUNTER_USAGE, usage_ns / 1000);
	else
		note(f, &why);
}

static void read_user_system_v1(const struct reader *r, struct counters *own, struct fault *f)
{
	static const char *const keys[] = {"user", "system"};
	struct fault why = {0};
	char text[TEXTFILE_MAX];
	uint64_t values[2];
	uint32_t have;
	if (r->user_system.fd < 0 || textfile_reread(&r->user_system, text, sizeof text) < 0)
		return;
	if (kv_read_keys(text, keys, 2, values, &have, &why) < 0) {
		note(f, &why);
		return;
	}
	for (unsigned i = 0; i < 2; i++)
		if (have & (1U << i))
			put(own, i ? COUNTER_SYSTEM : COUNTER_USER, values[i] * USEC_PER_TICK);
}

/* A fast sample keeps the user and system time of the last full one: they come from a file of their own. */
static void read_own_v1(const struct reader *r, enum snapshot_what what, const struct counters *before,
			struct counters *own, struct fault *f)
{
	read_usage_v1(r, own, f);
	if (what == SNAPSHOT_FULL) {
		read_user_system_v1(r, own, f);
		return;
	}
	for (enum counter c = COUNTER_USER; c <= COUNTER_SYSTEM; c++)
		if (counters_have(before, c))
			put(own, c, before->value[c]);
}

static void read_local_throttled(const struct reader *r, struct snapshot *s)
{
	static const char *const key[] = {"throttled_usec"};
	char text[TEXTFILE_MAX];
	uint32_t have = 0;
	s->have_local_throttled = false;
	if (r->stat_local.fd < 0 || textfile_reread(&r->stat_local, text, sizeof text) < 0)
		return;
	if (kv_read_keys(text, key, 1, &s->local_throttled_usec, &have, NULL) == 0)
		s->have_local_throttled = have & 1;
}

static void read_pressure(const struct reader *r, struct snapshot *s, struct fault *f)
{
	for (size_t i = 0; i < PSI_RESOURCES; i++) {
		struct fault why = {0};
		char text[TEXTFILE_MAX];
		bool was_ok = s->psi_status[i] == PSI_OK;
		s->psi_status[i] = r->psi_open_status[i];
		if (s->psi_status[i] != PSI_OK)
			continue;
		ssize_t len = textfile_reread(&r->psi[i], text, sizeof text);
		if (len < 0) {
			/* ENODEV: writing 0 to cgroup.pressure hides the file, which ends kept descriptors as well */
			s->psi_status[i] = len == -ENODEV ? PSI_ABSENT : status_of_error((int)len);
		} else if (len == 0) {
			s->psi_status[i] = PSI_DISABLED;
		} else if (kv_read_psi(text, &s->psi[i], &why) < 0) {
			s->psi_status[i] = PSI_BROKEN;
			fault_prefix(&why, -EINVAL, "%s", psi_files[i]);
			note(f, &why);
		}
		s->psi_epoch[i] += !was_ok && s->psi_status[i] == PSI_OK;
	}
}

static bool has_quota(const struct level_figures *level)
{
	return level->state == QUOTA_READ && level->quota.quota_usec != QUOTA_NONE;
}

static int read_level(const struct reader *r, size_t i, enum snapshot_what what, struct level_figures *out,
		      bool want_counters, struct fault *f)
{
	int rc = 0;
	if (what >= SNAPSHOT_LIMITS)
		rc = read_quota(r, &r->levels[i], out, f);
	if (rc == 0 && want_counters && (i == 0 || has_quota(out)))
		rc = read_stat(&r->levels[i], &out->counters, f);
	else if (rc == 0 && what == SNAPSHOT_FULL)
		out->counters = (struct counters){0};
	return rc;
}

int reader_take(const struct reader *r, enum snapshot_what what, struct snapshot *s, struct fault *f)
{
	if (f)
		f->err = 0;
	s->mono_ns = clock_mono_ns();
	s->identity = r->identity;
	s->n_levels = r->n_levels;
	struct counters before = s->levels[0].counters;
	/* by the quotas of the sample before: those of this one are being read */
	size_t binding = what == SNAPSHOT_FULL ? 0 : limit_of(s).level;
	for (size_t i = 0; i < r->n_levels; i++)
		if (read_level(r, i, what, &s->levels[i], what == SNAPSHOT_FULL || i == 0 || i == binding, f) < 0)
			return fault_set(f, -ENODEV, "the cgroup %s was removed", r->levels[i].name);
	if (r->hierarchy == HIERARCHY_V1)
		read_own_v1(r, what, &before, &s->levels[0].counters, f);
	if (what == SNAPSHOT_FULL) {
		read_local_throttled(r, s);
		read_pressure(r, s, f);
	}
	return 0;
}

/* ---- judging ---- */

struct limit limit_of(const struct snapshot *s)
{
	struct limit limit = {.status = LIMIT_NONE, .quota = {.quota_usec = QUOTA_NONE}};
	for (size_t i = 0; i < s->n_levels; i++) {
		const struct level_figures *level = &s->levels[i];
		if (level->state == QUOTA_BROKEN)
			return (struct limit){.status = LIMIT_UNKNOWN};
		if (has_quota(level) && cpu_quota_is_below(&level->quota, &limit.quota))
			limit = (struct limit){.status = LIMIT_SET, .level = i, .quota = level->quota};
	}
	return limit;
}
