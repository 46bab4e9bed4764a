/* probe_client: a client that knows when it sent and when it had the answer, for headroom-probe's figures.
 *
 *     cc -O2 -o probe_client probe_client.c && ./probe_client PORT PATH BURST EVERY_MS BURSTS
 *
 * Opens BURST kept-alive connections to 127.0.0.1, sends one request on each every EVERY_MS, and compares its
 * own stamps (CLOCK_MONOTONIC, the same clock) with those of the answer. Prints one line for each part, in us:
 *
 *     there     arrived - sent: how late the arrival stamp is after the client's send() began
 *     read      read - sent: the same for the uncorrected stamp (from the body of the answer)
 *     inside    ended - arrived, less all parts that the server tells
 *     back      done - ended: from the end of the work to the last byte at the client
 *     residue   done - sent, less all parts that the server tells (there + inside + back)
 *     own       run-queue wait of this client itself between sent and done; the noise of the instrument
 *
 * and the share of requests with status 200. Requests that are still unanswered when the next burst is due are
 * waited for first: this is a measuring client, not a load generator.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <time.h>
#include <unistd.h>

enum { CONNECTIONS_MAX = 64, PARTS = 6 };

static const char *const part_names[PARTS] = {"there", "read", "inside", "back", "residue", "own"};
static double *samples[PARTS];
static size_t n_samples;
static size_t n_ok;

struct connection {
	int fd;
	int64_t sent_ns, own_wait_ns;
	char answer[4096];
	size_t len;
	int open; /* an answer is due */
};

static int64_t now_ns(void)
{
	struct timespec t;
	clock_gettime(CLOCK_MONOTONIC, &t);
	return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

static int64_t own_wait_ns(void)
{
	static int fd = -1;
	char text[96];
	if (fd < 0)
		fd = open("/proc/self/schedstat", O_RDONLY | O_CLOEXEC);
	ssize_t n = pread(fd, text, sizeof text - 1, 0);
	text[n > 0 ? n : 0] = '\0';
	char *second = strchr(text, ' ');
	return second ? strtoll(second, NULL, 10) : 0;
}

static int connect_to(uint16_t port)
{
	struct sockaddr_in to = {
		.sin_family = AF_INET, .sin_port = htons(port), .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	int on = 1;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (fd < 0 || connect(fd, (struct sockaddr *)&to, sizeof to) < 0) {
		perror("probe_client: connect");
		exit(1);
	}
	setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
	return fd;
}

static int64_t figure(const char *answer, const char *name)
{
	const char *at = strstr(answer, name);
	return at ? strtoll(at + strlen(name), NULL, 10) : 0;
}

static int is_complete(const struct connection *c)
{
	const char *end = strstr(c->answer, "\r\n\r\n");
	const char *length = strcasestr(c->answer, "\r\nContent-Length: ");
	if (!end || !length)
		return 0;
	return c->len >= (size_t)(end + 4 - c->answer) + strtoul(length + 18, NULL, 10);
}

static void book(const struct connection *c, int64_t done_ns)
{
	static const char *const told[] = {"-Queue-Ns: ", "-Cpu-Ns: ",      "Runqueue-Wait-Ns: ", "Headroom-Wait-Ns: ",
					   "Disk-Ns: ",   "Pool-Wait-Ns: ", "Pool-Hold-Ns: "};
	int64_t parts = 0;
	for (size_t i = 0; i < sizeof told / sizeof *told; i++)
		parts += figure(c->answer, told[i]);
	int64_t arrived = figure(c->answer, "Arrived-Ns: ");
	int64_t ended = figure(c->answer, "Ended-Ns: ");
	int64_t own = own_wait_ns() - c->own_wait_ns;
	const int64_t values[PARTS] = {arrived - c->sent_ns,         figure(c->answer, "\"read_ns\":") - c->sent_ns,
				       ended - arrived - parts,      done_ns - ended,
				       done_ns - c->sent_ns - parts, own};
	for (int p = 0; p < PARTS; p++)
		samples[p][n_samples] = (double)values[p] / 1000;
	n_samples++;
	n_ok += strncmp(c->answer, "HTTP/1.1 200", 12) == 0;
}

static void receive(struct connection *c)
{
	ssize_t n = recv(c->fd, c->answer + c->len, sizeof c->answer - 1 - c->len, 0);
	int64_t done_ns = now_ns();
	if (n <= 0) {
		fprintf(stderr, "probe_client: the server closed a connection\n");
		exit(1);
	}
	c->len += (size_t)n;
	c->answer[c->len] = '\0';
	if (!is_complete(c))
		return;
	book(c, done_ns);
	c->open = 0;
}

static void send_burst(struct connection c[], int burst, const char *request)
{
	for (int i = 0; i < burst; i++) {
		c[i].open = 1;
		c[i].len = 0;
		c[i].own_wait_ns = own_wait_ns();
		c[i].sent_ns = now_ns();
		if (send(c[i].fd, request, strlen(request), MSG_NOSIGNAL) < 0) {
			perror("probe_client: send");
			exit(1);
		}
	}
}

static void receive_burst(struct connection c[], int burst)
{
	struct pollfd p[CONNECTIONS_MAX];
	for (;;) {
		nfds_t n = 0;
		for (int i = 0; i < burst; i++)
			if (c[i].open)
				p[n++] = (struct pollfd){.fd = c[i].fd, .events = POLLIN};
		if (n == 0)
			return;
		if (poll(p, n, 10000) <= 0) {
			fprintf(stderr, "probe_client: no answer within 10 s\n");
			exit(1);
		}
		for (nfds_t k = 0; k < n; k++)
			for (int i = 0; i < burst; i++)
				if (c[i].fd == p[k].fd && p[k].revents)
					receive(&c[i]);
	}
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static void print_parts(void)
{
	for (int p = 0; p < PARTS; p++) {
		size_t rank99 = (n_samples * 99 + 99) / 100;
		qsort(samples[p], n_samples, sizeof(double), compare);
		printf("%-8s min %9.1f  p50 %9.1f  p99 %9.1f  max %9.1f us\n", part_names[p], samples[p][0],
		       samples[p][(n_samples - 1) / 2], samples[p][rank99 - 1], samples[p][n_samples - 1]);
	}
	printf("ok %zu of %zu\n", n_ok, n_samples);
}

int main(int argc, char **argv)
{
	struct connection c[CONNECTIONS_MAX] = {0};
	char request[256];
	if (argc != 6 || atoi(argv[3]) < 1 || atoi(argv[3]) > CONNECTIONS_MAX) {
		fprintf(stderr, "usage: probe_client PORT PATH BURST EVERY_MS BURSTS\n");
		return 2;
	}
	int burst = atoi(argv[3]), bursts = atoi(argv[5]);
	int64_t every_ns = atoll(argv[4]) * 1000000;
	snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: probe\r\n\r\n", argv[2]);
	for (int p = 0; p < PARTS; p++)
		samples[p] = calloc((size_t)(burst * (bursts + 1)), sizeof(double));
	prctl(PR_SET_TIMERSLACK, 1UL);
	for (int i = 0; i < burst; i++)
		c[i].fd = connect_to((uint16_t)atoi(argv[1]));
	send_burst(c, burst, request); /* warm-up: threads, caches, the meter of each connection */
	receive_burst(c, burst);
	n_samples = n_ok = 0;
	int64_t at = now_ns();
	for (int b = 0; b < bursts; b++) {
		at += every_ns;
		struct timespec until = {.tv_sec = at / 1000000000, .tv_nsec = at % 1000000000};
		clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &until, NULL);
		send_burst(c, burst, request);
		receive_burst(c, burst);
	}
	print_parts();
	return n_ok == n_samples ? 0 : 1;
}
