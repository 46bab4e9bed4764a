#include "fleet.h"

#include <string.h>

void fleet_open_node(struct fleet *fleet, const struct tree *t)
{
	CLEANUP_CLOSE int proc = tree_open_folder(t, "proc", NULL);
	fleet->proc_stat = TEXTFILE_CLOSED;
	if (proc >= 0)
		(void)(textfile_open_at(&fleet->proc_stat, proc, "stat", NULL) == 0);
}

static const struct cpu_ticks *read_ticks(const struct fleet *fleet, struct cpu_ticks *ticks)
{
	/* the first line is all that is wanted, and the file can be long: a full buffer is fine here */
	char text[512];
	ssize_t n = fleet->proc_stat.fd < 0 ? -1 : pread(fleet->proc_stat.fd, text, sizeof text - 1, 0);
	if (n <= 0)
		return NULL;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return kv_read_cpu_ticks(text, ticks, NULL) == 0 ? ticks : NULL;
}

void fleet_take_witnesses(const struct fleet *fleet, struct watch *w)
{
	struct cpu_ticks ticks;
	watch_take_witnesses(w, read_ticks(fleet, &ticks));
}

int fleet_sample_full(const struct fleet *fleet, struct watch *w, struct fault *f)
{
	int rc = watch_sample(w, SNAPSHOT_FULL, f);
	if (rc == 0)
		fleet_take_witnesses(fleet, w);
	return rc;
}
