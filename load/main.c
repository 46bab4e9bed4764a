/* headroom-load: sends requests on a schedule and says how long they took. See --help. */
#include "load.h"
#include "merge.h"

#include <string.h>

int main(int argc, char **argv)
{
	/* `kubectl run ... -- headroom-load merge` repeats the name */
	int at = argc > 2 && strcmp(argv[1], "headroom-load") == 0 ? 2 : 1;
	if (argc > at && strcmp(argv[at], "merge") == 0)
		return merge_main(argc - at, argv + at);
	return load_main(argc, argv);
}
