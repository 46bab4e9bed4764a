/* A docker engine's multiplexed output taken apart, however it is cut into pieces; which sockets are of this host. */
#include "tests/unit/check.h"

#include "lab/limit_docker.h"

struct got {
	char text[3][64]; /* by stream */
};

static void take(void *context, int stream, const char *text, size_t len)
{
	struct got *g = context;
	assert_in_range(stream, 1, 2);
	strncat(g->text[stream], text, len);
}

static void test_frames(void **state)
{
	static const char data[] = "\1\0\0\0\0\0\0\6hello\n\2\0\0\0\0\0\0\4oh!\n\1\0\0\0\0\0\0\0\1\0\0\0\0\0\0\2x\n";
	size_t len = sizeof data - 1;
	(void)state;
	for (size_t piece = 1; piece <= len; piece++) {
		struct docker_frames frames = {.have = 0};
		struct got g = {.text = {""}};
		for (size_t at = 0; at < len; at += piece)
			docker_frames_take(&frames, data + at, piece < len - at ? piece : len - at, take, &g);
		assert_string_equal(g.text[1], "hello\nx\n");
		assert_string_equal(g.text[2], "oh!\n");
	}
}

static void test_sockets(void **state)
{
	(void)state;
	assert_string_equal(engine_socket(NULL), "/var/run/docker.sock");
	assert_string_equal(engine_socket(""), "/var/run/docker.sock");
	assert_string_equal(engine_socket("unix:///run/user/1000/docker.sock"), "/run/user/1000/docker.sock");
	assert_null(engine_socket("unix://relative"));
	assert_null(engine_socket("tcp://10.0.0.1:2375"));
	assert_null(engine_socket("ssh://me@there"));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_frames),
		cmocka_unit_test(test_sockets),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
