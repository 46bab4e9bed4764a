/* jget: prints one value of a JSON object for shell scripts, since the guest of tests/vm has no jq.
 *
 *   jget FILE KEY[.KEY...]...      one line per key: string without quotes, number, true, false, null, or "(absent)";
 *                                  an object or array as compact JSON
 *
 * FILE - is stdin. Status 1 and a message when the file holds no JSON object.
 */
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const json_t *find(const json_t *at, char *path)
{
	for (char *key = strtok(path, "."); key && at; key = strtok(NULL, ".")) {
		char *end;
		size_t index = strtoul(key, &end, 10);

		at = json_is_array(at) && *key && !*end ? json_array_get(at, index) : json_object_get(at, key);
	}
	return at;
}

static void print(const json_t *value)
{
	char *text;

	if (!value) {
		puts("(absent)");
	} else if (json_is_string(value)) {
		puts(json_string_value(value));
	} else {
		text = json_dumps(value, JSON_COMPACT | JSON_ENCODE_ANY);
		puts(text ? text : "(out of memory)");
		free(text);
	}
}

int main(int argc, char **argv)
{
	json_error_t error;
	json_t *root;

	if (argc < 2) {
		fputs("jget: FILE KEY...\n", stderr);
		return 2;
	}
	root = strcmp(argv[1], "-") ? json_load_file(argv[1], 0, &error) : json_loadf(stdin, 0, &error);
	if (!json_is_object(root)) {
		fprintf(stderr, "jget: %s: %s\n", argv[1], root ? "not an object" : error.text);
		return 1;
	}
	for (int i = 2; i < argc; i++)
		print(find(root, argv[i]));
	json_decref(root);
	return 0;
}
