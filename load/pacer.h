/* pacer.h - being awake at an exact instant.
 *
 * A timerfd with absolute monotonic times wakes the thread; unlike the time-out of epoll it gets no slack (0.1 % of
 * the wait: 480 us late on 400 ms, measured). The last part of the wait is spun away, since waking up takes 30 to
 * 90 us on an idle core.
 */
#ifndef HEADROOM_PACER_H
#define HEADROOM_PACER_H

#include "fault.h"

#define PACER_NEVER INT64_MAX

enum pacer_priority { PACER_AUTO, PACER_REALTIME, PACER_NORMAL };

struct pacer {
	int timer_fd; /* readable from the armed instant on */
	int64_t armed_ns;
};

/* Opens the timer. 0 or a negative errno. */
int pacer_open(struct pacer *p, struct fault *f) MUST_CHECK;
void pacer_close(struct pacer *p);

/* Sets the instant (PACER_NEVER: none); forgets an earlier one, also when that has passed. */
void pacer_arm(struct pacer *p, int64_t mono_ns);

/* How long before an instant to stop sleeping, for a schedule with that gap: 100 us, at most a tenth of the gap, and
 * nothing where that is less than a wake-up takes (above 2,000/s: a core would be spun away for no gain). */
int64_t pacer_spin_ns(int64_t gap_ns);

/* Makes the calling thread punctual: timer slack of 1 ns, and SCHED_FIFO with PACER_REALTIME or, when it is permitted
 * and there is more than one CPU, with PACER_AUTO. Returns what was got in one word for the report: "fifo" or "other".
 * -EPERM with a sentence only when PACER_REALTIME was demanded. */
int pacer_prepare_thread(enum pacer_priority wish, const char **got, struct fault *f) MUST_CHECK;

/* Back to the ordinary priority, so that the report does not keep others from running. */
void pacer_relax_thread(void);

#endif
