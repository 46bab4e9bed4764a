/* files.h - ordinary files: whole ones, read and written.
 */
#ifndef HEADROOM_LAB_FILES_H
#define HEADROOM_LAB_FILES_H

#include "fault.h"

/* The whole file, NUL-terminated, to be freed. */
int file_load(const char *path, char **out, struct fault *f) MUST_CHECK;

/* Opens "<folder>/<name>" for appending, line by line to be flushed by the caller; NULL with a sentence. */
FILE *file_append(const char *folder, const char *name, struct fault *f) MUST_CHECK;

/* Makes a folder and those above it that are missing. 0 also when it is there. */
int folder_make_all(const char *path, struct fault *f) MUST_CHECK;

#endif
