/* host.h - the few figures about this machine that stand beside a result.
 */
#ifndef HEADROOM_LAB_HOST_H
#define HEADROOM_LAB_HOST_H

#include "kv.h"

/* The CPU time of all CPUs so far; false when /proc/stat cannot be read. */
bool host_cpu_ticks(struct cpu_ticks *out);

/* CPUs on which this process may run: what nproc (before 9.8) prints. */
unsigned host_nproc(void);

/* "Linux 6.1.0-13-amd64" */
void host_kernel(char *out, size_t size);

#endif
