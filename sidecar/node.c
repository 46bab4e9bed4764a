#include "node.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
	WALK_DEPTH_MAX = 5,        /* of a pod's folder, as in hostview.c */
	WALK_FOLDERS_MAX = 100000, /* a broken tree ends here, not in an endless walk */
};

/* ---- names ---- */

static bool is_lower_alnum(char c)
{
	return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9');
}

/* What Kubernetes accepts as a name: nothing else gets into a label. */
static bool copy_name(char *out, size_t size, const char *from, size_t len)
{
	if (len == 0 || len >= size)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!is_lower_alnum(from[i]) && from[i] != '-' && from[i] != '.')
			return false;
	memcpy(out, from, len);
	out[len] = '\0';
	return true;
}

static bool copy_uid(char out[NODE_UID_SIZE], const char *from, size_t len, char dash)
{
	if (len != 36 && len != 32)
		return false;
	for (size_t i = 0; i < len; i++) {
		bool is_dash = len == 36 && (i == 8 || i == 13 || i == 18 || i == 23);
		if (is_dash ? from[i] != dash : !is_lower_alnum(from[i]))
			return false;
		out[i] = is_dash ? '-' : from[i];
	}
	out[len] = '\0';
	return true;
}

/* The last "pod" that begins the name or follows a dash. */
static const char *find_pod(const char *name, size_t len)
{
	for (const char *p = name + len; p > name;) {
		p--;
		if ((size_t)(name + len - p) > 3 && strncmp(p, "pod", 3) == 0 && (p == name || p[-1] == '-'))
			return p + 3;
	}
	return NULL;
}

bool node_pod_uid(const char *folder_name, char uid[NODE_UID_SIZE])
{
	static const char slice[] = ".slice";
	const size_t slice_len = sizeof slice - 1;
	size_t len = strcspn(folder_name, ":");
	if (len > slice_len && strncmp(folder_name + len - slice_len, slice, slice_len) == 0) {
		const char *at = find_pod(folder_name, len - slice_len);
		return at && copy_uid(uid, at, (size_t)(folder_name + len - slice_len - at), '_');
	}
	return !folder_name[len] && strncmp(folder_name, "pod", 3) == 0 && copy_uid(uid, folder_name + 3, len - 3, '-');
}

bool node_parse_container_log(const char *file_name, struct node_entry *out)
{
	static const char ending[] = ".log";
	size_t len = strlen(file_name);
	const char *first = strchr(file_name, '_');
	const char *second = first ? strchr(first + 1, '_') : NULL;
	const size_t tail = CONTAINER_ID_LEN + 1 + sizeof ending - 1; /* -<id>.log */
	if (!second || len < tail || strcmp(file_name + len - (sizeof ending - 1), ending) != 0)
		return false;
	const char *dash = file_name + len - tail;
	char id[CONTAINER_ID_LEN + 1];
	memcpy(id, dash + 1, CONTAINER_ID_LEN);
	id[CONTAINER_ID_LEN] = '\0';
	*out = (struct node_entry){.below = NULL};
	return dash > second && *dash == '-' && hostview_container_id(id, out->id) &&
	       copy_name(out->pod, sizeof out->pod, file_name, (size_t)(first - file_name)) &&
	       copy_name(out->namespace_name, sizeof out->namespace_name, first + 1, (size_t)(second - first - 1)) &&
	       copy_name(out->container, sizeof out->container, second + 1, (size_t)(dash - second - 1));
}

bool node_parse_pod_log(const char *folder_name, struct node_entry *out)
{
	const char *first = strchr(folder_name, '_');
	const char *second = first ? strchr(first + 1, '_') : NULL;
	*out = (struct node_entry){.below = NULL};
	return second &&
	       copy_name(out->namespace_name, sizeof out->namespace_name, folder_name, (size_t)(first - folder_name)) &&
	       copy_name(out->pod, sizeof out->pod, first + 1, (size_t)(second - first - 1)) &&
	       copy_uid(out->uid, second + 1, strlen(second + 1), '-');
}

/* ---- lists ---- */

static struct node_entry *add(struct node_list *l)
{
	if (l->n == l->room) {
		size_t room = l->room ? 2 * l->room : 64;
		struct node_entry *list = realloc(l->entries, room * sizeof *list);
		if (!list)
			return NULL;
		l->entries = list;
		l->room = room;
	}
	l->entries[l->n] = (struct node_entry){.below = NULL};
	return &l->entries[l->n++];
}

void node_list_release(struct node_list *l)
{
	for (size_t i = 0; i < l->n; i++)
		free(l->entries[i].below);
	free(l->entries);
	*l = (struct node_list){.n = 0};
}

/* ---- the walk ---- */

struct walk {
	struct node_list *list;
	unsigned folders;
	int rc;
};

static void note(struct walk *w, const char *uid, const char *id, const char *below)
{
	struct node_entry *e = add(w->list);
	if (e) {
		memcpy(e->uid, uid, sizeof e->uid);
		snprintf(e->id, sizeof e->id, "%s", id);
		e->below = strdup(below);
	}
	if (!e || !e->below)
		w->rc = -ENOMEM;
}

static bool is_folder(int dir_fd, const struct dirent *e)
{
	struct stat s;
	if (e->d_name[0] == '.')
		return false;
	if (e->d_type != DT_UNKNOWN)
		return e->d_type == DT_DIR;
	return fstatat(dir_fd, e->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(s.st_mode);
}

static void visit(struct walk *w, int folder_fd, const char *below, int depth, const char *pod_uid);

static void look_at(struct walk *w, int dir_fd, const char *name, const char *below, int depth, const char *pod_uid)
{
	char id[CONTAINER_ID_LEN + 1];
	char uid[NODE_UID_SIZE] = "";
	bool is_container = hostview_container_id(name, id);
	bool is_pod = !pod_uid && node_pod_uid(name, uid);
	if (is_container && (pod_uid || is_pod)) {
		note(w, pod_uid ? pod_uid : uid, id, below);
		return;
	}
	/* a container in no pod has none below it, and what is beside the containers of a pod is no container */
	if (is_container || pod_uid)
		return;
	if (is_pod)
		note(w, uid, "", below);
	else if (depth >= WALK_DEPTH_MAX)
		return;
	int fd = openat(dir_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		visit(w, fd, below, depth + 1, is_pod ? uid : NULL);
}

/* Takes ownership of folder_fd. */
static void visit(struct walk *w, int folder_fd, const char *below, int depth, const char *pod_uid)
{
	CLEANUP_CLOSEDIR DIR *dir = fdopendir(folder_fd);
	if (!dir) {
		close(folder_fd);
		return;
	}
	for (struct dirent *e; w->rc == 0 && (e = readdir(dir));) {
		char child[HEADROOM_PATH_MAX];
		if (is_folder(dirfd(dir), e) && ++w->folders <= WALK_FOLDERS_MAX &&
		    snprintf(child, sizeof child, "%s/%s", below, e->d_name) < (int)sizeof child)
			look_at(w, dirfd(dir), e->d_name, child, depth, pod_uid);
	}
}

/* ---- names of all ---- */

static DIR *open_dir(const struct tree *t, const char *path)
{
	int fd = path ? tree_open_folder(t, path, NULL) : -1;
	DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	if (!dir && fd >= 0)
		close(fd);
	return dir;
}

static int by_id(const void *a, const void *b)
{
	const struct node_entry *x = a;
	const struct node_entry *y = b;
	return strcmp(x->id, y->id);
}

static int by_uid_and_id(const void *a, const void *b)
{
	const struct node_entry *x = a;
	const struct node_entry *y = b;
	int order = strcmp(x->uid, y->uid);
	return order ? order : strcmp(x->id, y->id);
}

static int by_uid(const void *a, const void *b)
{
	const struct node_entry *x = a;
	const struct node_entry *y = b;
	return strcmp(x->uid, y->uid);
}

static void read_container_logs(struct node_list *out, const struct tree *t, const char *path)
{
	CLEANUP_CLOSEDIR DIR *dir = open_dir(t, path);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct node_entry parsed;
		struct node_entry *new = node_parse_container_log(e->d_name, &parsed) ? add(out) : NULL;
		if (new)
			*new = parsed;
	}
	if (out->n)
		qsort(out->entries, out->n, sizeof *out->entries, by_id);
}

/* The name of the only folder in it, which is the only container's. */
static void only_container(int logs_fd, const char *folder, struct node_entry *of)
{
	int fd = openat(logs_fd, folder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	CLEANUP_CLOSEDIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	unsigned n = 0;
	for (struct dirent *e; dir && (e = readdir(dir));) {
		if (!is_folder(dirfd(dir), e))
			continue;
		if (n++ || !copy_name(of->container, sizeof of->container, e->d_name, strlen(e->d_name)))
			of->container[0] = '\0';
	}
	if (!dir && fd >= 0)
		close(fd);
}

static void read_pod_logs(struct node_list *out, const struct tree *t, const char *path)
{
	CLEANUP_CLOSEDIR DIR *dir = open_dir(t, path);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		struct node_entry parsed;
		struct node_entry *new = node_parse_pod_log(e->d_name, &parsed) ? add(out) : NULL;
		if (!new)
			continue;
		*new = parsed;
		only_container(dirfd(dir), e->d_name, new);
	}
	if (out->n)
		qsort(out->entries, out->n, sizeof *out->entries, by_uid);
}

static const struct node_entry *look_up(const struct node_list *l, const struct node_entry *key,
					int (*compare)(const void *, const void *))
{
	return l->n ? bsearch(key, l->entries, l->n, sizeof *l->entries, compare) : NULL;
}

static void take_names(struct node_entry *to, const struct node_entry *from)
{
	memcpy(to->namespace_name, from->namespace_name, sizeof to->namespace_name);
	memcpy(to->pod, from->pod, sizeof to->pod);
}

/* The containers of one pod, entries[from..to): all get the pod's names; with two folders, the second of a pod of one
 * container is its sandbox, and which of them is not known: then neither gets the name. */
static void name_pod(struct node_list *l, size_t from, size_t to, const struct node_list *containers,
		     const struct node_list *pods)
{
	const struct node_entry *pod = look_up(pods, &l->entries[from], by_uid);
	size_t n_containers = 0;
	for (size_t i = from; i < to; i++) {
		struct node_entry *e = &l->entries[i];
		const struct node_entry *log = e->id[0] ? look_up(containers, e, by_id) : NULL;
		n_containers += e->id[0] != '\0';
		if (log) {
			take_names(e, log);
			memcpy(e->container, log->container, sizeof e->container);
			if (!pod)
				pod = log;
		}
	}
	for (size_t i = from; pod && i < to; i++) {
		struct node_entry *e = &l->entries[i];
		take_names(e, pod);
		if (e->id[0] && !e->container[0] && n_containers == 1 && !pod->id[0])
			memcpy(e->container, pod->container, sizeof e->container);
	}
}

/* A pod of which some containers are named and others are not: those others are sandboxes. */
static size_t drop_sandboxes(struct node_list *l, size_t from, size_t to, size_t kept)
{
	bool any_named = false;
	for (size_t i = from; i < to; i++)
		any_named |= l->entries[i].container[0] != '\0';
	for (size_t i = from; i < to; i++) {
		struct node_entry e = l->entries[i];
		if (any_named && e.id[0] && !e.container[0])
			free(e.below);
		else
			l->entries[kept++] = e;
	}
	return kept;
}

static void name_all(struct node_list *l, const struct tree *t, const char *pod_logs, const char *container_logs)
{
	struct node_list containers = {.n = 0};
	struct node_list pods = {.n = 0};
	read_container_logs(&containers, t, container_logs);
	read_pod_logs(&pods, t, pod_logs);
	size_t kept = 0;
	if (l->n)
		qsort(l->entries, l->n, sizeof *l->entries, by_uid_and_id);
	for (size_t from = 0, to; from < l->n; from = to) {
		for (to = from + 1; to < l->n && strcmp(l->entries[to].uid, l->entries[from].uid) == 0;)
			to++;
		name_pod(l, from, to, &containers, &pods);
		kept = drop_sandboxes(l, from, to, kept);
	}
	l->n = kept;
	node_list_release(&containers);
	node_list_release(&pods);
}

int node_walk(struct node_list *out, const struct hostview *v, const struct tree *t, const char *pod_logs,
	      const char *container_logs, struct fault *f)
{
	const char *top = v->cpu_point ? v->cpu_point : v->v2_point;
	struct walk w = {.list = out};
	*out = (struct node_list){.n = 0};
	int fd = tree_open_folder(t, top ? top : "", f);
	if (fd < 0)
		return fd;
	visit(&w, fd, "", 1, NULL);
	if (w.rc < 0)
		return fault_set(f, -w.rc, "the walk through %s", top ? top : "the tree");
	name_all(out, t, pod_logs, container_logs);
	return 0;
}
