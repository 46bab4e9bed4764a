#include "whatif_runs.h"

#include "files.h"
#include "folder.h"
#include "units.h"

#include <errno.h>
#include <math.h>
#include <string.h>
#include <sys/stat.h>

static const char condition_columns[] = "limit_cpus,pattern,repetition,position,";

/* ---- cutting requests.csv into runs ---------------------------------------------------------------------------------
 */

/* "0.25,burst,1,2," at the start of a line: its length with the last comma, 0 when it is none. */
static size_t condition_len(const char *line, size_t len)
{
	size_t i = 0;
	for (unsigned commas = 0; i < len; i++)
		if (line[i] == ',' && ++commas == 4)
			return i + 1;
	return 0;
}

static int take_name(char out[WHATIF_NAME_SIZE], const char **at)
{
	size_t len = strcspn(*at, ",");
	if (len == 0 || len >= WHATIF_NAME_SIZE)
		return -EINVAL;
	memcpy(out, *at, len);
	out[len] = '\0';
	*at += len + 1;
	return 0;
}

static int name_run(struct whatif_run *run, const char *condition)
{
	char number[WHATIF_NAME_SIZE];
	uint64_t repetition;
	int rc = take_name(run->limit, &condition);
	if (rc == 0)
		rc = take_name(run->pattern, &condition);
	if (rc == 0)
		rc = take_name(number, &condition);
	if (rc == 0)
		rc = units_parse_u64(number, &repetition, NULL);
	if (rc < 0 || repetition > 1000000)
		return -EINVAL;
	run->repetition = (unsigned)repetition;
	if (strcmp(run->limit, "none") == 0) {
		run->limit_cpus = 0;
		return 0;
	}
	return units_parse_decimal(run->limit, &run->limit_cpus, NULL);
}

static struct whatif_run *add(struct whatif_runs *out)
{
	struct whatif_run *list = realloc(out->list, (out->n + 1) * sizeof *list);
	if (!list)
		return NULL;
	out->list = list;
	list[out->n] = (struct whatif_run){
		.limit_cpus = (double)NAN, .phase_ms = (double)NAN, .cpu_ms_per_request = (double)NAN};
	return &list[out->n++];
}

/* The lines from *at on that begin with the same condition, without it, behind a head. NULL when out of memory. */
static char *cut_run(const char *head, size_t head_len, const char **at, size_t condition)
{
	char *text = NULL;
	size_t size;
	const char *first = *at;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	fprintf(out, "%.*s\n", (int)head_len, head);
	while (**at && strncmp(*at, first, condition) == 0) {
		size_t len = strcspn(*at, "\n");
		fprintf(out, "%.*s\n", (int)(len - condition), *at + condition);
		*at += len + ((*at)[len] == '\n');
	}
	if (fclose(out) != 0) {
		free(text);
		return NULL;
	}
	return text;
}

static int take_runs(struct whatif_runs *out, const char *csv, struct fault *f)
{
	size_t skip = strlen(condition_columns);
	size_t head_len = strcspn(csv, "\n");
	const char *at = csv + head_len + (csv[head_len] == '\n');
	while (*at) {
		size_t condition = condition_len(at, strcspn(at, "\n"));
		struct whatif_run *run = add(out);
		if (!run)
			return fault_set(f, ENOMEM, "runs");
		if (!condition || name_run(run, at) < 0)
			return fault_set(f, -EINVAL, "a line does not begin with %s: '%.40s'", condition_columns, at);
		CLEANUP_FREE char *text = cut_run(csv + skip, head_len - skip, &at, condition);
		if (!text)
			return fault_set(f, ENOMEM, "runs");
		int rc = requests_parse(text, &run->requests, f);
		if (rc < 0)
			return rc;
	}
	return out->n ? 0 : fault_set(f, -ENODATA, "there is no request in it");
}

static int parse(struct whatif_runs *out, const char *csv, struct fault *f)
{
	if (strncmp(csv, condition_columns, strlen(condition_columns)) == 0)
		return take_runs(out, csv, f);
	struct whatif_run *run = add(out);
	return run ? requests_parse(csv, &run->requests, f) : fault_set(f, ENOMEM, "runs");
}

/* ---- what runs.csv knows beside that --------------------------------------------------------------------------------
 */

/* Field `wanted` of a line; NAN when it is empty, missing or no number. */
static double field(const char *line, size_t wanted)
{
	char text[WHATIF_NAME_SIZE];
	double value;
	size_t end = strcspn(line, "\n");
	for (size_t i = 0; i < wanted; i++) {
		size_t len = strcspn(line, ",\n");
		if (len >= end)
			return NAN;
		line += len + 1;
		end -= len + 1;
	}
	size_t len = strcspn(line, ",\n");
	if (len == 0 || len >= sizeof text)
		return NAN;
	memcpy(text, line, len);
	text[len] = '\0';
	return units_parse_decimal(text, &value, NULL) < 0 ? (double)NAN : value;
}

/* Columns of runs.csv, by the head that results.h writes. */
enum { COLUMN_PHASE_MS = 4, COLUMN_REQUESTS = 5, COLUMN_CPU_OBSERVED_S = 8, COLUMN_CPU_CORES_MEAN = 9 };
static const char runs_head[] = "limit_cpus,pattern,repetition,position,phase_ms,requests,ok,duration_s,cpu_observed_s,"
				"cpu_cores_mean,";

static void learn(struct whatif_run *run, const char *line)
{
	double cpu_s = field(line, COLUMN_CPU_OBSERVED_S) * field(line, COLUMN_CPU_CORES_MEAN);
	run->phase_ms = field(line, COLUMN_PHASE_MS);
	run->cpu_ms_per_request = cpu_s * 1000 / field(line, COLUMN_REQUESTS);
}

static void learn_all(struct whatif_runs *runs, const char *csv)
{
	const char *line = csv + strcspn(csv, "\n");
	while (*line == '\n' && *++line) {
		for (size_t i = 0; i < runs->n; i++) {
			struct whatif_run *run = &runs->list[i];
			char begin[3 * WHATIF_NAME_SIZE];
			int len = snprintf(begin, sizeof begin, "%s,%s,%u,", run->limit, run->pattern, run->repetition);
			if (strncmp(line, begin, (size_t)len) == 0)
				learn(run, line);
		}
		line += strcspn(line, "\n");
	}
}

static int load_runs_csv(struct whatif_runs *runs, const char *folder, struct fault *f)
{
	CLEANUP_FREE char *csv = NULL;
	CLEANUP_FREE char *path = folder_join(folder, "runs.csv");
	int rc = path ? file_load(path, &csv, f) : fault_set(f, ENOMEM, "runs");
	if (rc < 0)
		return rc;
	if (strncmp(csv, runs_head, strlen(runs_head)) != 0)
		return fault_set(f, -EINVAL, "%s is not of study 1: its columns are others", path);
	learn_all(runs, csv);
	return 0;
}

/* ---- the whole ------------------------------------------------------------------------------------------------------
 */

int whatif_runs_load(struct whatif_runs *out, const char *path, struct fault *f)
{
	struct stat s;
	*out = WHATIF_RUNS_NONE;
	bool is_folder = stat(path, &s) == 0 && S_ISDIR(s.st_mode);
	CLEANUP_FREE char *csv = NULL;
	CLEANUP_FREE char *file = is_folder ? folder_join(path, "requests.csv") : strdup(path);
	if (!file)
		return fault_set(f, ENOMEM, "runs");
	int rc = file_load(file, &csv, f);
	if (rc < 0)
		return rc;
	rc = parse(out, csv, f);
	if (rc < 0)
		return fault_prefix(f, rc, "%s", file);
	return is_folder ? load_runs_csv(out, path, f) : 0;
}

void whatif_runs_release(struct whatif_runs *r)
{
	for (size_t i = 0; i < r->n; i++)
		requests_release(&r->list[i].requests);
	free(r->list);
	*r = WHATIF_RUNS_NONE;
}
