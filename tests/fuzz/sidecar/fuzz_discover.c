/* fuzz_discover.c - names that neighbours choose: cgroup paths, mounts, folders and log files. The input: our own
 * /proc/self/cgroup, a neighbour's, and names.
 * seeds: cgroup mountinfo
 */
#include "../fuzz.h"
#include "sidecar/discover_text.h"
#include "sidecar/node.h"

static void check_id(const char *id)
{
	FUZZ_HOLDS(strlen(id) == CONTAINER_ID_LEN && strspn(id, "0123456789abcdef") == CONTAINER_ID_LEN);
}

/* Can be printed as it is: in a label, a sentence, a log line. */
static void check_word(const char *word, size_t size)
{
	static const char safe[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ-_.";
	FUZZ_HOLDS(strnlen(word, size) < size && word[strspn(word, safe)] == '\0');
}

static void check_membership(const char *own, const char *other)
{
	char id[CONTAINER_ID_LEN + 1] = "";
	bool relative = false;
	if (discovery_container_of(own, other, id, &relative)) {
		check_id(id);
		FUZZ_HOLDS(strstr(other, id));
	}
	/* nobody is his own neighbour, unless the path leads out of our own folder (or a hierarchy is there twice,
	 * which no kernel writes) */
	relative = false;
	if (!strchr(own, '\n') && discovery_container_of(own, own, id, &relative))
		FUZZ_HOLDS(relative);
	(void)discovery_has_id(own);
}

static void check_mounts(const char *text)
{
	char uid[POD_UID_SIZE] = "";
	char name[NEIGHBOUR_NAME_SIZE] = "";
	while (*text) {
		size_t len = strcspn(text, "\n");
		/* a line is not terminated */
		CLEANUP_FREE char *line = fuzz_copy(text, len);
		bool named = discovery_read_mount(line, len, uid, name);
		FUZZ_HOLDS(!named || name[0]);
		check_word(uid, sizeof uid);
		check_word(name, sizeof name);
		text += len + (text[len] == '\n');
	}
}

static void check_name(const char *name)
{
	char id[CONTAINER_ID_LEN + 1];
	char uid[NODE_UID_SIZE];
	struct node_entry e = {0};
	if (hostview_container_id(name, id))
		check_id(id);
	if (node_pod_uid(name, uid)) {
		check_word(uid, sizeof uid);
		/* where there is no other colon or slice, both ways of reading agree */
		FUZZ_HOLDS(strchr(name, ':') || hostview_is_pod(name, uid));
	}
	if (node_parse_container_log(name, &e)) {
		check_id(e.id);
		check_word(e.pod, sizeof e.pod);
		check_word(e.namespace_name, sizeof e.namespace_name);
		check_word(e.container, sizeof e.container);
	}
	e = (struct node_entry){0};
	if (node_parse_pod_log(name, &e)) {
		check_word(e.uid, sizeof e.uid);
		check_word(e.pod, sizeof e.pod);
		check_word(e.namespace_name, sizeof e.namespace_name);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct fuzz_input in = {data, size};
	CLEANUP_FREE char *own = fuzz_next_part(&in);
	CLEANUP_FREE char *other = fuzz_next_part(&in);
	check_membership(own, other);
	check_membership(other, own);
	check_mounts(own);
	CLEANUP_FREE char *names = fuzz_text(data, size);
	for (char *rest = names, *name; (name = strsep(&rest, "\n"));)
		check_name(name);
	return 0;
}
