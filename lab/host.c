#include "host.h"

#include "textfile.h"

#include <sched.h>
#include <sys/utsname.h>

bool host_cpu_ticks(struct cpu_ticks *out)
{
	CLEANUP_TREE struct tree tree = TREE_CLOSED;
	CLEANUP_FREE char *text = NULL;
	if (tree_open(&tree, "/", NULL) < 0 || textfile_load_tree(&tree, "proc/stat", 1 << 20, &text, NULL) < 0)
		return false;
	return kv_read_cpu_ticks(text, out, NULL) == 0;
}

unsigned host_nproc(void)
{
	cpu_set_t set;
	/* the mask of a machine with more CPUs than fit fails: then what is configured is the best answer */
	if (sched_getaffinity(0, sizeof set, &set) == 0)
		return (unsigned)CPU_COUNT(&set);
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	return n > 0 ? (unsigned)n : 1;
}

void host_kernel(char *out, size_t size)
{
	struct utsname u;
	if (uname(&u) == 0)
		snprintf(out, size, "%s %s", u.sysname, u.release);
	else
		snprintf(out, size, "unknown kernel");
}
