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

/* The number at the start of a record: `seq`, which rises within a run. */
static uint64_t seq_of(const char *line)
{
	return strtoull(line, NULL, 10);
}

/* The lines from *at on that begin with the same condition, without it, behind a head. A run that was repeated has the
 * same condition again: there seq begins anew. NULL when out of memory. */
static char *cut_run(const char *head, size_t head_len, const char **at, size_t condition)
{
	char *text = NULL;
	size_t size;
	const char *first = *at;
	uint64_t last_seq = 0;
	FILE *out = open_memstream(&text, &size);
	if (!out)
		return NULL;
	fprintf(out, "%.*s\n", (int)head_len, head);
	while (**at && strncmp(*at, first, condition) == 0) {
		size_t len = strcspn(*at, "\n");
		uint64_t seq = seq_of(*at + condition);
		if (*at != first && seq <= last_seq)
			break;
		last_seq = seq;
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

/* Field `wanted` of a line, counted from 0; NULL when the line has fewer. Quotes do not occur up to `valid`. */
static const char *field(const char *line, size_t wanted, size_t *len)
{
	for (size_t i = 0; i < wanted; i++) {
		line += strcspn(line, ",\n");
		if (*line != ',')
			return NULL;
		line++;
	}
	*len = strcspn(line, ",\n");
	return line;
}

/* NAN when the field is empty, missing or no number. */
static double number_in(const char *line, size_t wanted)
{
	char text[WHATIF_NAME_SIZE];
	double value;
	size_t len;
	const char *at = field(line, wanted, &len);
	if (!at || len == 0 || len >= sizeof text)
		return NAN;
	memcpy(text, at, len);
	text[len] = '\0';
	return units_parse_decimal(text, &value, NULL) < 0 ? (double)NAN : value;
}

/* Columns of runs.csv, by the head that results.h writes. */
enum {
	COLUMN_PHASE_MS = 4,
	COLUMN_REQUESTS = 5,
	COLUMN_CPU_OBSERVED_S = 8,
	COLUMN_CPU_CORES_MEAN = 9,
	COLUMN_VALID = 19
};
static const char runs_head[] = "limit_cpus,pattern,repetition,position,phase_ms,requests,ok,duration_s,cpu_observed_s,"
				"cpu_cores_mean,of_limit,p50_ms,p99_ms,max_ms,lateness_p99_ms,nr_periods,nr_throttled,"
				"throttled_usec,psi_cpu_some_usec,valid,";

static void learn(struct whatif_run *run, const char *line)
{
	double cpu_s = number_in(line, COLUMN_CPU_OBSERVED_S) * number_in(line, COLUMN_CPU_CORES_MEAN);
	size_t len;
	const char *valid = field(line, COLUMN_VALID, &len);
	run->phase_ms = number_in(line, COLUMN_PHASE_MS);
	run->cpu_ms_per_request = cpu_s * 1000 / number_in(line, COLUMN_REQUESTS);
	run->valid = valid && len == strlen("true") && strncmp(valid, "true", len) == 0;
	run->known = true;
}

/* Both files are in order of time: a row belongs to the first run of its condition that has none yet. A run without
 * requests has a row and nothing else; it is never valid, so what it could be mistaken for is not used either. */
static void learn_all(struct whatif_runs *runs, const char *csv)
{
	const char *line = csv + strcspn(csv, "\n");
	while (*line == '\n' && *++line) {
		for (size_t i = 0; i < runs->n; i++) {
			struct whatif_run *run = &runs->list[i];
			char begin[3 * WHATIF_NAME_SIZE];
			int len = snprintf(begin, sizeof begin, "%s,%s,%u,", run->limit, run->pattern, run->repetition);
			if (run->known || strncmp(line, begin, (size_t)len) != 0)
				continue;
			learn(run, line);
			break;
		}
		line += strcspn(line, "\n");
	}
}

/* The sender was late, a request failed: such a run was left out of the study as well. */
static void drop_invalid(struct whatif_runs *runs)
{
	size_t kept = 0;
	for (size_t i = 0; i < runs->n; i++) {
		if (runs->list[i].valid)
			runs->list[kept++] = runs->list[i];
		else
			requests_release(&runs->list[i].requests);
	}
	runs->n = kept;
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
	drop_invalid(runs);
	return runs->n ? 0 : fault_set(f, -ENODATA, "%s has no valid run with requests", path);
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
