/* guess.h - which runtimes of runtimes.h a process uses, where that is certain. Pure.
 *
 * Evidence is what a process cannot easily be mistaken about: the target of /proc/PID/exe, the libraries that it has
 * mapped for execution, and the build information that Go puts into its programs. Its comm and its command line are no
 * evidence: programs rename themselves, and scripts are named after what they do. What cannot be seen this way stays
 * unknown: Rust, joblib, lxcfs, a .NET program in a single file, GraalVM native images, Go programs that were packed
 * or stripped of their section headers.
 *
 * The process may be hostile. No text needs a terminator, every size is bounded, nothing recurses or allocates. The
 * worst it can reach is a wrong guess about itself.
 */
#ifndef HEADROOM_GUESS_H
#define HEADROOM_GUESS_H

#include "runtimes.h"

#include <sys/types.h>

/* ---- Go: the build information in the executable ---- */

/* How to read the executable; for a descriptor of /proc/PID/exe a pread. Returns the number of bytes (0 at the end, may
 * be fewer than asked for), or below 0. The caller takes care that it cannot block: a regular file, not on FUSE, whose
 * server could be the process itself. At most 600 reads, 300 kB in all; about 70 for a usual Go program. */
struct guess_file {
	ssize_t (*read_at)(void *context, void *buf, size_t size, uint64_t offset);
	void *context;
};

enum { GO_MINOR_UNKNOWN = -1, GO_MINOR_OLD = 17 };

struct go_build {
	/* 25 for go1.25.3 and for "devel go1.25-..."; GO_MINOR_OLD: 1.17 or older, which keep it elsewhere */
	int minor;
	bool ignores_quota;      /* built with containermaxprocs=0, the default where go.mod says 1.24 or less */
	bool links_automaxprocs; /* go.uber.org/automaxprocs is part of it; whether it is called cannot be told */
};

/* True if it is an ELF file with Go's section .go.buildinfo (debug/buildinfo describes it). *out is written only then.
 * Both classes and byte orders; at most 256 sections. */
bool guess_go_build(const struct guess_file *file, struct go_build *out);

/* ---- all ---- */

struct guess_evidence {
	const char *exe; /* target of the link /proc/PID/exe; NULL = not readable */
	size_t exe_len;
	const char *maps; /* text of /proc/PID/maps; NULL = not readable. A last line without a newline was cut and is
			     passed over, so the beginning of a long file is fine */
	size_t maps_len;
	const struct go_build *go; /* NULL = not a Go program, or not looked at */
};

enum { GUESS_MAX = 16 };

struct guess {
	size_t n; /* 0 = unknown */
	const struct runtime *runtimes[GUESS_MAX];
	/* Some of them exclude one another and which one holds cannot be told: the versions of Node.js
	 * (`node -p process.versions.uv` tells), a Go of unknown version, automaxprocs. */
	bool one_of_several;
};

/* A process can use several: Python and OpenMP, say. In the order of the table of runtimes.h, each once. */
void guess_runtimes(const struct guess_evidence *e, struct guess *out);

#endif
