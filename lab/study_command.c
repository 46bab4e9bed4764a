#include "commands.h"

#include "base.h"

#include <string.h>

static const struct study {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} studies[] = {
	{"1", command_study1, "the same requests per second, even or in bursts, under a CPU limit"},
	{"2", command_remote_study2, "the same work in different circumstances (probes elsewhere: --remote)"},
	{"3", command_study3, "how many threads: the concurrency law against closed loops under a CPU limit"},
};

static void write_help(FILE *out)
{
	fputs("Usage:\n", out);
	for (size_t i = 0; i < ARRAY_LEN(studies); i++)
		fprintf(out, "  headroom study %-6s %s\n", studies[i].name, studies[i].help);
	fputs("\n`headroom study NAME --help` tells its options.\n", out);
}

int command_study(int argc, char **argv)
{
	const char *name = argc >= 2 ? argv[1] : "";
	for (size_t i = 0; i < ARRAY_LEN(studies); i++)
		if (strcmp(name, studies[i].name) == 0)
			return studies[i].run(argc - 1, argv + 1);
	bool help = strcmp(name, "--help") == 0 || strcmp(name, "-h") == 0;
	if (*name && !help)
		fprintf(stderr, "headroom study: there is no study '%.40s'\n\n", name);
	write_help(help ? stdout : stderr);
	return help ? 0 : 2;
}
