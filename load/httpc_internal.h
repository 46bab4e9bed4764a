/* httpc_internal.h - what httpc.c (requests and events) and httpc_setup.c (options) share. These three are the only
 * files that know libcurl; everybody else includes httpc.h.
 */
#ifndef HEADROOM_HTTPC_INTERNAL_H
#define HEADROOM_HTTPC_INTERNAL_H

#include "httpc.h"

#include <curl/curl.h>
#include <sys/epoll.h>

enum { HTTPC_EVENTS = 64 };

/* One request at a time; the handle keeps its options, so that starting the next one sets nothing. */
struct slot {
	struct httpc *owner;
	CURL *easy;
	struct slot *next_free;
	struct slot *older, *newer; /* in flight: in the order of their starts */
	struct answer answer;
	size_t tag;
	int64_t started_ns;
	int64_t last_byte_ns; /* 0 = none yet */
	bool in_flight;
	char text[CURL_ERROR_SIZE];
};

/* What epoll knows about a descriptor. */
struct watch {
	uint32_t registered; /* what epoll watches; 0 = not in epoll */
	uint32_t wanted;     /* what libcurl wants at the moment */
	bool ours;           /* opened by our callback, so that its end will be seen */
};

struct httpc {
	CURLM *multi;
	struct slot *slots;
	size_t n_slots, busy;
	struct slot *free;
	struct slot *oldest, *newest; /* in flight */
	struct curl_slist *headers;
	httpc_done_fn *done;
	void *context;
	int64_t timeout_ns;
	int epoll_fd;
	struct epoll_event events[HTTPC_EVENTS];
	int n_events, at_event;
	bool *readable[HTTPC_WATCHED];
	size_t n_watched;
	int64_t deadline_ns;   /* libcurl wants to be called then; INT64_MAX = not */
	bool unread;           /* libcurl may have finished something */
	bool overdue;          /* the oldest request in flight has timed out */
	struct watch *watches; /* by descriptor */
	size_t watches_room;
	size_t open_sockets;
	bool switch_once; /* see choose_version() */
	char *url;
};

/* Sets the callbacks of httpc.c on a handle, and on the multi handle. */
void httpc_set_callbacks(struct slot *slot);
void httpc_set_multi_callbacks(struct httpc *h);

#endif
