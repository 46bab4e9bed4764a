/* disk.h - the disk work: a new file of N kB is written, synced and forgotten. */
#ifndef HEADROOM_PROBE_DISK_H
#define HEADROOM_PROBE_DISK_H

#include "fault.h"
#include "stop.h"

/* Writes `kb` times 1,024 bytes into a nameless file in `dir` and waits until they are on the disk
 * (fsync). Nothing is left behind, whatever happens. 0, -ECANCELED, or what open, write or fsync said
 * (-ENOSPC, -EROFS, -EACCES, ...) with a sentence. */
int disk_write(const char *dir, uint64_t kb, const struct stop *stop, struct fault *f) MUST_CHECK;

#endif
