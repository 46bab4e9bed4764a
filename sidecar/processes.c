#include "processes.h"

#include "clock.h"
#include "kv.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
	VISITED_MAX = 512,        /* processes whose threads are listed in one refresh; the others are only counted */
	CGROUP_DEPTH_MAX = 4,     /* levels below the target's folder */
	CGROUP_FOLDERS_MAX = 256, /* of all levels together */
};

const char *runqueue_state_name(enum runqueue_state s)
{
	static const char *const names[] = {"none", "ok", "off"};
	return names[s];
}

/* 0 for anything that is no number. */
static int32_t number_of(const char *name)
{
	int64_t n = 0;
	for (; *name; name++) {
		if (*name < '0' || *name > '9' || n > INT32_MAX / 10)
			return 0;
		n = n * 10 + (*name - '0');
	}
	return n <= INT32_MAX ? (int32_t)n : 0;
}

/* Our pid as this /proc numbers it, which can be that of another PID namespace than ours. 0: not there. */
static int32_t pid_of_self(int proc_fd)
{
	char text[16];
	ssize_t len = readlinkat(proc_fd, "self", text, sizeof text - 1);
	if (len < 0)
		return 0;
	text[len] = '\0';
	return number_of(text);
}

int processes_open(struct processes *p, const struct tree *t, unsigned max_threads, struct fault *f)
{
	*p = PROCESSES_CLOSED;
	int fd = tree_open_folder(t, "proc", f);
	if (fd < 0)
		return fd;
	p->proc_fd = fd;
	p->self = pid_of_self(fd);
	p->max = max_threads == 0 || max_threads > PROCESSES_THREADS_MAX ? PROCESSES_THREADS_MAX : max_threads;
	return 0;
}

void processes_forget(struct processes *p)
{
	for (unsigned i = 0; i < p->n; i++)
		textfile_close(&p->threads[i].schedstat);
	p->n = 0;
	p->n_threads = 0;
	p->n_processes = 0;
	p->partial = false;
}

void processes_close(struct processes *p)
{
	processes_forget(p);
	if (p->proc_fd >= 0)
		close(p->proc_fd);
	*p = PROCESSES_CLOSED;
}

/* ---- reading ---- */

static int read_thread(const struct thread_file *t, struct schedstat *out)
{
	char text[128];
	ssize_t len = textfile_reread(&t->schedstat, text, sizeof text);
	return len < 0 ? (int)len : kv_read_schedstat(text, out, NULL);
}

/* Order does not matter: the last one takes the place. */
static void drop(struct processes *p, unsigned i)
{
	textfile_close(&p->threads[i].schedstat);
	p->threads[i] = p->threads[--p->n];
}

/* A counter that steps back is no thread's: such a difference counts as 0. */
static uint64_t grown(uint64_t now, uint64_t before)
{
	return now > before ? now - before : 0;
}

static void add_difference(struct processes *p, struct thread_file *t, const struct schedstat *now)
{
	p->run_ns += grown(now->run_ns, t->run_ns);
	p->wait_ns += grown(now->wait_ns, t->wait_ns);
	t->run_ns = now->run_ns;
	t->wait_ns = now->wait_ns;
}

/* Without CONFIG_SCHED_INFO the files hold nothing but zeros; a thread that exists has run. */
static bool counts_nothing(const struct processes *p)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->threads[i].run_ns > 0)
			return false;
	return true;
}

void processes_read(struct processes *p, struct runqueue *out)
{
	for (unsigned i = 0; i < p->n;) {
		struct schedstat now;
		if (read_thread(&p->threads[i], &now) < 0) {
			/* ESRCH: it has ended, also when another one has got its number */
			drop(p, i);
			continue;
		}
		add_difference(p, &p->threads[i], &now);
		i++;
	}
	*out = (struct runqueue){
		.mono_ns = clock_mono_ns(),
		.run_ns = p->run_ns,
		.wait_ns = p->wait_ns,
		.threads_read = p->n,
		.threads = p->n_threads,
		.processes = p->n_processes,
		.partial = p->partial,
	};
	out->state = p->n_processes == 0 ? RUNQUEUE_NONE : counts_nothing(p) ? RUNQUEUE_OFF : RUNQUEUE_OK;
}

/* ---- the list of threads ---- */

static struct thread_file *find_thread(struct processes *p, int32_t pid, int32_t tid)
{
	for (unsigned i = 0; i < p->n; i++)
		if (p->threads[i].tid == tid && p->threads[i].pid == pid)
			return &p->threads[i];
	return NULL;
}

static void open_thread(struct processes *p, int task_fd, int32_t pid, int32_t tid)
{
	char name[32];
	struct schedstat now;
	struct thread_file new = {.pid = pid, .tid = tid, .wanted = true};
	if (p->n >= p->max) {
		p->partial = true;
		return;
	}
	snprintf(name, sizeof name, "%d/schedstat", tid);
	int rc = textfile_open_at(&new.schedstat, task_fd, name, NULL);
	if (rc == -EMFILE || rc == -ENFILE)
		p->partial = true;
	if (rc < 0)
		return;
	if (read_thread(&new, &now) < 0) {
		textfile_close(&new.schedstat);
		return;
	}
	new.run_ns = now.run_ns;
	new.wait_ns = now.wait_ns;
	p->threads[p->n++] = new;
}

/* A known thread may have ended and its number be another's by now: the next reading says so and drops it, and the next
 * refresh finds the other one. */
static void want_thread(struct processes *p, int task_fd, int32_t pid, int32_t tid)
{
	struct thread_file *known = find_thread(p, pid, tid);
	if (known)
		known->wanted = true;
	else
		open_thread(p, task_fd, pid, tid);
}

/* The threads of one process, up to a bound: of 10,000 threads the list alone would take 10 ms. */
static unsigned want_threads(struct processes *p, int task_fd, int32_t pid)
{
	enum { LISTED_MAX = 2 * PROCESSES_THREADS_MAX };
	_Alignas(struct dirent64) char entries[8192];
	unsigned listed = 0;
	ssize_t got;
	while (listed < LISTED_MAX && (got = getdents64(task_fd, entries, sizeof entries)) > 0) {
		for (ssize_t at = 0; at < got;) {
			const struct dirent64 *e = (const struct dirent64 *)(const void *)(entries + at);
			int32_t tid = number_of(e->d_name);
			at += e->d_reclen;
			if (tid == 0)
				continue;
			listed++;
			want_thread(p, task_fd, pid, tid);
		}
	}
	return listed;
}

/* The number of links of /proc/PID/task is 2 + threads; recorded trees on some file systems say 1. */
static unsigned count_threads(int task_fd, unsigned listed)
{
	struct stat s;
	if (fstat(task_fd, &s) < 0 || s.st_nlink <= 2 || s.st_nlink - 2 < listed)
		return listed;
	return (unsigned)s.st_nlink - 2;
}

static void want_process(struct processes *p, int32_t pid)
{
	char name[32];
	if (pid <= 0 || pid == p->self)
		return;
	if (++p->visited > VISITED_MAX) {
		p->partial = true;
		p->n_processes++;
		return;
	}
	snprintf(name, sizeof name, "%d/task", pid);
	CLEANUP_CLOSE int task_fd = openat(p->proc_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (task_fd < 0) {
		p->partial |= errno == EMFILE || errno == ENFILE;
		return;
	}
	unsigned listed = want_threads(p, task_fd, pid);
	unsigned threads = count_threads(task_fd, listed);
	p->partial |= threads > listed;
	p->n_threads += threads;
	p->n_processes++;
}

static void begin_refresh(struct processes *p)
{
	p->partial = false;
	p->visited = 0;
	p->n_threads = 0;
	p->n_processes = 0;
	for (unsigned i = 0; i < p->n; i++)
		p->threads[i].wanted = false;
}

static void end_refresh(struct processes *p)
{
	for (unsigned i = 0; i < p->n;) {
		if (p->threads[i].wanted)
			i++;
		else
			drop(p, i);
	}
}

void processes_refresh(struct processes *p, const int32_t *pids, size_t n, unsigned n_processes)
{
	begin_refresh(p);
	for (size_t i = 0; i < n; i++)
		want_process(p, pids[i]);
	/* those that have ended since they were listed are no loss; those that were not listed are */
	if (n_processes > n) {
		p->n_processes += n_processes - (unsigned)n;
		p->partial = true;
	}
	end_refresh(p);
}

/* ---- the processes of a cgroup ---- */

/* One pid a line, read piece by piece: a line may be cut by the end of a piece. */
struct pid_lines {
	int64_t pid;
	bool any;
};

static void take_characters(struct processes *p, struct pid_lines *line, const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		if (text[i] >= '0' && text[i] <= '9' && line->pid <= INT32_MAX) {
			line->pid = line->pid * 10 + (text[i] - '0');
			line->any = true;
		} else {
			if (line->any && line->pid <= INT32_MAX)
				want_process(p, (int32_t)line->pid);
			*line = (struct pid_lines){0};
		}
	}
}

static int want_cgroup_procs(struct processes *p, int folder_fd)
{
	struct textfile file;
	struct pid_lines line = {0};
	char text[4096];
	int rc = textfile_open_at(&file, folder_fd, "cgroup.procs", NULL);
	if (rc < 0)
		return rc;
	ssize_t got;
	while ((got = read(file.fd, text, sizeof text)) > 0)
		take_characters(p, &line, text, (size_t)got);
	rc = got < 0 ? -errno : 0;
	textfile_close(&file);
	return rc;
}

struct walk {
	struct processes *p;
	unsigned folders;
};

static void want_below(struct walk *w, int folder_fd, int depth);

static void want_folder(struct walk *w, int parent_fd, const char *name, int depth)
{
	if (name[0] == '.' || ++w->folders > CGROUP_FOLDERS_MAX) {
		w->p->partial |= w->folders > CGROUP_FOLDERS_MAX;
		return;
	}
	CLEANUP_CLOSE int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd < 0)
		return;
	/* a threaded cgroup has no list of processes: its threads belong to one above */
	(void)want_cgroup_procs(w->p, fd);
	want_below(w, fd, depth + 1);
}

static void want_below(struct walk *w, int folder_fd, int depth)
{
	_Alignas(struct dirent64) char entries[4096];
	ssize_t got;
	while (depth < CGROUP_DEPTH_MAX && (got = getdents64(folder_fd, entries, sizeof entries)) > 0) {
		for (ssize_t at = 0; at < got;) {
			const struct dirent64 *e = (const struct dirent64 *)(const void *)(entries + at);
			at += e->d_reclen;
			if (e->d_type == DT_DIR)
				want_folder(w, folder_fd, e->d_name, depth);
		}
	}
}

int processes_refresh_cgroup(struct processes *p, const struct cgroup_target *target, struct fault *f)
{
	CLEANUP_CLOSE int fd = cgroup_place_open(&target->cpu, &target->tree, f);
	begin_refresh(p);
	int rc = fd < 0 ? fd : want_cgroup_procs(p, fd);
	if (rc == 0)
		want_below(&(struct walk){.p = p}, fd, 0);
	end_refresh(p);
	if (rc < 0 && fd >= 0)
		fault_set(f, -rc, "cannot list the processes of cgroup %s", target->cpu.name);
	return rc;
}
