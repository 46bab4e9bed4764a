/* commands.h - the sub-commands of headroom. Each gets its own argv, argv[0] being the name of the sub-command, and
 * returns an exit status: 0 done, 1 failed (or the shape differs), 2 usage, 130/143 interrupted.
 */
#ifndef HEADROOM_LAB_COMMANDS_H
#define HEADROOM_LAB_COMMANDS_H

int command_demo(int argc, char **argv);
int command_study(int argc, char **argv); /* by name: the commands below */
int command_study1(int argc, char **argv);
int command_remote_study2(int argc, char **argv); /* only against probes that run elsewhere */
int command_study3(int argc, char **argv);

/* How many threads a service of one's own needs. */
int command_concurrency(int argc, char **argv);

/* What this very container is limited to, and whether it hurts now: the 30-second try of study 2. Status 1: the cgroup
 * could not be read. */
int command_check(int argc, char **argv);

/* report.html, made again from a folder of results; or of several, side by side. */
int command_report(int argc, char **argv);

/* Predicted p50 and p99 of observed requests under other limits. Status 1 also when no limit meets the wish. */
int command_what_if(int argc, char **argv);

#endif
