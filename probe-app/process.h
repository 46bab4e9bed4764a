/* process.h - this process in figures, for the usual process_* metrics. */
#ifndef HEADROOM_PROBE_PROCESS_H
#define HEADROOM_PROBE_PROCESS_H

#include "base.h"

struct process_figures {
	double cpu_seconds, start_time_seconds;
	double resident_bytes, virtual_bytes;
	double open_fds, max_fds, threads;
};

/* Figures that cannot be read are NaN. */
void process_read(struct process_figures *out);

#endif
