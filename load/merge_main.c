#include "merge.h"

#include "gate.h"
#include "hgrm.h"
#include "json_result.h"
#include "options.h"
#include "report.h"

#include <errno.h>
#include <string.h>

static const char program[] = "headroom-load merge";

/* More text than this is no set of results. */
enum { MOST_BYTES = 1 << 30 };

struct merge_options {
	struct opt_list fail_on;
	const char *hgrm_file;
	uint64_t keep_samples;
	int output;
};

struct merge_items {
	struct merge_item *item;
	size_t n, room;
};

static struct merge_item *add_item(struct merge_items *items)
{
	if (items->n == items->room) {
		size_t room = items->room ? items->room * 2 : 8;
		struct merge_item *bigger = realloc(items->item, room * sizeof *bigger);
		if (!bigger)
			return NULL;
		items->item = bigger;
		items->room = room;
	}
	memset(&items->item[items->n], 0, sizeof items->item[items->n]);
	return &items->item[items->n++];
}

static void free_items(struct merge_items *items)
{
	for (size_t i = 0; i < items->n; i++)
		result_free(&items->item[i].result);
	free(items->item);
}

static int take_object(struct merge_items *items, const json_value *object, const char *source, struct fault *f)
{
	struct merge_item *item = add_item(items);
	if (!item)
		return fault_set(f, ENOMEM, "%s", source);
	snprintf(item->source, sizeof item->source, "%s", source);
	int rc = json_to_result(object, &item->result, f);
	return rc < 0 ? fault_prefix(f, rc, "%s", source) : 0;
}

/* `kubectl logs` mixes the results of several pods, and what they wrote to stderr, into one text. */
static int take_lines(struct merge_items *items, const char *text, const char *path, struct fault *f)
{
	size_t number = 0;
	size_t before = items->n;
	for (const char *line = text; *line; number++) {
		size_t len = strcspn(line, "\n");
		if (*line == '{') {
			char source[192];
			snprintf(source, sizeof source, "%.150s, line %zu", path, number + 1);
			CLEANUP_JSON json_value *object = json_parse(line, len, f);
			int rc =
				object ? take_object(items, object, source, f) : fault_prefix(f, -EINVAL, "%s", source);
			if (rc < 0)
				return rc;
		}
		line += len + (line[len] == '\n');
	}
	return items->n > before ? 0 : fault_set(f, -EINVAL, "%s holds no result of headroom-load", path);
}

static char *read_all(const char *path, struct fault *f)
{
	size_t used = 0;
	size_t room = 1 << 16;
	CLEANUP_FCLOSE FILE *file = strcmp(path, "-") == 0 ? NULL : fopen(path, "re");
	FILE *in = file ? file : stdin;
	if (!file && strcmp(path, "-") != 0) {
		fault_set(f, errno, "cannot open %s", path);
		return NULL;
	}
	CLEANUP_FREE char *text = malloc(room);
	while (text) {
		used += fread(text + used, 1, room - used - 1, in);
		if (used + 1 < room)
			break;
		char *bigger = room < MOST_BYTES ? realloc(text, room * 2) : NULL;
		if (!bigger)
			break;
		text = bigger;
		room *= 2;
	}
	if (!text || used + 1 == room || ferror(in)) {
		fault_set(f, ferror(in) ? EIO : EFBIG, "cannot read %s", path);
		return NULL;
	}
	text[used] = '\0';
	return TAKE_PTR(text);
}

static int take_file(struct merge_items *items, const char *path, struct fault *f)
{
	CLEANUP_FREE char *text = read_all(path, f);
	if (!text)
		return -EIO;
	/* a file that was laid out by hand or by a tool is one value over several lines */
	CLEANUP_JSON json_value *whole = json_parse(text, strlen(text), NULL);
	return whole ? take_object(items, whole, path, f) : take_lines(items, text, path, f);
}

static int begin(struct merge_options *o, int *argc, char **argv)
{
	static const char *const outputs[] = {"table", "json", "csv", NULL};
	struct fault f = {0};
	const struct opt table[] = {
		{"output", 'o', OPT_CHOICE, &o->output, "FORM", "table (default), json or csv on stdout", outputs, 0, 0,
		 NULL},
		{"hgrm", 0, OPT_TEXT, &o->hgrm_file, "FILE", "percentile distribution for HdrHistogram's plotter", NULL,
		 0, 0, NULL},
		{"fail-on", 0, OPT_LIST, &o->fail_on, "COND", "exit 3 when it holds: 'p99>50ms'; repeatable", NULL, 0,
		 0, NULL},
		{"keep-samples", 0, OPT_U64, &o->keep_samples, "N",
		 "JSON carries all samples up to this many (default 20000)", NULL, 0, 0, NULL},
		{0},
	};
	const struct opts_spec spec = {
		.program = program,
		.usage = "FILE... [options]",
		.summary =
			"Joins the JSON results of several senders: all shards of one schedule, or repetitions of one run.",
		.examples = "  headroom-load merge shard-*.json\n"
			    "  kubectl logs -l job-name=load --tail=-1 | headroom-load merge -\n",
		.notes =
			"A file holds one result, or several, one a line; other lines are passed over. \"-\" is stdin.\n"
			"\n"
			"Exit status: 0 done, 1 the result is invalid, 2 a result is missing, there twice or not readable, 3 a\n"
			"--fail-on condition holds.\n",
		.table = table,
	};
	*o = (struct merge_options){.keep_samples = 20000};
	int status = opts_begin(&spec, argc, argv, stdout, stderr);
	if (status >= 0)
		return status;
	int rc = *argc < 2 ? fault_set(&f, -EINVAL, "which files?") : 0;
	for (size_t i = 0; rc == 0 && i < o->fail_on.n; i++)
		rc = gate_check(o->fail_on.values[i], &f);
	if (rc == 0)
		return -1;
	fprintf(stderr, "%s: %s\n", program, fault_text(&f));
	return EXIT_USAGE;
}

static int write_outputs(const struct merge_options *o, const struct result *r, struct fault *f)
{
	if (o->hgrm_file) {
		CLEANUP_FCLOSE FILE *out = fopen(o->hgrm_file, "we");
		if (!out)
			return fault_set(f, errno, "--hgrm: cannot write %s", o->hgrm_file);
		hgrm_write(out, &r->latency, NULL);
		errno = 0;
		if (fflush(out) == EOF)
			return fault_set(f, errno ? errno : EIO, "--hgrm: cannot write %s", o->hgrm_file);
	}
	int rc = o->output == OUTPUT_JSON  ? report_json(stdout, r, 1, o->keep_samples)
		 : o->output == OUTPUT_CSV ? report_csv(stdout, r, 1)
					   : report_table(stdout, r, 1);
	return rc < 0 ? fault_set(f, -rc, "cannot write the report") : 0;
}

static int judge(const struct merge_options *o, const struct result *r)
{
	char text[GATE_TEXT_SIZE];
	int status = EXIT_DONE;
	report_failures(stderr, program, r);
	for (size_t i = 0; i < o->fail_on.n; i++) {
		if (gate_trips(o->fail_on.values[i], r, text)) {
			fprintf(stderr, "%s: --fail-on: %s\n", program, text);
			status = EXIT_GATE;
		}
	}
	if (!r->valid)
		fprintf(stderr, "%s: the result is invalid: %s\n", program, r->invalid_reason);
	return !r->valid || (r->ok == 0 && r->planned > 0) ? EXIT_FAILED : status;
}

int merge_main(int argc, char **argv)
{
	struct merge_options o;
	struct merge_items items = {0};
	struct result merged = {0};
	struct fault f = {0};
	int status = begin(&o, &argc, argv);
	if (status >= 0)
		return status;
	status = EXIT_USAGE;
	int rc = 0;
	for (int i = 1; rc == 0 && i < argc; i++)
		rc = take_file(&items, argv[i], &f);
	if (rc == 0)
		rc = merge_check(items.item, items.n, &f);
	if (rc == 0)
		rc = merge_join(items.item, items.n, &merged, &f);
	if (rc == 0) {
		status = EXIT_FAILED;
		rc = write_outputs(&o, &merged, &f);
	}
	if (rc == 0)
		status = judge(&o, &merged);
	else
		fprintf(stderr, "%s: %s\n", program, fault_text(&f));
	result_free(&merged);
	free_items(&items);
	return status;
}
