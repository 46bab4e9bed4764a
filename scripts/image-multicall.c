/* One file for several programs: the name under which it is called says which one. What they share (libc, OpenSSL,
 * curl) is in it once, which makes the image half as large as with a file for each. Built by `make image-root`. */
#include <stdio.h>
#include <string.h>

int main_headroom(int argc, char **argv);
int main_probe(int argc, char **argv);
int main_load(int argc, char **argv);

static const char *base_name(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL;
	return slash ? slash + 1 : path;
}

int main(int argc, char **argv)
{
	const char *name = base_name(argv[0]);
	if (name && strcmp(name, "headroom-probe") == 0)
		return main_probe(argc, argv);
	if (name && strcmp(name, "headroom-load") == 0)
		return main_load(argc, argv);
	return main_headroom(argc, argv);
}
