/* remote_study1.h - study 1 against probes that run elsewhere: `headroom study 1 --remote`. Needs no rights and no file
 * that can be written.
 */
#ifndef HEADROOM_LAB_REMOTE_STUDY1_H
#define HEADROOM_LAB_REMOTE_STUDY1_H

#include "opts.h"
#include "remote_message.h"
#include "session.h"

struct remote_study1 {
	/* the options of its own */
	struct opt_list targets;
	const char *container, *message_path; /* message_path: see remote_message_write() */
	int64_t wait_ns;

	/* taken over from study 1 */
	const char *program;
	const struct session_options *session;
	double seconds, phase_ms;
	uint64_t repetitions, stretch;
	int64_t lead_ns, lateness_bound_ns;
};

#define REMOTE_STUDY1_DEFAULTS                                                                                         \
	{                                                                                                              \
		.container = "probe", .wait_ns = 120 * NSEC_PER_SEC                                                    \
	}

#define REMOTE_OPTION_ROWS(r)                                                                                          \
	{"remote",                                                                                                     \
	 0,                                                                                                            \
	 OPT_LIST,                                                                                                     \
	 &(r)->targets,                                                                                                \
	 "LIMIT=PROBE_URL,REPORT_URL",                                                                                 \
	 "a probe that runs elsewhere under that limit, and its sidecar; repeatable",                                  \
	 NULL,                                                                                                         \
	 0,                                                                                                            \
	 0,                                                                                                            \
	 NULL},                                                                                                        \
		{"wait",        0,      OPT_DURATION,                                                                  \
		 &(r)->wait_ns, "TIME", "--remote: so long each of them may take to be ready (default 120s)",          \
		 NULL,          0,      3600 * NSEC_PER_SEC,                                                           \
		 NULL},                                                                                                \
		{"container", 0,                                                                                       \
		 OPT_TEXT,    &(r)->container,                                                                         \
		 "NAME",      "--remote: of several containers beside a sidecar, the probe's (default probe)",         \
		 NULL,        0,                                                                                       \
		 0,           NULL},                                                                                   \
	{                                                                                                              \
		"termination-log", 0, OPT_TEXT, &(r)->message_path, "FILE",                                            \
			"--remote: a summary of at most 4096 bytes (default " REMOTE_MESSAGE_PATH ", if it is there)", \
			NULL, 0, 0, NULL                                                                               \
	}

/* The whole of it; the exit status. */
int remote_study1_run(const struct remote_study1 *o);

#endif
