#include "arrival.h"

#include "meter.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <time.h>

static int64_t later(int64_t a, int64_t b)
{
	return a > b ? a : b;
}

int64_t arrival_instant(const struct arrival_witness *w)
{
	int64_t at = w->read_ns - later(w->waited_ns, 0);
	if (w->data_age_ns != METER_UNKNOWN) {
		/* both ends of the age were cut to a tick, so it can be wrong by one in either direction */
		int64_t earliest = w->read_ns - w->data_age_ns - w->tick_ns;
		int64_t latest = w->read_ns - later(w->data_age_ns - w->tick_ns, 0);
		at = later(at, earliest);
		if (at > latest)
			at = latest;
	}
	at = later(at, w->not_before_ns);
	return at < w->read_ns ? at : w->read_ns;
}

int64_t arrival_data_age_ns(int socket_fd)
{
	struct tcp_info info;
	socklen_t len = sizeof info;
	if (getsockopt(socket_fd, IPPROTO_TCP, TCP_INFO, &info, &len) < 0 ||
	    len < offsetof(struct tcp_info, tcpi_last_ack_recv))
		return METER_UNKNOWN;
	return info.tcpi_last_data_recv * NSEC_PER_MSEC;
}

int64_t arrival_tick_ns(void)
{
	struct timespec tick;
	/* the coarse clock moves once a tick */
	if (clock_getres(CLOCK_MONOTONIC_COARSE, &tick) < 0)
		return 10 * NSEC_PER_MSEC;
	return tick.tv_sec * NSEC_PER_SEC + tick.tv_nsec;
}
