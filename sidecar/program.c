#include "program.h"

#include "kv.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>
#include <sys/stat.h>

#ifndef FUSE_SUPER_MAGIC
#define FUSE_SUPER_MAGIC 0x65735546
#endif

/* Libraries are mapped first, so the beginning of a long table is enough. */
enum { MAPS_MAX = 256 * 1024 };

static ssize_t read_exe(void *context, void *buf, size_t size, uint64_t offset)
{
	return pread(*(int *)context, buf, size, (off_t)offset);
}

/* The process may be the server of the file system that its own executable is on: reading that could block for ever. */
static int open_exe(const char *path, int proc_fd)
{
	struct stat s;
	int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	if (fd < 0)
		return -1;
	if (fstat(fd, &s) == 0 && S_ISREG(s.st_mode) && textfile_fs_type(fd) != FUSE_SUPER_MAGIC)
		return fd;
	close(fd);
	return -1;
}

static bool guess_go(struct go_build *out, int proc_fd, const char *proc_name)
{
	char path[64];
	snprintf(path, sizeof path, "%s/exe", proc_name);
	CLEANUP_CLOSE int fd = open_exe(path, proc_fd);
	struct guess_file file = {.read_at = read_exe, .context = &fd};
	return fd >= 0 && guess_go_build(&file, out);
}

static size_t read_maps(char *buf, size_t size, int proc_fd, const char *proc_name)
{
	char path[64];
	size_t used = 0;
	snprintf(path, sizeof path, "%s/maps", proc_name);
	CLEANUP_CLOSE int fd = openat(proc_fd, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY);
	while (fd >= 0 && used < size) {
		ssize_t n = read(fd, buf + used, size - used);
		if (n <= 0)
			break;
		used += (size_t)n;
	}
	return used;
}

void program_guess(struct guess *out, const struct tree *t, const char *proc_name)
{
	char path[64];
	char exe[HEADROOM_PATH_MAX];
	struct go_build go;
	*out = (struct guess){0};
	/* recorded trees have no executables, and their files are not to be taken for any */
	CLEANUP_CLOSE int proc_fd = t->live ? tree_open_folder(t, "proc", NULL) : -1;
	CLEANUP_FREE char *maps = proc_fd < 0 ? NULL : malloc(MAPS_MAX);
	if (!maps)
		return;
	snprintf(path, sizeof path, "%s/exe", proc_name);
	ssize_t exe_len = readlinkat(proc_fd, path, exe, sizeof exe);
	struct guess_evidence e = {
		.exe = exe_len > 0 ? exe : NULL,
		.exe_len = exe_len > 0 ? (size_t)exe_len : 0,
		.maps = maps,
		.maps_len = read_maps(maps, MAPS_MAX, proc_fd, proc_name),
		.go = guess_go(&go, proc_fd, proc_name) ? &go : NULL,
	};
	if (!e.maps_len)
		e.maps = NULL;
	guess_runtimes(&e, out);
}

void program_first_pid(const struct cgroup_target *target, char out[16])
{
	/* sorted in v1 only; the first page is enough for "a process of it" */
	char text[TEXTFILE_MAX];
	uint64_t lowest = 0;
	CLEANUP_CLOSE int fd = cgroup_place_open(&target->cpu, &target->tree, NULL);
	ssize_t n = fd < 0 ? -1 : textfile_read_at(fd, "cgroup.procs", text, sizeof text, NULL);
	for (char *line = n > 0 ? text : NULL; line && *line; line += strcspn(line, "\n"), line += *line == '\n') {
		uint64_t pid = strtoull(line, NULL, 10);
		if (pid && pid <= INT32_MAX && (!lowest || pid < lowest))
			lowest = pid;
	}
	out[0] = '\0';
	if (lowest)
		snprintf(out, 16, "%u", (unsigned)lowest);
}

void program_put(json_value *o, const struct guess *g, const struct snapshot *s, const struct cpu_counts *cpus,
		 enum hierarchy cpu_controller)
{
	struct runtime_view view;
	struct runtime_judgement j;
	if (!g->n)
		return;
	json_value *ids = json_new_array();
	for (size_t i = 0; i < g->n; i++)
		json_add_text(ids, g->runtimes[i]->id);
	json_set_value(o, "guessed_runtimes", ids);
	json_set_bool(o, "guess_is_one_of_several", g->one_of_several);
	if (!runtime_view_make(&view, s, cpus, cpu_controller))
		return;
	runtime_judge(g->runtimes[0], &view, &j);
	json_set_text(o, "guess", j.sentence);
}
