/* processes.h - how long the threads of one container waited for a CPU (schedstat): the witness that needs no right.
 *
 * /proc/PID/task/TID/schedstat is readable for every process that is visible, also where the container's cgroup is
 * denied. Its second number, the run-queue wait, grows while a thread could run and does not: because others have the
 * CPUs, or because a quota (its own or one above) has run out. The kernel adds a wait when it ends: one that goes on
 * shows nothing yet, so judge seconds, not single readings.
 *
 * The descriptors are kept: one reading costs 1 to 2.5 us of CPU a thread. Totals are sums of differences, so they
 * never step back: a thread counts from the first time it was seen, and one that ends loses what came after the last
 * reading. A descriptor belongs to its thread, not to the number: reading it after the thread's end gives ESRCH, also
 * when the number is in use again.
 *
 * Refreshing the list (every few seconds) and reading (every second) allocate nothing.
 */
#ifndef HEADROOM_SIDECAR_PROCESSES_H
#define HEADROOM_SIDECAR_PROCESSES_H

#include "cgroup.h"

enum { PROCESSES_THREADS_MAX = 256 }; /* threads whose descriptors are kept for one container */

enum runqueue_state {
	RUNQUEUE_NONE, /* no process of it is visible: no figures */
	RUNQUEUE_OK,
	RUNQUEUE_OFF, /* processes are visible, this kernel counts nothing (files absent, or all zero) */
};

const char *runqueue_state_name(enum runqueue_state s); /* "none", "ok", "off" */

/* One reading. Take differences of run_ns and wait_ns of two readings of the same `struct processes`. */
struct runqueue {
	int64_t mono_ns;
	enum runqueue_state state;
	uint64_t run_ns, wait_ns; /* since processes_open(), summed over the threads that were seen */
	unsigned threads_read;    /* threads behind this reading */
	unsigned threads;   /* threads there were at the last refresh; more than PROCESSES_THREADS_MAX is possible */
	unsigned processes; /* processes at the last refresh */
	bool partial;       /* not all threads are read: too many of them, or no descriptors left */
};

struct thread_file {
	int32_t pid, tid;
	struct textfile schedstat;
	uint64_t run_ns, wait_ns; /* as last read */
	bool wanted;              /* seen by the refresh that is under way */
};

/* About 12 kB; one for each container. */
struct processes {
	int proc_fd;  /* -1 = closed */
	int32_t self; /* our own pid in that /proc, which never counts; 0 = not in it */
	unsigned max; /* descriptors it may keep */
	unsigned n;   /* threads[0..n) are open */
	struct thread_file threads[PROCESSES_THREADS_MAX];
	unsigned n_threads, n_processes, visited;
	bool partial;
	uint64_t run_ns, wait_ns;
};

#define PROCESSES_CLOSED ((struct processes){.proc_fd = -1})

/* max_threads: how many descriptors it may keep, at most PROCESSES_THREADS_MAX; 0 = all of them. The process's limit of
 * descriptors (1,024 by default) is shared by all containers. */
int processes_open(struct processes *p, const struct tree *t, unsigned max_threads, struct fault *f) MUST_CHECK;

/* Renews the list of threads from pids (of discovery_pids()). `n_processes`: how many there are in all, when the list
 * was cut (else n). What is still there keeps its history; processes that have ended meanwhile are passed over. */
void processes_refresh(struct processes *p, const int32_t *pids, size_t n, unsigned n_processes);

/* The same with the pids in cgroup.procs of the target's folder (cpu controller) and the folders below it. Pids outside
 * of our PID namespace show as 0 there and are passed over; we ourselves do not count. 0, or a negative errno with a
 * sentence: -ENOENT or -ENODEV the cgroup is gone; after any failure the list is empty. */
int processes_refresh_cgroup(struct processes *p, const struct cgroup_target *target, struct fault *f);

/* Reads every kept descriptor and adds the differences. */
void processes_read(struct processes *p, struct runqueue *out);

/* Forgets the threads and keeps the totals (the container is gone, another one takes its place: close and open to begin
 * with zeros). */
void processes_forget(struct processes *p);

void processes_close(struct processes *p);

#endif
