/* whatif_runs.h - the runs in a folder of study 1, or in one requests.csv of headroom-load, for what-if.
 */
#ifndef HEADROOM_LAB_WHATIF_RUNS_H
#define HEADROOM_LAB_WHATIF_RUNS_H

#include "requests.h"

enum { WHATIF_NAME_SIZE = 32 };

struct whatif_run {
	char limit[WHATIF_NAME_SIZE]; /* as in the file: "0.25", "none"; "" = not told */
	char pattern[WHATIF_NAME_SIZE];
	unsigned repetition;
	double limit_cpus;         /* 0 = none, NAN = not told */
	double phase_ms;           /* from the first planned send to the next tick; NAN = not known */
	double cpu_ms_per_request; /* what the cgroup was charged; NAN = not known */
	bool known, valid;         /* of a folder: its row in runs.csv was found, and says so */
	struct requests requests;
};

struct whatif_runs {
	struct whatif_run *list;
	size_t n;
};

#define WHATIF_RUNS_NONE ((struct whatif_runs){.n = 0})

/* `path`: a folder with requests.csv and runs.csv, of which only the valid runs are taken; or a requests.csv with or
 * without columns of the condition. 0 or a negative errno with a sentence. Release in every case. */
int whatif_runs_load(struct whatif_runs *out, const char *path, struct fault *f) MUST_CHECK;
void whatif_runs_release(struct whatif_runs *r);

#endif
