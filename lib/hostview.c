#include "hostview.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

enum {
	WALK_DEPTH_MAX = 5,
	WALK_FOLDERS_MAX = 100000, /* a hostile or broken tree ends here, not in an endless walk */
	MOUNTINFO_MAX = 16 << 20,
};

/* ---- names ---- */

static bool is_container_id(const char *text, size_t len)
{
	if (len != CONTAINER_ID_LEN)
		return false;
	for (size_t i = 0; i < len; i++)
		if (!((text[i] >= '0' && text[i] <= '9') || (text[i] >= 'a' && text[i] <= 'f')))
			return false;
	return true;
}

bool hostview_container_id(const char *folder_name, char id[CONTAINER_ID_LEN + 1])
{
	static const char *const prefixes[] = {"cri-containerd-", "crio-", "docker-", "libpod-"};
	const char *colon = strrchr(folder_name, ':');
	const char *p = colon ? colon + 1 : folder_name;
	for (size_t i = 0; !colon && i < ARRAY_LEN(prefixes); i++) {
		if (strncmp(p, prefixes[i], strlen(prefixes[i])) == 0) {
			p += strlen(prefixes[i]);
			break;
		}
	}
	size_t len = strlen(p);
	if (len > 6 && strcmp(p + len - 6, ".scope") == 0)
		len -= 6;
	if (!is_container_id(p, len))
		return false;
	memcpy(id, p, len);
	id[len] = '\0';
	return true;
}

/* "pod<uid>" with the dashes as systemd needs them, in wanted. */
static void pod_name(const char *pod_uid, bool systemd, char wanted[128])
{
	snprintf(wanted, 128, "pod%s%s", pod_uid, systemd ? ".slice" : "");
	for (char *c = wanted; systemd && *c; c++)
		if (*c == '-')
			*c = '_';
}

bool hostview_is_pod(const char *folder_name, const char *pod_uid)
{
	char plain[128];
	char slice[128];
	pod_name(pod_uid, false, plain);
	pod_name(pod_uid, true, slice);
	size_t len = strlen(folder_name);
	size_t slice_len = strlen(slice);
	if (strcmp(folder_name, plain) == 0)
		return true;
	return len >= slice_len && strcmp(folder_name + len - slice_len, slice) == 0 &&
	       (len == slice_len || folder_name[len - slice_len - 1] == '-');
}

/* "<...>pod<uid>.slice:cri-containerd:<id>" */
static bool is_untranslated(const char *folder_name, const char *pod_uid)
{
	char slice[128];
	pod_name(pod_uid, true, slice);
	const char *at = strstr(folder_name, slice);
	return at && at[strlen(slice)] == ':';
}

/* ---- hierarchies ---- */

static char **point_of(struct hostview *v, bool is_v2, unsigned controller)
{
	if (is_v2)
		return &v->v2_point;
	return controller == CONTROLLER_CPU       ? &v->cpu_point
	       : controller == CONTROLLER_CPUACCT ? &v->cpuacct_point
						  : &v->cpuset_point;
}

static void take_mount(struct hostview *v, bool is_v2, unsigned controllers, const char *point)
{
	static const unsigned wanted[] = {CONTROLLER_CPU, CONTROLLER_CPUACCT, CONTROLLER_CPUSET};
	for (size_t i = 0; i < ARRAY_LEN(wanted); i++) {
		if (!is_v2 && !(controllers & wanted[i]))
			continue;
		char **into = point_of(v, is_v2, wanted[i]);
		if (!*into)
			*into = strdup(point);
	}
}

static void set_version(struct hostview *v)
{
	bool v1 = v->cpu_point || v->cpuacct_point || v->cpuset_point;
	v->version = v->v2_point && v1 ? CGROUP_HYBRID : v->v2_point ? CGROUP_V2 : v1 ? CGROUP_V1 : CGROUP_NO_VERSION;
}

static void find_by_mounts(struct hostview *v, const struct tree *t, const char *mount)
{
	CLEANUP_FREE char *text = NULL;
	struct cgroup_mounts mounts;
	if (textfile_load_tree(t, "proc/self/mountinfo", MOUNTINFO_MAX, &text, NULL) < 0)
		return;
	if (mounts_parse(text, &mounts, NULL) < 0)
		return;
	for (size_t i = 0; i < mounts.n; i++)
		if (mounts_below(mount, mounts.list[i].point))
			take_mount(v, mounts.list[i].is_v2, mounts.list[i].controllers, mounts.list[i].point);
	mounts_release(&mounts);
}

static bool has_file(const struct tree *t, const char *folder, const char *name)
{
	CLEANUP_CLOSE int fd = tree_open_folder(t, folder, NULL);
	return fd >= 0 && faccessat(fd, name, F_OK, AT_SYMLINK_NOFOLLOW) == 0;
}

/* A copied or re-exported tree has no mounts: its folders are named by their controllers. */
static void find_by_files(struct hostview *v, const struct tree *t, const char *mount)
{
	if (has_file(t, mount, "cgroup.controllers")) {
		take_mount(v, true, 0, mount);
		return;
	}
	int fd = tree_open_folder(t, mount, NULL);
	CLEANUP_CLOSEDIR DIR *dir = fd < 0 ? NULL : fdopendir(fd);
	for (struct dirent *e; dir && (e = readdir(dir));) {
		char point[HEADROOM_PATH_MAX];
		unsigned controllers = mounts_controllers(e->d_name, strlen(e->d_name));
		if (e->d_name[0] == '.' || e->d_type == DT_LNK ||
		    snprintf(point, sizeof point, "%s/%s", mount, e->d_name) >= (int)sizeof point)
			continue;
		if (has_file(t, point, "cgroup.controllers"))
			take_mount(v, true, 0, point);
		else if (has_file(t, point, "cgroup.procs"))
			take_mount(v, false, controllers, point);
	}
}

int hostview_open(struct hostview *out, const struct tree *t, const char *mount, struct fault *f)
{
	char clean[HEADROOM_PATH_MAX];
	*out = (struct hostview){0};
	size_t len = strlen(mount);
	while (len > 1 && mount[len - 1] == '/')
		len--;
	if (mount[0] != '/' || len >= sizeof clean)
		return fault_set(f, -EINVAL, "--host-cgroup '%s' must be an absolute path", mount);
	memcpy(clean, mount, len);
	clean[len] = '\0';
	find_by_mounts(out, t, clean);
	set_version(out);
	if (out->version == CGROUP_NO_VERSION)
		find_by_files(out, t, clean);
	set_version(out);
	if (out->version == CGROUP_NO_VERSION)
		return fault_set(f, -ENOENT, "%s is no cgroup tree: mount the host's /sys/fs/cgroup there, read-only",
				 clean);
	return 0;
}

void hostview_close(struct hostview *v)
{
	free(v->cpu_point);
	free(v->cpuacct_point);
	free(v->cpuset_point);
	free(v->v2_point);
	*v = (struct hostview){0};
}

/* ---- the walk ---- */

struct walk {
	const char *pod_uid;
	const char *container_id;
	struct host_pod *pod;
	unsigned folders;
	bool done; /* the pod was found and looked through */
	int rc;
};

static int add_container(struct host_pod *pod, const char *id, const char *below)
{
	struct host_container *list = realloc(pod->containers, (pod->n + 1) * sizeof *list);
	if (!list)
		return -ENOMEM;
	pod->containers = list;
	struct host_container *new = &list[pod->n];
	memcpy(new->id, id, sizeof new->id);
	new->below = strdup(below);
	if (!new->below)
		return -ENOMEM;
	pod->n++;
	return 0;
}

/* The order of a folder's entries is of no meaning and changes. */
static int compare_containers(const void *a, const void *b)
{
	return strcmp(((const struct host_container *)a)->below, ((const struct host_container *)b)->below);
}

static bool is_folder(int dir_fd, const struct dirent *e)
{
	struct stat s;
	if (strcmp(e->d_name, ".") == 0 || strcmp(e->d_name, "..") == 0)
		return false;
	if (e->d_type != DT_UNKNOWN)
		return e->d_type == DT_DIR;
	return fstatat(dir_fd, e->d_name, &s, AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(s.st_mode);
}

static void visit(struct walk *w, int folder_fd, const char *below, int depth, bool in_pod);

static bool id_begins(const char *id, const char *wanted)
{
	return wanted && strncmp(id, wanted, strlen(wanted)) == 0;
}

/* One folder of the tree. Returns whether to look inside. */
static bool judge(struct walk *w, const char *name, const char *below, bool in_pod)
{
	char id[CONTAINER_ID_LEN + 1];
	bool is_container = hostview_container_id(name, id);
	bool wanted = w->pod_uid ? in_pod || is_untranslated(name, w->pod_uid) : id_begins(id, w->container_id);
	if (is_container && wanted) {
		w->rc = add_container(w->pod, id, below);
		return false;
	}
	if (w->pod_uid && !in_pod && hostview_is_pod(name, w->pod_uid)) {
		w->pod->below = strdup(below);
		w->rc = w->pod->below ? 0 : -ENOMEM;
	}
	return !is_container && !in_pod;
}

static void enter(struct walk *w, int parent_fd, const char *name, const char *below, int depth, bool in_pod)
{
	int fd = openat(parent_fd, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
	if (fd >= 0)
		visit(w, fd, below, depth, in_pod);
}

/* Takes ownership of folder_fd. */
static void visit(struct walk *w, int folder_fd, const char *below, int depth, bool in_pod)
{
	CLEANUP_CLOSEDIR DIR *dir = fdopendir(folder_fd);
	if (!dir) {
		close(folder_fd);
		return;
	}
	for (struct dirent *e; w->rc == 0 && !w->done && (e = readdir(dir));) {
		char child[HEADROOM_PATH_MAX];
		if (!is_folder(dirfd(dir), e) || ++w->folders > WALK_FOLDERS_MAX ||
		    snprintf(child, sizeof child, "%s/%s", below, e->d_name) >= (int)sizeof child)
			continue;
		bool had_pod = w->pod->below != NULL;
		bool inside = judge(w, e->d_name, child, in_pod);
		bool found_pod = !had_pod && w->pod->below;
		if (inside && (found_pod || depth < WALK_DEPTH_MAX))
			enter(w, dirfd(dir), e->d_name, child, depth + 1, found_pod);
		w->done |= found_pod;
	}
}

const struct host_container *host_pod_container(const struct host_pod *p, const char *container_id)
{
	for (size_t i = 0; i < p->n; i++)
		if (id_begins(p->containers[i].id, container_id))
			return &p->containers[i];
	return NULL;
}

static int check_query(const char *pod_uid, const char *container_id, struct fault *f)
{
	static const char safe[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_";
	if (pod_uid && (!*pod_uid || strlen(pod_uid) > 100 || pod_uid[strspn(pod_uid, safe)]))
		return fault_set(f, -EINVAL, "'%s' is no pod uid: take metadata.uid of the pod", pod_uid);
	if (container_id && (strlen(container_id) < 12 || strlen(container_id) > CONTAINER_ID_LEN ||
			     container_id[strspn(container_id, "0123456789abcdef")]))
		return fault_set(f, -EINVAL,
				 "'%s' is no container id: 12 to 64 hexadecimal digits, without containerd://",
				 container_id);
	if (!pod_uid && !container_id)
		return fault_set(f, -EINVAL, "--host-cgroup needs --pod-uid or --container-id");
	return 0;
}

/* The beginning of an id must tell one container from all others: a wrong one would be watched silently. */
static int check_unique(const struct host_pod *p, const char *container_id, struct fault *f)
{
	size_t fits = 0;
	for (size_t i = 0; i < p->n; i++)
		fits += id_begins(p->containers[i].id, container_id);
	if (fits <= 1)
		return 0;
	return fault_set(f, -EINVAL, "the container id %s fits %zu containers: give more of its digits", container_id,
			 fits);
}

int hostview_find(struct host_pod *out, const struct hostview *v, const struct tree *t, const char *pod_uid,
		  const char *container_id, struct fault *f)
{
	const char *top = v->cpu_point ? v->cpu_point : v->v2_point;
	struct walk w = {.pod_uid = pod_uid, .container_id = container_id, .pod = out};
	*out = (struct host_pod){0};
	int rc = check_query(pod_uid, container_id, f);
	if (rc < 0)
		return rc;
	int fd = tree_open_folder(t, top ? top : "", f);
	if (fd < 0)
		return fd;
	visit(&w, fd, "", 1, false);
	if (w.rc < 0)
		return fault_set(f, -w.rc, "the walk through %s", top);
	if (out->n > 1)
		qsort(out->containers, out->n, sizeof *out->containers, compare_containers);
	if (!out->below && out->n == 0)
		return fault_set(f, -ENOENT, "there is no cgroup of %s %s below %s (any more)",
				 pod_uid ? "pod" : "container", pod_uid ? pod_uid : container_id, top);
	return check_unique(out, container_id, f);
}

void host_pod_release(struct host_pod *p)
{
	for (size_t i = 0; i < p->n; i++)
		free(p->containers[i].below);
	free(p->containers);
	free(p->below);
	*p = (struct host_pod){0};
}

/* ---- targets ---- */

static int place(struct cgroup_place *out, enum hierarchy h, const char *point, const char *below)
{
	return point ? cgroup_place_make(out, h, "/", point, below) : 0;
}

int hostview_target(struct cgroup_target *out, const struct hostview *v, const struct tree *t, const char *below,
		    struct fault *f)
{
	bool v1 = v->cpu_point != NULL;
	const char *cpu_point = v1 ? v->cpu_point : v->v2_point;
	bool cpuset_v1 = v->cpuset_point != NULL;
	*out = CGROUP_TARGET_NONE;
	out->version = v->version;
	out->cpu_controller = v1 ? HIERARCHY_V1 : cpu_point ? HIERARCHY_V2 : HIERARCHY_NONE;
	if (!cpu_point)
		return fault_set(f, -ENOENT, "the hierarchy of the cpu controller is not in the host's tree");
	int rc = place(&out->cpu, out->cpu_controller, cpu_point, below);
	if (rc == 0)
		rc = place(&out->cpuacct, HIERARCHY_V1, v->cpuacct_point, below);
	if (rc == 0)
		rc = place(&out->cpuset, cpuset_v1 ? HIERARCHY_V1 : HIERARCHY_V2,
			   cpuset_v1 ? v->cpuset_point : v->v2_point, below);
	if (rc == 0)
		rc = place(&out->v2, HIERARCHY_V2, v->v2_point, below);
	int fd = rc == 0 ? dup(t->fd) : -1;
	if (fd < 0) {
		cgroup_target_release(out);
		return fault_set(f, ENOMEM, "cgroup %s", below);
	}
	out->tree = (struct tree){.fd = fd, .live = t->live};
	return 0;
}
