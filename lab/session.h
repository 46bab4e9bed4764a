/* session.h - what every study needs before its first run and gives back after its last: signals taken, a way to make
 * limits, the other programs, a folder for results, a calibrated piece of work.
 *
 *     struct session s = SESSION_NONE("headroom study 2");
 *     rc = session_open(&s, &options.session, &f);
 *     ...
 *     session_close(&s);         always, also when session_open() failed
 */
#ifndef HEADROOM_LAB_SESSION_H
#define HEADROOM_LAB_SESSION_H

#include "opts.h"
#include "results.h"

struct session_options {
	uint64_t seed, rounds;
	bool seed_given, rounds_given;
	int limiter; /* meant only when limiter_given */
	bool limiter_given;
	bool no_sidecar;
	const char *out; /* NULL = results/<time> */
	int output;      /* enum session_output */
};

enum session_output { SESSION_TABLE, SESSION_JSON };
extern const char *const session_output_names[];

/* The options above as rows of an option table. */
#define SESSION_OPTION_ROWS(o)                                                                                         \
	{"seed", 0, OPT_U64, &(o)->seed,      "N", "of everything that is drawn (default: another one each time)",     \
	 NULL,   0, 0,       &(o)->seed_given},                                                                        \
		{"limiter",                                                                                            \
		 0,                                                                                                    \
		 OPT_CHOICE,                                                                                           \
		 &(o)->limiter,                                                                                        \
		 "v2|systemd|v1|docker",                                                                               \
		 "how the limit is made (default: the first that works)",                                              \
		 limit_way_names,                                                                                      \
		 0,                                                                                                    \
		 0,                                                                                                    \
		 &(o)->limiter_given},                                                                                 \
		{"rounds",                                                                                             \
		 0,                                                                                                    \
		 OPT_U64,                                                                                              \
		 &(o)->rounds,                                                                                         \
		 "N",                                                                                                  \
		 "SHA-256 rounds that stand for 4 ms of CPU (default: calibrated)",                                    \
		 NULL,                                                                                                 \
		 1,                                                                                                    \
		 UINT64_C(1) << 40,                                                                                    \
		 &(o)->rounds_given},                                                                                  \
		{"no-sidecar",                                                                                         \
		 0,                                                                                                    \
		 OPT_FLAG,                                                                                             \
		 &(o)->no_sidecar,                                                                                     \
		 NULL,                                                                                                 \
		 "do not run headroom-sidecar beside the runs",                                                        \
		 NULL,                                                                                                 \
		 0,                                                                                                    \
		 0,                                                                                                    \
		 NULL},                                                                                                \
		{"out", 0, OPT_TEXT, &(o)->out, "DIR", "where results go (default results/<time>)", NULL, 0, 0, NULL}, \
		{"output",                                                                                             \
		 'o',                                                                                                  \
		 OPT_CHOICE,                                                                                           \
		 &(o)->output,                                                                                         \
		 "table|json",                                                                                         \
		 "form of the report on stdout (default table)",                                                       \
		 session_output_names,                                                                                 \
		 0,                                                                                                    \
		 0,                                                                                                    \
		 NULL},                                                                                                \
	{                                                                                                              \
		NULL, 0, OPT_FLAG, NULL, NULL, NULL, NULL, 0, 0, NULL                                                  \
	}

/* Work that takes CALIBRATED_CPU_MS of CPU time here; other amounts are multiples of it. */
enum { CALIBRATED_CPU_MS = 4 };

struct calibration {
	uint64_t rounds;
	double cpu_ms; /* that they take; NAN = the rounds were given, not calibrated */
};

struct session {
	const char *program; /* for messages */
	uint64_t seed;
	struct signals signals;
	struct limiter limiter;
	struct progress progress;
	struct results results; /* the folder is there; its CSV files are not open yet */
	struct calibration calibration;
	char *probe, *load, *sidecar; /* paths; sidecar NULL = not wanted */
	char *requests_path;          /* where a sender may write its records during a run: in the folder, or */
	int requests_fd;              /* in memory, when this is open; -1 = not */
};

#define SESSION_NONE(name)                                                                                             \
	((struct session){.program = (name),                                                                           \
			  .signals = SIGNALS_NONE,                                                                     \
			  .limiter = LIMITER_NONE,                                                                     \
			  .results = RESULTS_NONE,                                                                     \
			  .requests_fd = -1})

/* Everything above, in this order: signals, programs, limiter, folder, calibration (about a second; outside of every
 * quota, under which it would be throttled itself). -EINTR when a signal came. */
int session_open(struct session *s, const struct session_options *o, struct fault *f) MUST_CHECK;

/* For probes that run elsewhere under limits of somebody else: signals, the sender, and a folder only when o->out names
 * one. Records of a run go into memory: a container may have no folder that can be written. */
int session_open_remote(struct session *s, const struct session_options *o, struct fault *f) MUST_CHECK;

void session_close(struct session *s);

/* What a session knows of a run's setup; the rest is the study's to fill in. */
struct run_setup session_run_setup(struct session *s);

/* The exit status of a study: a signal, a failure (rc < 0) or a shape that differs, else 0. */
int session_status(const struct session *s, int rc, bool as_published);

#endif
