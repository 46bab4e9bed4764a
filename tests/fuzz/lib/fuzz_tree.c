/* fuzz_tree.c - a whole tree of files: the process's cgroup and mounts, then the counters and quotas found by them.
 * The parts of an input are the files, in the order of `files`.
 * seeds:
 */
#include "../fuzz.h"
#include "snapshot.h"
#include "window.h"

#include <fcntl.h>
#include <ftw.h>
#include <sys/stat.h>

/* The seeds name this cgroup; others are found only when the mounts lead there as well. */
static const char *const files[] = {
	"proc/self/cgroup",
	"proc/self/mountinfo",
	"sys/fs/cgroup/a/b/cpu.stat",
	"sys/fs/cgroup/a/b/cpu.max",
	"sys/fs/cgroup/a/b/cpu.pressure",
	"sys/fs/cgroup/a/cpu.stat",
	"sys/fs/cgroup/a/cpu.max",
	"sys/fs/cgroup/a/b/cpuset.cpus.effective",
	"sys/fs/cgroup/a/b/cpu.cfs_quota_us",
	"sys/fs/cgroup/a/b/cpu.cfs_period_us",
	"sys/fs/cgroup/a/b/cpuacct.usage",
};

static char top[64];

static int remove_one(const char *path, const struct stat *s, int kind, struct FTW *at)
{
	(void)s;
	(void)at;
	return kind == FTW_DP ? rmdir(path) : unlink(path);
}

static void remove_tree(void)
{
	nftw(top, remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

/* Once in the life of the process: the folders. In memory, if the host has a place for that. */
static int open_top(void)
{
	static const char *const folders[] = {
		"proc", "proc/self", "sys", "sys/fs", "sys/fs/cgroup", "sys/fs/cgroup/a", "sys/fs/cgroup/a/b"};
	const char *where = access("/dev/shm", W_OK) == 0 ? "/dev/shm" : "/tmp";
	snprintf(top, sizeof top, "%s/headroom-fuzz.XXXXXX", where);
	FUZZ_HOLDS(mkdtemp(top));
	atexit(remove_tree);
	int fd = open(top, O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	FUZZ_HOLDS(fd >= 0);
	for (size_t i = 0; i < ARRAY_LEN(folders); i++)
		FUZZ_HOLDS(mkdirat(fd, folders[i], 0700) == 0);
	return fd;
}

/* An empty part is a file that is not there. */
static void write_files(int fd, struct fuzz_input *in)
{
	for (size_t i = 0; i < ARRAY_LEN(files); i++) {
		CLEANUP_FREE char *text = fuzz_next_part(in);
		if (!text[0]) {
			unlinkat(fd, files[i], 0);
			continue;
		}
		CLEANUP_CLOSE int file = openat(fd, files[i], O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
		FUZZ_HOLDS(file >= 0 && write(file, text, strlen(text)) == (ssize_t)strlen(text));
	}
}

static void check_snapshot(const struct snapshot *s)
{
	struct limit limit = limit_of(s);
	FUZZ_HOLDS(s->n_levels >= 1 && s->n_levels <= SNAPSHOT_LEVELS_MAX);
	FUZZ_HOLDS((limit.status == LIMIT_SET) ==
		   (limit.status != LIMIT_UNKNOWN && limit.quota.quota_usec != QUOTA_NONE));
	for (size_t i = 0; i < s->n_levels; i++) {
		const struct level_figures *l = &s->levels[i];
		FUZZ_HOLDS(l->counters.have < 1U << COUNTERS);
		if (l->state == QUOTA_READ)
			FUZZ_HOLDS(l->quota.period_usec > 0 && l->quota.quota_usec > 0);
		/* the one that binds is the least of all */
		if (l->state == QUOTA_READ && limit.status == LIMIT_SET)
			FUZZ_HOLDS(!cpu_quota_is_below(&l->quota, &limit.quota));
	}
}

static void read_target(const struct cgroup_target *target)
{
	struct fault f = {0};
	struct reader reader;
	struct snapshot snap = {0};
	int rc = reader_open(&reader, target, &f);
	fuzz_check_fault(rc, &f);
	if (rc == 0 && reader_take(&reader, SNAPSHOT_FULL, &snap, &f) == 0)
		check_snapshot(&snap);
	reader_close(&reader);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static int top_fd = -1;
	struct fuzz_input in = {data, size};
	struct fault f = {0};
	struct cgroup_target target;
	if (top_fd < 0)
		top_fd = open_top();
	write_files(top_fd, &in);
	const struct tree tree = {.fd = top_fd};
	int rc = cgroup_resolve_process(&target, &tree, "self", &f);
	fuzz_check_fault(rc, &f);
	if (rc == 0)
		read_target(&target);
	cgroup_target_release(&target);
	f = (struct fault){0};
	rc = cgroup_resolve_path(&target, &tree, "/sys/fs/cgroup/a/b", &f);
	fuzz_check_fault(rc, &f);
	if (rc == 0)
		read_target(&target);
	cgroup_target_release(&target);
	return 0;
}
