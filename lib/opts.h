/* opts.h - options as a table: one line per option gives the flag, its environment twin, the help
 * line, the parser and the bounds. GNU long options (`--name value`, `--name=value`), short ones
 * where given, `--` ends them; positional arguments may stand anywhere.
 *
 * Order of precedence: command line > environment > the value the variable already has (the default).
 * The environment twin of --log-every in headroom-sidecar is HEADROOM_LOG_EVERY: manifests are easier
 * to patch that way. An empty variable counts as not set.
 */
#ifndef HEADROOM_OPTS_H
#define HEADROOM_OPTS_H

#include "fault.h"

enum opt_kind {
	OPT_FLAG,     /* bool: given or not; environment: 1/0, true/false, yes/no */
	OPT_TEXT,     /* const char *: points into argv or the environment */
	OPT_LIST,     /* struct opt_list: may be given several times (environment: one value) */
	OPT_U64,      /* uint64_t within [min, max] */
	OPT_DECIMAL,  /* double, 0 or more */
	OPT_DURATION, /* int64_t ns within [min, max] (as ns) */
	OPT_RATE,     /* double per second */
	OPT_CHOICE,   /* int: index into choices (NULL-terminated) */
};

/* Values of a repeated option, in order; the pointers belong to argv. */
enum { OPT_LIST_MAX = 64 };
struct opt_list {
	size_t n;
	const char *values[OPT_LIST_MAX];
};

struct opt {
	const char *name; /* without "--"; a table (of at most 127) ends with name == NULL */
	char letter;      /* short form, or 0 */
	enum opt_kind kind;
	void *into;
	const char *arg;            /* what the help shows for the value; NULL for flags */
	const char *help;           /* one line; a default is written here by hand */
	const char *const *choices; /* OPT_CHOICE */
	uint64_t min, max;          /* OPT_U64, OPT_DURATION; max 0 = no upper bound */
	bool *given;                /* set to true when the option was given in any way; may be NULL */
};

struct opts_spec {
	const char *program;  /* "headroom-load" */
	const char *usage;    /* "URL [options]" */
	const char *summary;  /* one sentence */
	const char *examples; /* indented lines, shown first */
	const char *notes;    /* exit codes and the like, shown last; may be NULL */
	const struct opt *table;
};

enum opts_result { OPTS_RUN = 0, OPTS_HELP = 1, OPTS_VERSION = 2 };

/* Parses argv[1..]. Positional arguments are moved to argv[1..*argc - 1]; *argc is adjusted.
 * A first argument that repeats the program's own name is dropped (what `kubectl run` users type).
 * -h/--help and -V/--version are built in. Returns an opts_result, or a negative errno with the sentence
 * (the program prints it and exits 2). Unknown options name the nearest known one. */
int opts_parse(const struct opts_spec *spec, int *argc, char **argv, struct fault *f) MUST_CHECK;

/* Help: summary, examples, options with their environment twins. */
void opts_write_help(const struct opts_spec *spec, FILE *out);

/* Of the names (NULL-terminated) the one that was probably meant by a mistyped word, or NULL. */
const char *opts_nearest(const char *word, size_t len, const char *const names[]);

/* The version given at build time ("unknown" outside a checkout). */
const char *opts_version(void);

/* The usual first lines of a main(): parses, answers --help and --version on `out`, a usage error on
 * `err`. Returns -1 to go on, else the exit status (0 or 2). */
int opts_begin(const struct opts_spec *spec, int *argc, char **argv, FILE *out, FILE *err);

#endif
