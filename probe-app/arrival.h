/* arrival.h - when a request really arrived, although the thread that reads it had to wait for a CPU.
 *
 * A server can stamp a request only when it runs. Under a quota, or with busy neighbours, the thread of the
 * connection is woken by the kernel at the arrival but runs (and stamps) up to a period later. That wait is
 * known: the thread slept until the arrival, and from then on it was ready to run, which its schedstat counts.
 * Since that figure could also hold a wait from before the sleep (the thread was put aside right after its last
 * answer), the kernel's own note of the last data on the connection bounds the estimate; it has a resolution of
 * one tick (1 to 10 ms), the thread's wait one of ns.
 *
 * Measured with tests/live/probe_client.c (at real-time priority, loopback, 2 virtual CPUs that compilers kept busy,
 * load average 5 and 12): the estimate lies 15 to 80 us after the client's send() began in the middle and about 0.1 ms
 * at p99, where the time of reading lies up to 300 ms after it; with a CPU free for each, both are 70 us. With
 * errors up to a tick it can also lie before it: -4 ms at worst in most runs, of 200 requests. Delays of
 * the network below (softirqs that wait behind others) are not in it: they are the network's.
 */
#ifndef HEADROOM_PROBE_ARRIVAL_H
#define HEADROOM_PROBE_ARRIVAL_H

#include "base.h"

struct arrival_witness {
	int64_t read_ns;       /* when the request line had been read and parsed */
	int64_t waited_ns;     /* the thread waited for a CPU since its last answer; METER_UNKNOWN = not known */
	int64_t not_before_ns; /* when the connection was accepted, or its last answer sent */
	int64_t data_age_ns; /* how long before read_ns the last data came, by the kernel; METER_UNKNOWN = not known */
	int64_t tick_ns;     /* resolution of data_age_ns */
};

/* The estimate, never after read_ns and never before not_before_ns. Pure. */
int64_t arrival_instant(const struct arrival_witness *w);

/* Asks the kernel how long ago the last data came (TCP_INFO, 1 us). METER_UNKNOWN when it does not say. */
int64_t arrival_data_age_ns(int socket_fd);

/* The kernel's tick. */
int64_t arrival_tick_ns(void);

#endif
