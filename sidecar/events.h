/* events.h - the log lines of a watch: what changed, what opened, what was resolved, and the summary. */
#ifndef HEADROOM_SIDECAR_EVENTS_H
#define HEADROOM_SIDECAR_EVENTS_H

#include "fleet.h"

/* Once at the start: which way. What is found then has lines of its own, with level and limit. */
void event_started(struct fleet *fleet, unsigned http_port);
void event_stopped(struct fleet *fleet);

void event_target_found(struct fleet *fleet, const struct watch *w);
void event_target_lost(struct fleet *fleet, const struct watch *w, const char *why);
void event_unreadable(struct fleet *fleet, const struct watch *w);
void event_restarted(struct fleet *fleet, const struct watch *w);

/* nproc and the effective quota disagree: too many threads, too few, or blind to an ancestor's limit. Says nothing when
 * they agree. Also no limit at all is worth a line. */
void event_mismatch(struct fleet *fleet, const struct watch *w);

/* The limit differs from `before` by its ratio (a period that the kernel scaled together with its quota is none). */
void event_limit_changed(struct fleet *fleet, const struct watch *w, const struct limit *before);
bool event_limit_differs(const struct limit *a, const struct limit *b);

/* Evaluates the edges over the window since MARK_EVENT and says what opened, repeats or was resolved. */
void events_evaluate(struct fleet *fleet, struct watch *w);

/* The figures since MARK_LOG in one line. */
void event_summary(struct fleet *fleet, struct watch *w);

#endif
