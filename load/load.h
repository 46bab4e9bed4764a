/* load.h - the program without its sub-commands: options, run, report, exit status. */
#ifndef HEADROOM_LOAD_H
#define HEADROOM_LOAD_H

int load_main(int argc, char **argv);

#endif
