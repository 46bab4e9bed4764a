#include "opts.h"

#include "units.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <string.h>

#ifndef HEADROOM_VERSION
#define HEADROOM_VERSION "unknown"
#endif

const char *opts_version(void)
{
	return HEADROOM_VERSION;
}

static void env_name(const char *option, char out[64])
{
	size_t n = (size_t)snprintf(out, 64, "HEADROOM_%s", option);
	for (size_t i = 0; i < n && i < 63; i++)
		out[i] = out[i] == '-' ? '_' : (char)toupper((unsigned char)out[i]);
}

static int parse_flag_word(const char *text, bool *out)
{
	static const char *const yes[] = {"1", "true", "yes", "on"};
	static const char *const no[] = {"0", "false", "no", "off"};
	for (size_t i = 0; i < ARRAY_LEN(yes); i++) {
		if (strcasecmp(text, yes[i]) == 0 || strcasecmp(text, no[i]) == 0) {
			*out = strcasecmp(text, yes[i]) == 0;
			return 0;
		}
	}
	return -EINVAL;
}

static int parse_choice(const struct opt *o, const char *text, struct fault *f)
{
	char list[160] = "";
	for (int i = 0; o->choices[i]; i++) {
		if (strcmp(o->choices[i], text) == 0) {
			*(int *)o->into = i;
			return 0;
		}
		size_t used = strlen(list);
		snprintf(list + used, sizeof list - used, "%s%s", i ? ", " : "", o->choices[i]);
	}
	return fault_set(f, -EINVAL, "'%.40s' is not one of %s", text, list);
}

static int parse_bounded_u64(const struct opt *o, const char *text, struct fault *f)
{
	uint64_t value;
	int rc = units_parse_u64(text, &value, f);
	if (rc < 0)
		return rc;
	if (value < o->min || (o->max && value > o->max)) {
		if (!o->max)
			return fault_set(f, -ERANGE, "%s is too small: at least %llu", text,
					 (unsigned long long)o->min);
		return fault_set(f, -ERANGE, "%s is out of range: %llu to %llu", text, (unsigned long long)o->min,
				 (unsigned long long)o->max);
	}
	*(uint64_t *)o->into = value;
	return 0;
}

static int parse_bounded_duration(const struct opt *o, const char *text, struct fault *f)
{
	int64_t ns;
	int rc = units_parse_duration_ns(text, &ns, f);
	if (rc < 0)
		return rc;
	if ((uint64_t)ns < o->min || (o->max && (uint64_t)ns > o->max)) {
		char low[UNITS_TEXT_SIZE];
		char high[UNITS_TEXT_SIZE];
		units_format_duration((int64_t)o->min, low);
		units_format_duration((int64_t)o->max, high);
		if (!o->max)
			return fault_set(f, -ERANGE, "%s is too short: at least %s", text, low);
		return fault_set(f, -ERANGE, "%s is out of range: %s to %s", text, low, high);
	}
	*(int64_t *)o->into = ns;
	return 0;
}

static int store(const struct opt *o, const char *text, struct fault *f)
{
	switch (o->kind) {
	case OPT_FLAG:
		if (parse_flag_word(text, o->into) < 0)
			return fault_set(f, -EINVAL, "'%.40s' is not yes or no", text);
		return 0;
	case OPT_TEXT:
		*(const char **)o->into = text;
		return 0;
	case OPT_LIST: {
		struct opt_list *list = o->into;
		if (list->n == OPT_LIST_MAX)
			return fault_set(f, -ERANGE, "given more than %d times", OPT_LIST_MAX);
		list->values[list->n++] = text;
		return 0;
	}
	case OPT_U64:
		return parse_bounded_u64(o, text, f);
	case OPT_DECIMAL:
		return units_parse_decimal(text, o->into, f);
	case OPT_DURATION:
		return parse_bounded_duration(o, text, f);
	case OPT_RATE:
		return units_parse_rate(text, o->into, f);
	case OPT_CHOICE:
		return parse_choice(o, text, f);
	}
	return fault_set(f, -EINVAL, "unknown kind of option");
}

static int take_value(const struct opt *o, const char *text, struct fault *f)
{
	int rc = store(o, text, f);
	if (rc < 0)
		return fault_prefix(f, rc, "--%s", o->name);
	if (o->given)
		*o->given = true;
	return 0;
}

/* After the command line, so that its options win; `on_line` marks those by their place in the table. */
static int take_environment(const struct opts_spec *spec, const bool *on_line, struct fault *f)
{
	for (const struct opt *o = spec->table; o->name; o++) {
		char name[64];
		if (on_line[o - spec->table])
			continue;
		env_name(o->name, name);
		const char *value = getenv(name);
		if (!value || !*value)
			continue;
		int rc = store(o, value, f);
		if (rc < 0)
			return fault_prefix(f, rc, "%s", name);
		if (o->given)
			*o->given = true;
	}
	return 0;
}

enum { MAX_OPTIONS = 128 };

/* Levenshtein distance, for "did you mean": short names only. */
static unsigned distance(const char *a, size_t a_len, const char *b)
{
	unsigned row[64];
	size_t b_len = strlen(b);
	if (b_len >= ARRAY_LEN(row))
		return UINT_MAX;
	for (size_t j = 0; j <= b_len; j++)
		row[j] = (unsigned)j;
	for (size_t i = 0; i < a_len; i++) {
		unsigned diagonal = row[0];
		row[0] = (unsigned)i + 1;
		for (size_t j = 0; j < b_len; j++) {
			unsigned best = diagonal + (a[i] != b[j]);
			diagonal = row[j + 1];
			if (row[j] + 1 < best)
				best = row[j] + 1;
			if (row[j + 1] + 1 < best)
				best = row[j + 1] + 1;
			row[j + 1] = best;
		}
	}
	return row[b_len];
}

const char *opts_nearest(const char *word, size_t len, const char *const names[])
{
	const char *nearest = NULL;
	unsigned best = 4;
	for (; *names; names++) {
		unsigned d = distance(word, len, *names);
		if (d < best) {
			best = d;
			nearest = *names;
		}
	}
	return nearest;
}

static int unknown_option(const struct opts_spec *spec, const char *name, size_t len, struct fault *f)
{
	const char *names[MAX_OPTIONS] = {NULL};
	for (size_t i = 0; i + 1 < MAX_OPTIONS && spec->table[i].name; i++)
		names[i] = spec->table[i].name;
	const char *nearest = opts_nearest(name, len, names);
	if (nearest)
		return fault_set(f, -EINVAL, "unknown option --%.*s: did you mean --%s?", (int)len, name, nearest);
	return fault_set(f, -EINVAL, "unknown option --%.*s: %s --help lists them", (int)len, name, spec->program);
}

static const struct opt *find_long(const struct opts_spec *spec, const char *name, size_t len)
{
	for (const struct opt *o = spec->table; o->name; o++)
		if (strlen(o->name) == len && memcmp(o->name, name, len) == 0)
			return o;
	return NULL;
}

static const struct opt *find_short(const struct opts_spec *spec, char letter)
{
	for (const struct opt *o = spec->table; o->name; o++)
		if (o->letter == letter)
			return o;
	return NULL;
}

/* One option at argv[*i]; advances *i over a separate value. */
static int take_option(const struct opts_spec *spec, int argc, char **argv, int *i, bool *on_line, struct fault *f)
{
	const char *word = argv[*i];
	const struct opt *o;
	const char *value = NULL;
	if (word[1] == '-') {
		size_t len = strcspn(word + 2, "=");
		o = find_long(spec, word + 2, len);
		if (!o)
			return unknown_option(spec, word + 2, len, f);
		if (word[2 + len] == '=')
			value = word + 2 + len + 1;
	} else {
		o = find_short(spec, word[1]);
		if (!o)
			return fault_set(f, -EINVAL, "unknown option %.20s: %s --help lists them", word, spec->program);
		if (word[2])
			value = word + 2 + (word[2] == '=');
	}
	if (o->kind == OPT_FLAG && !value)
		value = "1";
	if (!value) {
		if (*i + 1 >= argc)
			return fault_set(f, -EINVAL, "--%s needs a value: --%s %s", o->name, o->name, o->arg);
		value = argv[++*i];
	}
	on_line[o - spec->table] = true;
	return take_value(o, value, f);
}

static bool is_own_name(const char *word, const char *program)
{
	const char *base = strrchr(word, '/');
	return strcmp(base ? base + 1 : word, program) == 0;
}

int opts_parse(const struct opts_spec *spec, int *argc, char **argv, struct fault *f)
{
	bool on_line[MAX_OPTIONS] = {false};
	int rc = 0;
	int kept = 1;
	int i = 1;
	if (*argc > 1 && is_own_name(argv[1], spec->program))
		i = 2;
	for (; rc == 0 && i < *argc; i++) {
		const char *word = argv[i];
		if (strcmp(word, "--") == 0) {
			i++;
			break;
		}
		if (strcmp(word, "-h") == 0 || strcmp(word, "--help") == 0)
			return OPTS_HELP;
		if (strcmp(word, "-V") == 0 || strcmp(word, "--version") == 0)
			return OPTS_VERSION;
		if (word[0] != '-' || !word[1])
			argv[kept++] = argv[i];
		else
			rc = take_option(spec, *argc, argv, &i, on_line, f);
	}
	if (rc == 0)
		rc = take_environment(spec, on_line, f);
	if (rc < 0)
		return rc;
	while (i < *argc)
		argv[kept++] = argv[i++];
	*argc = kept;
	argv[kept] = NULL;
	return OPTS_RUN;
}

void opts_write_help(const struct opts_spec *spec, FILE *out)
{
	fprintf(out, "%s\n\nUsage: %s %s\n", spec->summary, spec->program, spec->usage);
	if (spec->examples)
		fprintf(out, "\nExamples:\n%s", spec->examples);
	fputs("\nOptions (each also as an environment variable: --some-name is HEADROOM_SOME_NAME):\n", out);
	for (const struct opt *o = spec->table; o->name; o++) {
		char left[64];
		char letter[5] = "";
		if (o->letter)
			snprintf(letter, sizeof letter, "-%c, ", o->letter);
		snprintf(left, sizeof left, "%s--%s%s%s", letter, o->name, o->arg ? " " : "", o->arg ? o->arg : "");
		fprintf(out, "  %-30s %s\n", left, o->help);
	}
	fprintf(out, "  %-30s %s\n  %-30s %s\n", "-h, --help", "this text", "-V, --version", "the version");
	if (spec->notes)
		fprintf(out, "\n%s", spec->notes);
}

int opts_begin(const struct opts_spec *spec, int *argc, char **argv, FILE *out, FILE *err)
{
	struct fault f = {0};
	int rc = opts_parse(spec, argc, argv, &f);
	if (rc < 0) {
		fprintf(err, "%s: %s\n", spec->program, fault_text(&f));
		return 2;
	}
	if (rc == OPTS_HELP)
		opts_write_help(spec, out);
	else if (rc == OPTS_VERSION)
		fprintf(out, "%s %s\n", spec->program, opts_version());
	else
		return -1;
	/* `--help | head` and a full disk are told apart by the exit status of the flush */
	return fflush(out) == 0 ? 0 : 1;
}
