#include "discover.h"

#include "clock.h"
#include "discover_names.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
	SCAN_PROCESSES_MAX = 65536,
	MEMBERS_MAX = 4096, /* processes that are remembered, of all containers */
	MEMBERS_OF_ONE_MAX = 256,
	/* A new container can be seen before its runtime has set up its mounts: its name is looked for again. */
	NAME_TRIES_MAX = 8,
};

/* A process through which the container could be looked at. */
struct candidate {
	int32_t pid;
	bool ours; /* its files belong to our uid and gid: the kernel gives them to root when it is not dumpable */
};

/* A container. Free when n.id is empty: indices stay valid for as long as it lives. */
struct slot {
	struct neighbour n;
	int32_t kept; /* the first candidate of the last scan */
	unsigned n_candidates;
	struct candidate candidates[NEIGHBOUR_PIDS_MAX];
	unsigned name_tries;
	bool has_process_1;
	bool is_pause;
	bool published; /* is in the list */
};

struct member {
	int32_t pid;
	uint16_t slot;
};

/* A scan that is under way. */
struct progress {
	bool running;
	int round;       /* see begin_again() */
	unsigned seen;   /* processes */
	ssize_t at, len; /* in `entries` */
	int64_t cpu_ns;
	bool changed;
};

struct discovery_state {
	int proc_fd;
	struct progress scan;
	char wanted[CONTAINER_ID_LEN + 1]; /* --container; "" = all */
	bool truncated;
	bool relative; /* a path of this scan began with "/.." */
	struct slot slots[NEIGHBOURS_MAX];
	size_t n_members;
	struct member members[MEMBERS_MAX];
	char own_cgroup[16384];
	char text[16384]; /* cgroup and mountinfo of one process */
	_Alignas(struct dirent64) char entries[32768];
};

const char *discovery_way_name(enum discovery_way way)
{
	static const char *const names[] = {
		"not in a container",
		"no other container is visible",
		"shared PID namespace",
	};
	return names[way];
}

const char *neighbour_label(const struct neighbour *n, char out[NEIGHBOUR_NAME_SIZE])
{
	if (n->name[0])
		snprintf(out, NEIGHBOUR_NAME_SIZE, "%s", n->name);
	else
		snprintf(out, NEIGHBOUR_NAME_SIZE, "%.12s", n->id);
	return out;
}

/* ---- the table of containers ---- */

static struct slot *find_slot(struct discovery_state *st, const char *id)
{
	for (size_t i = 0; i < NEIGHBOURS_MAX; i++)
		if (strcmp(st->slots[i].n.id, id) == 0)
			return &st->slots[i];
	return NULL;
}

static struct slot *slot_for(struct discovery_state *st, const char *id)
{
	struct slot *slot = find_slot(st, id);
	if (slot)
		return slot;
	slot = find_slot(st, "");
	if (slot)
		memcpy(slot->n.id, id, sizeof slot->n.id);
	else
		st->truncated = true;
	return slot;
}

/* Whether a is to be tried before b. */
static bool is_better(const struct slot *slot, const struct candidate *a, const struct candidate *b)
{
	if (a->ours != b->ours)
		return a->ours;
	if (a->pid == slot->kept || b->pid == slot->kept)
		return a->pid == slot->kept;
	return a->pid < b->pid;
}

static void add_candidate(struct slot *slot, struct candidate new)
{
	unsigned at = slot->n_candidates;
	while (at > 0 && is_better(slot, &new, &slot->candidates[at - 1]))
		at--;
	if (at == NEIGHBOUR_PIDS_MAX)
		return;
	if (slot->n_candidates < NEIGHBOUR_PIDS_MAX)
		slot->n_candidates++;
	for (unsigned i = slot->n_candidates - 1; i > at; i--)
		slot->candidates[i] = slot->candidates[i - 1];
	slot->candidates[at] = new;
}

static void add_process(struct discovery_state *st, struct slot *slot, struct candidate new)
{
	add_candidate(slot, new);
	slot->has_process_1 |= new.pid == 1;
	if (slot->n.n_processes++ < MEMBERS_OF_ONE_MAX && st->n_members < MEMBERS_MAX)
		st->members[st->n_members++] = (struct member){new.pid, (uint16_t)(slot - st->slots)};
}

/* Whether the kernel would let us look into the process, guessed by the owner of its files. */
static bool is_ours(int fd)
{
	struct stat s;
	return fstat(fd, &s) == 0 && s.st_uid == geteuid() && s.st_gid == getegid();
}

/* 0 also for a process that has gone or may not be seen; an errno when we are short of something: then nothing that is
 * missing is gone. */
static int look_at_process(struct discovery_state *st, int32_t pid)
{
	char name[32];
	char id[CONTAINER_ID_LEN + 1];
	struct textfile file;
	snprintf(name, sizeof name, "%d/cgroup", pid);
	int rc = textfile_open_at(&file, st->proc_fd, name, NULL);
	if (rc < 0)
		return rc == -EMFILE || rc == -ENFILE || rc == -ENOMEM ? rc : 0;
	if (textfile_reread(&file, st->text, sizeof st->text) > 0 &&
	    discovery_container_of(st->own_cgroup, st->text, id, &st->relative)) {
		struct slot *slot = slot_for(st, id);
		if (slot)
			add_process(st, slot, (struct candidate){pid, is_ours(file.fd)});
	}
	textfile_close(&file);
	return 0;
}

/* 0 for anything that is no folder named by a number. */
static int32_t pid_of_entry(const struct dirent64 *e)
{
	int64_t pid = 0;
	if ((e->d_type != DT_DIR && e->d_type != DT_UNKNOWN) || e->d_name[0] == '0')
		return 0;
	for (const char *c = e->d_name; *c; c++) {
		if (*c < '0' || *c > '9' || pid > INT32_MAX / 10)
			return 0;
		pid = pid * 10 + (*c - '0');
	}
	return pid <= INT32_MAX ? (int32_t)pid : 0;
}

/* The next piece of the list of processes. 1: there is one, 0: that was all. */
static int next_entries(struct discovery_state *st)
{
	struct progress *scan = &st->scan;
	if (scan->seen >= SCAN_PROCESSES_MAX) {
		st->truncated = true;
		return 0;
	}
	scan->at = 0;
	scan->len = getdents64(st->proc_fd, st->entries, sizeof st->entries);
	if (scan->len < 0)
		return -errno;
	return scan->len > 0;
}

/* Up to 16 processes, so that the clock is not read for each. 1: there are more, 0: that was all. */
static int look_at_some(struct discovery_state *st)
{
	enum { SOME = 16 };
	struct progress *scan = &st->scan;
	for (int i = 0; i < SOME;) {
		if (scan->at >= scan->len) {
			int rc = next_entries(st);
			if (rc <= 0)
				return rc;
		}
		const struct dirent64 *e = (const struct dirent64 *)(const void *)(st->entries + scan->at);
		int32_t pid = pid_of_entry(e);
		scan->at += e->d_reclen;
		if (pid == 0)
			continue;
		scan->seen++;
		i++;
		int rc = look_at_process(st, pid);
		if (rc < 0)
			return rc;
	}
	return 1;
}

/* ---- judging what was seen ---- */

static bool is_called_pause(const struct discovery_state *st, int32_t pid)
{
	char name[32];
	char comm[32];
	snprintf(name, sizeof name, "%d/comm", pid);
	if (textfile_read_at(st->proc_fd, name, comm, sizeof comm, NULL) < 0)
		return false;
	comm[strcspn(comm, "\n")] = '\0';
	/* catatonit is the one of podman */
	return strcmp(comm, "pause") == 0 || strcmp(comm, "catatonit") == 0;
}

static void learn(struct discovery_state *st, struct slot *slot)
{
	slot->n.n_pids = slot->n_candidates;
	for (unsigned i = 0; i < slot->n_candidates; i++)
		slot->n.pids[i] = slot->candidates[i].pid;
	slot->kept = slot->n.pids[0];
	slot->is_pause = (slot->has_process_1 && is_called_pause(st, 1)) ||
			 (slot->n.n_processes == 1 && is_called_pause(st, slot->kept));
	if (!slot->is_pause && !slot->n.name[0] && slot->name_tries < NAME_TRIES_MAX) {
		char name[32];
		slot->name_tries++;
		snprintf(name, sizeof name, "%d/mountinfo", slot->kept);
		discovery_read_names(st->proc_fd, name, st->text, sizeof st->text, slot->n.pod_uid, slot->n.name);
	}
}

static bool is_wanted(const struct discovery_state *st, const struct neighbour *n)
{
	size_t len = strlen(st->wanted);
	return len == 0 || strcmp(st->wanted, n->name) == 0 || (len >= 4 && strncmp(st->wanted, n->id, len) == 0);
}

static bool is_neighbour(const struct discovery *d, const struct slot *slot)
{
	bool foreign = d->own_pod_uid[0] && slot->n.pod_uid[0] && strcmp(d->own_pod_uid, slot->n.pod_uid) != 0;
	return slot->n.id[0] && !slot->is_pause && !foreign;
}

/* Puts the slots into the list. Returns whether it holds other containers than before. */
static bool publish(struct discovery *d)
{
	bool changed = false;
	d->n = 0;
	for (size_t i = 0; i < NEIGHBOURS_MAX; i++) {
		struct slot *slot = &d->state->slots[i];
		bool publish_it = is_neighbour(d, slot) && is_wanted(d->state, &slot->n);
		slot->n.is_new = publish_it && !slot->published;
		changed |= publish_it != slot->published;
		slot->published = publish_it;
		if (publish_it)
			d->list[d->n++] = slot->n;
	}
	return changed;
}

static enum discovery_way judge_way(const struct discovery *d)
{
	if (d->way == DISCOVERY_SHARED)
		return DISCOVERY_SHARED;
	if (!d->state->relative && !discovery_has_id(d->state->own_cgroup))
		return DISCOVERY_NOT_CONTAINED;
	/* pause counts as a neighbour here if it is process 1: with hostPID the pauses of all pods can be seen */
	for (size_t i = 0; i < NEIGHBOURS_MAX; i++) {
		const struct slot *slot = &d->state->slots[i];
		if (is_neighbour(d, slot) || (slot->n.id[0] && slot->has_process_1))
			return DISCOVERY_SHARED;
	}
	return DISCOVERY_ALONE;
}

/* Returns how many places became free; *listed is set when one of them was in the list. */
static unsigned drop_gone(struct discovery_state *st, bool *listed)
{
	unsigned dropped = 0;
	for (size_t i = 0; i < NEIGHBOURS_MAX; i++) {
		struct slot *slot = &st->slots[i];
		if (!slot->n.id[0] || slot->n.n_processes > 0)
			continue;
		*listed |= slot->published;
		*slot = (struct slot){0};
		dropped++;
	}
	return dropped;
}

/* From the beginning of the list of processes. */
static int begin_round(struct discovery_state *st)
{
	st->truncated = false;
	st->relative = false;
	st->n_members = 0;
	st->scan.seen = 0;
	st->scan.at = st->scan.len = 0;
	for (size_t i = 0; i < NEIGHBOURS_MAX; i++) {
		struct slot *slot = &st->slots[i];
		slot->n.n_processes = 0;
		slot->n_candidates = 0;
		slot->has_process_1 = false;
	}
	return lseek(st->proc_fd, 0, SEEK_SET) < 0 ? -errno : 0;
}

static int begin_scan(struct discovery_state *st, struct fault *f)
{
	ssize_t len = textfile_read_at(st->proc_fd, "self/cgroup", st->own_cgroup, sizeof st->own_cgroup, f);
	if (len < 0)
		return fault_prefix(f, (int)len, "looking for neighbours: our own cgroup in /proc");
	int rc = begin_round(st);
	if (rc < 0)
		return fault_set(f, -rc, "looking for neighbours: cannot list /proc");
	st->scan.running = true;
	st->scan.round = 0;
	st->scan.cpu_ns = 0;
	st->scan.changed = false;
	return 0;
}

/* All processes were seen. A second round when the table was full of containers that are gone. */
static int end_round(struct discovery_state *st)
{
	bool freed = drop_gone(st, &st->scan.changed) > 0;
	if (!freed || !st->truncated || st->scan.round++ > 0)
		return 0;
	int rc = begin_round(st);
	return rc < 0 ? rc : 1;
}

static int look_for(struct discovery_state *st, int64_t began_ns, int64_t budget_ns)
{
	int rc;
	do {
		rc = look_at_some(st);
		if (rc == 0)
			rc = end_round(st);
	} while (rc > 0 && (budget_ns <= 0 || clock_thread_cpu_ns() - began_ns < budget_ns));
	return rc;
}

static void conclude(struct discovery *d)
{
	struct discovery_state *st = d->state;
	for (size_t i = 0; i < NEIGHBOURS_MAX; i++)
		if (st->slots[i].n.id[0])
			learn(st, &st->slots[i]);
	st->scan.changed |= publish(d);
	d->way = judge_way(d);
	d->truncated = st->truncated;
}

int discovery_step(struct discovery *d, int64_t budget_ns, struct fault *f)
{
	struct discovery_state *st = d->state;
	int64_t began_ns = clock_thread_cpu_ns();
	int rc = st->scan.running ? 0 : begin_scan(st, f);
	if (rc < 0)
		return rc;
	rc = look_for(st, began_ns, budget_ns);
	if (rc == 0)
		conclude(d);
	st->scan.cpu_ns += clock_thread_cpu_ns() - began_ns;
	if (rc > 0)
		return DISCOVERY_MORE;
	st->scan.running = false;
	d->scan_cpu_ns = st->scan.cpu_ns;
	return rc < 0 ? fault_set(f, -rc, "looking for neighbours: cannot list /proc") : st->scan.changed;
}

int discovery_scan(struct discovery *d, struct fault *f)
{
	d->state->scan.running = false;
	return discovery_step(d, 0, f);
}

bool neighbour_owns(const struct neighbour *n, const struct cgroup_target *target)
{
	const char *names[] = {target->cpu.name, target->cpuacct.name, target->v2.name};
	for (size_t i = 0; i < ARRAY_LEN(names); i++)
		if (names[i] && strstr(names[i], n->id))
			return true;
	return false;
}

/* ---- the rest ---- */

static int check_wanted(const char *container, struct fault *f)
{
	static const char allowed[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.";
	size_t len = strlen(container);
	if (len == 0 || len > CONTAINER_ID_LEN || container[strspn(container, allowed)])
		return fault_set(f, -EINVAL,
				 "--container '%s' is neither a container's name nor the beginning of its id",
				 container);
	return 0;
}

int discovery_open(struct discovery *d, const struct tree *t, const char *container, struct fault *f)
{
	*d = DISCOVERY_CLOSED;
	if (container && check_wanted(container, f) < 0)
		return -EINVAL;
	CLEANUP_CLOSE int proc = tree_open_folder(t, "proc", f);
	if (proc < 0)
		return proc;
	struct discovery_state *st = calloc(1, sizeof *st);
	if (!st)
		return fault_set(f, ENOMEM, "looking for neighbours");
	st->proc_fd = TAKE_FD(proc);
	if (container)
		snprintf(st->wanted, sizeof st->wanted, "%s", container);
	d->state = st;
	discovery_read_names(st->proc_fd, "self/mountinfo", st->text, sizeof st->text, d->own_pod_uid, d->own_name);
	return 0;
}

int64_t discovery_pause_ns(const struct discovery *d)
{
	const int64_t least = 3 * NSEC_PER_SEC;
	const int64_t most = 60 * NSEC_PER_SEC;
	int64_t pause = d->scan_cpu_ns * 500;
	return pause < least ? least : pause > most ? most : pause;
}

size_t discovery_pids(const struct discovery *d, const char *id, int32_t *pids, size_t max)
{
	const struct slot *slot = d->state ? find_slot(d->state, id) : NULL;
	size_t n = 0;
	for (size_t i = 0; slot && id[0] && n < max && i < d->state->n_members; i++)
		if (d->state->members[i].slot == slot - d->state->slots)
			pids[n++] = d->state->members[i].pid;
	return n;
}

const struct neighbour *discovery_find(const struct discovery *d, const char *id)
{
	for (size_t i = 0; i < d->n; i++)
		if (strcmp(d->list[i].id, id) == 0)
			return &d->list[i];
	return NULL;
}

void discovery_close(struct discovery *d)
{
	if (d->state)
		close(d->state->proc_fd);
	free(d->state);
	*d = DISCOVERY_CLOSED;
}
