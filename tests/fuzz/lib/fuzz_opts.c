/* fuzz_opts.c - a command line, one word a line, against a table with every kind of option.
 * seeds:
 */
#include "../fuzz.h"
#include "opts.h"

enum { WORDS_MAX = 64 };

struct values {
	bool flag, given;
	const char *text;
	struct opt_list list;
	uint64_t number;
	double decimal, rate;
	int64_t duration_ns;
	int choice;
};

static bool is_word(char *const words[], size_t n, const char *at)
{
	for (size_t i = 0; i < n; i++)
		if (at >= words[i] && at <= words[i] + strlen(words[i]))
			return true;
	return false;
}

static void check_values(const struct values *v, char *const words[], size_t n)
{
	FUZZ_HOLDS(!v->given || (v->number >= 1 && v->number <= 1000));
	FUZZ_HOLDS(v->duration_ns >= NSEC_PER_MSEC && v->duration_ns <= 60 * NSEC_PER_SEC);
	FUZZ_HOLDS(v->choice >= 0 && v->choice < 3 && v->decimal >= 0 && v->rate > 0);
	FUZZ_HOLDS(!v->text || is_word(words, n, v->text));
	FUZZ_HOLDS(v->list.n <= OPT_LIST_MAX);
	for (size_t i = 0; i < v->list.n; i++)
		FUZZ_HOLDS(is_word(words, n, v->list.values[i]));
}

static int parse(struct values *v, int *argc, char **argv, struct fault *f)
{
	static const char *const choices[] = {"table", "json", "csv", NULL};
	const struct opt table[] = {
		{"quiet", 'q', OPT_FLAG, &v->flag, NULL, "", NULL, 0, 0, NULL},
		{"file", 'f', OPT_TEXT, &v->text, "FILE", "", NULL, 0, 0, NULL},
		{"header", 'H', OPT_LIST, &v->list, "LINE", "", NULL, 0, 0, NULL},
		{"workers", 'w', OPT_U64, &v->number, "N", "", NULL, 1, 1000, &v->given},
		{"speed", 0, OPT_DECIMAL, &v->decimal, "X", "", NULL, 0, 0, NULL},
		{"rate", 'r', OPT_RATE, &v->rate, "RATE", "", NULL, 0, 0, NULL},
		{"interval", 'i', OPT_DURATION, &v->duration_ns, "TIME", "", NULL, (uint64_t)NSEC_PER_MSEC,
		 (uint64_t)(60 * NSEC_PER_SEC), NULL},
		{"output", 'o', OPT_CHOICE, &v->choice, "FORM", "", choices, 0, 0, NULL},
		{0},
	};
	const struct opts_spec spec = {.program = "headroom-fuzz", .usage = "", .summary = "", .table = table};
	return opts_parse(&spec, argc, argv, f);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char program[] = "headroom-fuzz";
	CLEANUP_FREE char *text = fuzz_text(data, size);
	char *argv[WORDS_MAX + 2] = {program};
	char *words[WORDS_MAX];
	int argc = 1;
	char *rest = text;
	for (char *word; argc <= WORDS_MAX && (word = strsep(&rest, "\n"));) {
		words[argc - 1] = word;
		argv[argc++] = word;
	}
	size_t n = (size_t)argc - 1;
	struct values v = {.rate = 1, .duration_ns = NSEC_PER_SEC};
	struct fault f = {0};
	int rc = parse(&v, &argc, argv, &f);
	fuzz_check_fault(rc, &f);
	check_values(&v, words, n);
	if (rc == OPTS_RUN) {
		FUZZ_HOLDS(argc >= 1 && (size_t)argc <= n + 1 && argv[argc] == NULL);
		for (int i = 1; i < argc; i++)
			FUZZ_HOLDS(is_word(words, n, argv[i]));
	}
	return 0;
}
