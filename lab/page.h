/* page.h - report.html: what a study found, as one file that needs no network, no server and no script.
 *
 * Made from the files of the folder alone, so that `headroom report` makes the same page again. The script that is in
 * it only looks closer; the figures behind the pictures are there as tables, and as JSON in <script id="data">.
 */
#ifndef HEADROOM_LAB_PAGE_H
#define HEADROOM_LAB_PAGE_H

#include "fault.h"

/* More than one folder: side by side; they must be of the same study. out_path is replaced as a whole; NULL: stdout. */
int page_make(const char *const folders[], size_t n, const char *out_path, struct fault *f) MUST_CHECK;

/* "<folder>/report.html" */
int page_make_in(const char *folder, struct fault *f) MUST_CHECK;

#endif
