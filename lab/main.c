/* headroom: what a person types. Experiments under CPU limits; and the other programs of the toolkit by one name. */
#include "commands.h"
#include "limit_docker.h"
#include "opts.h"
#include "siblings.h"

#include <string.h>

static int become(const char *name, char **argv)
{
	struct fault f = {0};
	sibling_exec(name, argv, &f);
	fprintf(stderr, "headroom: %s\n", fault_text(&f));
	return 1;
}

static int command_sidecar(int argc, char **argv)
{
	(void)argc;
	return become("headroom-sidecar", argv);
}

static int command_probe(int argc, char **argv)
{
	(void)argc;
	return become("headroom-probe", argv);
}

static int command_load(int argc, char **argv)
{
	(void)argc;
	return become("headroom-load", argv);
}

static const struct command {
	const char *name;
	int (*run)(int argc, char **argv);
	const char *help;
} commands[] = {
	{"check", command_check, "what is this container limited to, and does it hurt now?"},
	{"demo", command_demo, "study 1 in under a minute: bursts and an even load under the same limit"},
	{"what-if", command_what_if, "what p99 would be under another limit, from an observed run"},
	{"report", command_report, "the page of a study, made again from its files; several side by side"},
	{"study", command_study, "a published study, repeated on this machine: study 1, study 3"},
	{"concurrency", command_concurrency, "how many threads does my service need under its CPU limit?"},
	{"sidecar", command_sidecar, "headroom-sidecar: what a container is limited to, and what it waits for"},
	{"probe", command_probe, "headroom-probe: a service with a calibrated workload"},
	{"load", command_load, "headroom-load: requests on a schedule, each one recorded"},
};

static void write_help(FILE *out)
{
	fputs("The service is slow, the CPU graph is below half of its limit: where is it waiting?\n\n"
	      "Usage: headroom COMMAND [options]\n\n"
	      "Examples:\n"
	      "  headroom demo                  needs root, a delegated cgroup, or a user session of systemd\n"
	      "  headroom study 1 --full\n\n"
	      "In containers (APP: one that runs; its user and group see its figures):\n"
	      "  docker run --rm --cpus=0.25 headroom check --busy 4\n"
	      "  docker run --rm --cpus=0.25 headroom demo\n"
	      "  docker run --rm --pid=container:APP --user UID:GID headroom sidecar\n\nCommands:\n",
	      out);
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		fprintf(out, "  %-11s %s\n", commands[i].name, commands[i].help);
	fputs("\n`headroom COMMAND --help` tells the options. -V, --version tells the version.\n", out);
}

static const struct command *find(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		if (strcmp(commands[i].name, name) == 0)
			return &commands[i];
	return NULL;
}

static int unknown(const char *name)
{
	const char *names[ARRAY_LEN(commands) + 1] = {NULL};
	for (size_t i = 0; i < ARRAY_LEN(commands); i++)
		names[i] = commands[i].name;
	const char *nearest = opts_nearest(name, strlen(name), names);
	if (nearest)
		fprintf(stderr, "headroom: unknown command '%.40s': did you mean %s?\n", name, nearest);
	else
		fprintf(stderr, "headroom: unknown command '%.40s': headroom --help lists them\n", name);
	return 2;
}

int main(int argc, char **argv)
{
	/* `kubectl run` users repeat the name */
	if (argc > 1 && strcmp(argv[1], "headroom") == 0) {
		argc--;
		argv++;
	}
	if (argc < 2) {
		write_help(stderr);
		return 2;
	}
	if (strcmp(argv[1], "--help") == 0 || strcmp(argv[1], "-h") == 0 || strcmp(argv[1], "help") == 0) {
		write_help(stdout);
		return fflush(stdout) == 0 ? 0 : 1;
	}
	if (strcmp(argv[1], "--version") == 0 || strcmp(argv[1], "-V") == 0) {
		printf("headroom %s\n", opts_version());
		return fflush(stdout) == 0 ? 0 : 1;
	}
	if (strcmp(argv[1], LIMIT_DOCKER_HELPER) == 0)
		return limit_docker_helper(argc - 1, argv + 1);
	const struct command *c = find(argv[1]);
	return c ? c->run(argc - 1, argv + 1) : unknown(argv[1]);
}
