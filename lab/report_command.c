#include "commands.h"

#include "opts.h"
#include "page.h"

#include <string.h>

enum { RESULTS_MAX = 16 };

static const char examples[] =
	"  headroom report results/2026-12-01T10-00-00Z           writes report.html into that folder\n"
	"  headroom report before after --out compare.html        two results of the same study, side by side\n";

static const char notes[] =
	"RESULTS are folders that `headroom study` wrote. The page is one file: it needs no network and no server.\n"
	"Exit status: 0 written, 1 a file is missing, was cut or is of another version, 2 wrong options.\n";

static int begin_options(const char **out, int *argc, char **argv)
{
	const struct opt table[] = {
		{"out", 0, OPT_TEXT, out, "FILE",
		 "where the page goes, - for stdout (default: report.html in RESULTS, or here for several)", NULL, 0, 0,
		 NULL},
		{NULL, 0, OPT_FLAG, NULL, NULL, NULL, NULL, 0, 0, NULL},
	};
	const struct opts_spec spec = {.program = "headroom report",
				       .usage = "RESULTS [RESULTS...] [options]",
				       .summary = "Makes report.html from the files of one or several results.",
				       .examples = examples,
				       .notes = notes,
				       .table = table};
	return opts_begin(&spec, argc, argv, stdout, stderr);
}

static int make(const char *const folders[], size_t n, const char *out, struct fault *f)
{
	if (out)
		return page_make(folders, n, strcmp(out, "-") == 0 ? NULL : out, f);
	return n == 1 ? page_make_in(folders[0], f) : page_make(folders, n, "report.html", f);
}

int command_report(int argc, char **argv)
{
	const char *out = NULL;
	struct fault f = {0};
	int status = begin_options(&out, &argc, argv);
	if (status >= 0)
		return status;
	if (argc < 2 || argc - 1 > RESULTS_MAX) {
		fprintf(stderr, "headroom report: takes 1 to %d folders of results (headroom report --help)\n",
			RESULTS_MAX);
		return 2;
	}
	if (make((const char *const *)argv + 1, (size_t)argc - 1, out, &f) < 0) {
		fprintf(stderr, "headroom report: %s\n", fault_text(&f));
		return 1;
	}
	return 0;
}
