/* The runtime of a process from literals, and from executables that are made here byte by byte. */
#include "guess.h"

#include <elf.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

/* ---- a file in memory: exactly as long as it is, so that sanitizers see every read beyond it ------------------------
 */

struct image {
	unsigned char *bytes;
	size_t size;
	size_t piece; /* reads return at most so many bytes; 0 = all */
	unsigned calls;
	uint64_t asked;
};

static ssize_t read_image(void *context, void *buf, size_t size, uint64_t offset)
{
	struct image *image = context;
	image->calls++;
	image->asked += size;
	if (offset > INT64_MAX)
		return -1;
	if (offset >= image->size)
		return 0;
	if (size > image->size - offset)
		size = (size_t)(image->size - offset);
	if (image->piece > 0 && size > image->piece)
		size = image->piece;
	memcpy(buf, image->bytes + offset, size);
	return (ssize_t)size;
}

static bool look(struct image *image, struct go_build *out)
{
	struct guess_file file = {.read_at = read_image, .context = image};
	image->calls = 0;
	image->asked = 0;
	return guess_go_build(&file, out);
}

/* ---- making Go executables -----------------------------------------------------------------------------------------
 */

struct plan {
	int class; /* ELFCLASS32 or ELFCLASS64 */
	bool big_endian;
	const char *section; /* name of the last section */
	const char *version; /* NULL: no inline strings */
	const char *modules;
	size_t padding; /* bytes in front of the modules' text, part of it */
};

static const struct plan usual = {ELFCLASS64, false, ".go.buildinfo", "go1.25.3", "", 0};

static void put(unsigned char *at, size_t width, uint64_t value, bool big_endian)
{
	for (size_t i = 0; i < width; i++)
		at[big_endian ? width - 1 - i : i] = (unsigned char)(value >> (8 * i));
}

#define PUT(record, type, field, value)                                                                                \
	put((record) + offsetof(type, field), sizeof(((type *)0)->field), (value), plan->big_endian)

/* The characters without their terminator; how many. */
static size_t put_text(unsigned char *at, const char *text)
{
	size_t n = 0;
	for (; text[n]; n++)
		at[n] = (unsigned char)text[n];
	return n;
}

static size_t put_varint(unsigned char *at, uint64_t value)
{
	size_t n = 0;
	for (; value >= 0x80; value >>= 7)
		at[n++] = (unsigned char)(value | 0x80);
	at[n++] = (unsigned char)value;
	return n;
}

/* The blob of .go.buildinfo; its size. */
static size_t put_blob(unsigned char *at, const struct plan *plan)
{
	put_text(at, "\xff Go buildinf:");
	at[14] = 8;
	at[15] = plan->version ? 2 : plan->big_endian;
	if (!plan->version)
		return 32;
	size_t n = 32;
	n += put_varint(at + n, strlen(plan->version));
	n += put_text(at + n, plan->version);
	n += put_varint(at + n, plan->padding + strlen(plan->modules));
	memset(at + n, 'x', plan->padding);
	n += plan->padding;
	return n + put_text(at + n, plan->modules);
}

static void put_header(unsigned char *at, const struct plan *plan, uint64_t shoff)
{
	put_text(at, ELFMAG);
	at[EI_CLASS] = (unsigned char)plan->class;
	at[EI_DATA] = plan->big_endian ? ELFDATA2MSB : ELFDATA2LSB;
	at[EI_VERSION] = EV_CURRENT;
	if (plan->class == ELFCLASS64) {
		PUT(at, Elf64_Ehdr, e_shoff, shoff);
		PUT(at, Elf64_Ehdr, e_shentsize, sizeof(Elf64_Shdr));
		PUT(at, Elf64_Ehdr, e_shnum, 4);
		PUT(at, Elf64_Ehdr, e_shstrndx, 1);
	} else {
		PUT(at, Elf32_Ehdr, e_shoff, shoff);
		PUT(at, Elf32_Ehdr, e_shentsize, sizeof(Elf32_Shdr));
		PUT(at, Elf32_Ehdr, e_shnum, 4);
		PUT(at, Elf32_Ehdr, e_shstrndx, 1);
	}
}

static size_t put_section(unsigned char *at, const struct plan *plan, uint64_t name, uint64_t offset, uint64_t size)
{
	if (plan->class == ELFCLASS64) {
		PUT(at, Elf64_Shdr, sh_name, name);
		PUT(at, Elf64_Shdr, sh_offset, offset);
		PUT(at, Elf64_Shdr, sh_size, size);
		return sizeof(Elf64_Shdr);
	}
	PUT(at, Elf32_Shdr, sh_name, name);
	PUT(at, Elf32_Shdr, sh_offset, offset);
	PUT(at, Elf32_Shdr, sh_size, size);
	return sizeof(Elf32_Shdr);
}

enum { SHOFF = 64, NAMES = SHOFF + 4 * 64, BLOB = NAMES + 64, AFTER = 32 };

/* Header, four section headers (none, names, .text, the one wanted), names, blob, zeros that belong to no section. To
 * be freed. */
static struct image make_image(const struct plan *plan)
{
	static const char names[] = "\0.shstrtab\0.text\0";
	size_t most = BLOB + 512 + AFTER + plan->padding + strlen(plan->modules);
	unsigned char *bytes = calloc(1, most);
	assert_non_null(bytes);
	size_t blob_size = put_blob(bytes + BLOB, plan);
	size_t at = SHOFF;
	put_header(bytes, plan, SHOFF);
	memcpy(bytes + NAMES, names, sizeof names - 1);
	put_text(bytes + NAMES + sizeof names - 1, plan->section);
	at += put_section(bytes + at, plan, 0, 0, 0);
	at += put_section(bytes + at, plan, 1, NAMES, sizeof names + strlen(plan->section));
	at += put_section(bytes + at, plan, 11, BLOB, 10);
	put_section(bytes + at, plan, sizeof names - 1, BLOB, blob_size);
	unsigned char *exact = realloc(bytes, BLOB + blob_size + AFTER);
	assert_non_null(exact);
	return (struct image){.bytes = exact, .size = BLOB + blob_size + AFTER};
}

static struct go_build build_of(const struct plan *plan)
{
	struct go_build g = {.minor = -99};
	struct image image = make_image(plan);
	bool is_go = look(&image, &g);
	free(image.bytes);
	if (!is_go)
		fail_msg("not seen as Go: %s", plan->version ? plan->version : "no version");
	return g;
}

/* ---- Go ------------------------------------------------------------------------------------------------------------
 */

static void test_go_in_both_classes_and_byte_orders(void **state)
{
	(void)state;
	for (int i = 0; i < 4; i++) {
		struct plan plan = usual;
		plan.class = i & 1 ? ELFCLASS32 : ELFCLASS64;
		plan.big_endian = i & 2;
		assert_int_equal(build_of(&plan).minor, 25);
		plan.version = NULL;
		assert_int_equal(build_of(&plan).minor, GO_MINOR_OLD);
	}
}

static void test_go_versions(void **state)
{
	static const struct {
		const char *version;
		int minor;
	} want[] = {
		{"go1.25.3", 25},
		{"go1.24", 24},
		{"go1.25rc1", 25},
		{"go1.18beta2", 18},
		{"go1.100", 100},
		{"go1.22.1-fips", 22},
		{"go1.25.1 X:nocoverageredesign", 25},
		{"devel go1.26-1234abcd Mon Nov 30 22:03:00 2026 +0000", 26},
		{"devel +1234abcd Mon Nov 30", GO_MINOR_UNKNOWN},
		{"go1.", GO_MINOR_UNKNOWN},
		{"go1.x", GO_MINOR_UNKNOWN},
		{"go1.2500", GO_MINOR_UNKNOWN},
		{"go2.1", GO_MINOR_UNKNOWN},
		{"go", GO_MINOR_UNKNOWN},
		{"", GO_MINOR_UNKNOWN},
		{"x", GO_MINOR_UNKNOWN},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		struct plan plan = usual;
		plan.version = want[i].version;
		int got = build_of(&plan).minor;
		if (got != want[i].minor)
			fail_msg("'%s': %d instead of %d", want[i].version, got, want[i].minor);
	}
}

static void test_go_build_settings(void **state)
{
	struct plan plan = usual;
	(void)state;
	plan.modules = "path\tx\nmod\tx\t(devel)\nbuild\tDefaultGODEBUG=asynctimerchan=1,containermaxprocs=0,x=1\n";
	assert_true(build_of(&plan).ignores_quota);
	assert_false(build_of(&plan).links_automaxprocs);
	plan.modules = "path\tx\nbuild\tDefaultGODEBUG=containermaxprocs=1\n";
	assert_false(build_of(&plan).ignores_quota);
	plan.modules = "path\tx\ndep\tgo.uber.org/automaxprocs\tv1.6.0\th1:abc=\n";
	assert_true(build_of(&plan).links_automaxprocs);
	assert_false(build_of(&plan).ignores_quota);
	plan.modules = "path\tx\ndep\tgo.uber.org/automaxprocs2\tv1.6.0\n";
	assert_false(build_of(&plan).links_automaxprocs);
}

/* The list of modules is searched in pieces: wherever it stands, it is found; beyond 256 kB nothing is read. */
static void test_go_build_settings_at_every_place_of_a_piece(void **state)
{
	struct plan plan = usual;
	(void)state;
	plan.modules = "\tgo.uber.org/automaxprocs\tcontainermaxprocs=0";
	for (plan.padding = 3990; plan.padding < 4150; plan.padding++) {
		struct go_build g = build_of(&plan);
		assert_true(g.ignores_quota && g.links_automaxprocs);
	}
	plan.padding = 300 * 1024;
	assert_false(build_of(&plan).ignores_quota);
}

static void test_go_read_in_small_pieces(void **state)
{
	struct image image = make_image(&usual);
	struct go_build g;
	(void)state;
	image.piece = 1;
	assert_true(look(&image, &g));
	assert_int_equal(g.minor, 25);
	free(image.bytes);
}

static void test_not_go(void **state)
{
	static const char *const sections[] = {".go.buildinfo2", ".go.buildinf", "go.buildinfo", ".text", ""};
	struct go_build g = {.minor = -99};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sections); i++) {
		struct plan plan = usual;
		plan.section = sections[i];
		struct image image = make_image(&plan);
		assert_false(look(&image, &g));
		free(image.bytes);
	}
	struct image text = {.bytes = (unsigned char *)"#!/bin/sh\nexec java -jar x.jar\n", .size = 31};
	assert_false(look(&text, &g));
	struct image nothing = {.bytes = (unsigned char *)"", .size = 0};
	assert_false(look(&nothing, &g));
	assert_int_equal(g.minor, -99); /* nothing was written */
}

/* ---- hostile executables
 * --------------------------------------------------------------------------------------------- */

static void expect_bounded(struct image *image)
{
	struct go_build g;
	(void)look(image, &g);
	assert_true(image->calls <= 600);
	assert_true(image->asked <= 300 * 1024);
}

static void test_cut_at_every_length(void **state)
{
	struct image image = make_image(&usual);
	(void)state;
	for (size_t n = 0; n < image.size; n++) {
		struct image cut = {.bytes = malloc(n + !n), .size = n};
		assert_non_null(cut.bytes);
		memcpy(cut.bytes, image.bytes, n);
		expect_bounded(&cut);
		struct go_build g = {.minor = GO_MINOR_UNKNOWN};
		/* a version that was cut off is unknown, never a wrong one */
		(void)look(&cut, &g);
		assert_true(g.minor == GO_MINOR_UNKNOWN || n >= BLOB + 32 + 1 + strlen(usual.version));
		free(cut.bytes);
	}
	free(image.bytes);
}

static void test_every_byte_at_its_extremes(void **state)
{
	static const unsigned char values[] = {0, 1, 0x7f, 0x80, 0xff};
	(void)state;
	for (int class = ELFCLASS32; class <= ELFCLASS64; class ++) {
		struct plan plan = usual;
		plan.class = class;
		struct image image = make_image(&plan);
		for (size_t i = 0; i < image.size; i++)
			for (size_t k = 0; k < ARRAY_LEN(values); k++) {
				unsigned char kept = image.bytes[i];
				image.bytes[i] = values[k];
				expect_bounded(&image);
				image.bytes[i] = kept;
			}
		free(image.bytes);
	}
}

/* Eight bytes at once, so that whole offsets and sizes become huge. */
static void test_every_word_huge(void **state)
{
	struct image image = make_image(&usual);
	(void)state;
	for (size_t i = 0; i + 8 <= image.size; i++) {
		unsigned char kept[8];
		memcpy(kept, image.bytes + i, 8);
		memset(image.bytes + i, 0xff, 8);
		expect_bounded(&image);
		memset(image.bytes + i, 0xff, 7);
		image.bytes[i + 7] = 0x7f;
		expect_bounded(&image);
		memcpy(image.bytes + i, kept, 8);
	}
	free(image.bytes);
}

static void test_hostile_headers(void **state)
{
	static const struct {
		size_t at, width;
		uint64_t value;
	} changes[] = {
		{offsetof(Elf64_Ehdr, e_shnum), 2, 0},
		{offsetof(Elf64_Ehdr, e_shnum), 2, 257},
		{offsetof(Elf64_Ehdr, e_shnum), 2, 0xffff},
		{offsetof(Elf64_Ehdr, e_shstrndx), 2, 4},
		{offsetof(Elf64_Ehdr, e_shstrndx), 2, 0xffff},
		{offsetof(Elf64_Ehdr, e_shentsize), 2, 0},
		{offsetof(Elf64_Ehdr, e_shentsize), 2, 63},
		{offsetof(Elf64_Ehdr, e_shoff), 8, UINT64_MAX},
		{offsetof(Elf64_Ehdr, e_shoff), 8, INT64_MAX},
		{EI_CLASS, 1, 3},
		{EI_DATA, 1, 0},
		{EI_VERSION, 1, 0},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(changes); i++) {
		struct image image = make_image(&usual);
		struct go_build g;
		put(image.bytes + changes[i].at, changes[i].width, changes[i].value, false);
		if (look(&image, &g))
			fail_msg("change %zu was not noticed", i);
		assert_true(image.calls <= 600);
		free(image.bytes);
	}
}

static void put_wide(struct image *image, size_t at, uint64_t value)
{
	put(image->bytes + at, 8, value, false);
}

/* Offsets and sizes that lead to the right bytes only if a bound or an overflow is overlooked. */
static void test_names_outside_of_their_section(void **state)
{
	const size_t names_size = SHOFF + sizeof(Elf64_Shdr) + offsetof(Elf64_Shdr, sh_size);
	static const uint64_t sizes[] = {30, 17, 4, 0}; /* of the 31 that are needed */
	struct go_build g;
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(sizes); i++) {
		struct image image = make_image(&usual);
		put_wide(&image, names_size, 31);
		assert_true(look(&image, &g));
		put_wide(&image, names_size, sizes[i]);
		assert_false(look(&image, &g));
		free(image.bytes);
	}
}

static void test_section_headers_that_wrap_around(void **state)
{
	struct image image = make_image(&usual);
	struct go_build g;
	(void)state;
	/* one header before the file: number 3 lies where 1 was, 5 where 3 was */
	put_wide(&image, offsetof(Elf64_Ehdr, e_shoff), UINT64_MAX - 63);
	put(image.bytes + offsetof(Elf64_Ehdr, e_shnum), 2, 6, false);
	put(image.bytes + offsetof(Elf64_Ehdr, e_shstrndx), 2, 3, false);
	assert_false(look(&image, &g));
	free(image.bytes);
}

/* The section ends before the version does, the file does not. */
static void test_version_beyond_its_section(void **state)
{
	struct image image = make_image(&usual);
	struct go_build g;
	(void)state;
	unsigned char *length = image.bytes + BLOB + 32;
	*length = (unsigned char)(strlen(usual.version) + 1);
	assert_true(look(&image, &g));
	assert_int_equal(g.minor, 25);
	++*length;
	assert_true(look(&image, &g));
	assert_int_equal(g.minor, GO_MINOR_UNKNOWN);
	free(image.bytes);
}

/* Ten bytes whose last one has bits that no 64-bit number has room for; 8 if they are dropped. */
static void test_length_that_overflows(void **state)
{
	static const unsigned char length[] = {0x88, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x02};
	struct plan plan = usual;
	struct go_build g;
	(void)state;
	plan.version = "123456789go1.25.3";
	struct image image = make_image(&plan);
	memcpy(image.bytes + BLOB + 32, length, sizeof length);
	assert_true(look(&image, &g));
	assert_int_equal(g.minor, GO_MINOR_UNKNOWN);
	image.bytes[BLOB + 32 + 9] = 0;
	assert_true(look(&image, &g));
	assert_int_equal(g.minor, 25);
	free(image.bytes);
}

/* A version that claims to be longer than its section, in varints of every shape. */
static void test_hostile_lengths(void **state)
{
	static const unsigned char lengths[][11] = {
		{0x7f},
		{0xff, 0x01},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x01},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0x7f},
		{0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x80, 0x01},
		{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(lengths); i++) {
		struct plan plan = usual;
		plan.modules = "containermaxprocs=0 and some more text";
		struct image image = make_image(&plan);
		struct go_build g;
		memcpy(image.bytes + BLOB + 32, lengths[i], sizeof lengths[i]);
		assert_true(look(&image, &g));
		assert_int_equal(g.minor, GO_MINOR_UNKNOWN);
		assert_false(g.ignores_quota);
		free(image.bytes);
	}
}

static void test_random_bytes(void **state)
{
	uint64_t seed = 0x9e3779b97f4a7c15u;
	(void)state;
	struct image image = make_image(&usual);
	for (unsigned round = 0; round < 20000; round++) {
		unsigned char kept[8];
		size_t places[8];
		for (size_t k = 0; k < ARRAY_LEN(places); k++) {
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			places[k] = (size_t)(seed >> 33) % image.size;
			kept[k] = image.bytes[places[k]];
			image.bytes[places[k]] = (unsigned char)(seed >> 25);
		}
		expect_bounded(&image);
		for (size_t k = ARRAY_LEN(places); k-- > 0;)
			image.bytes[places[k]] = kept[k];
	}
	free(image.bytes);
}

/* ---- executables and libraries
 * ----------------------------------------------------------------------------------------- */

#define TEXT(path) "7f21b2a00000-7f21b2c00000 r-xp 00000000 08:01 131090                     " path "\n"
#define DATA(path) "7f21b2a00000-7f21b2c00000 r--p 00000000 08:01 131090                     " path "\n"

#define LIBC TEXT("/usr/lib/x86_64-linux-gnu/libc.so.6")
#define NODE "node_libuv_1_52 node_libuv_1_51 node_libuv_1_49 node_libuv_before_1_49"

/* The ids in one text, separated by blanks. */
static void ids_of(const char *exe, const char *maps, const struct go_build *go, char out[512])
{
	struct guess g;
	struct guess_evidence e = {.exe = exe, .maps = maps, .go = go};
	e.exe_len = exe ? strlen(exe) : 0;
	e.maps_len = maps ? strlen(maps) : 0;
	guess_runtimes(&e, &g);
	out[0] = '\0';
	for (size_t i = 0, at = 0; i < g.n && at < 512; i++)
		at += (size_t)snprintf(out + at, 512 - at, "%s%s", i ? " " : "", g.runtimes[i]->id);
}

static void test_guesses(void **state)
{
	static const struct {
		const char *exe, *maps, *ids;
	} want[] = {
		{"/usr/lib/jvm/java-21/bin/java", LIBC TEXT("/usr/lib/jvm/java-21/lib/server/libjvm.so"), "jvm"},
		{"/app/launcher", TEXT("/opt/java/lib/server/libjvm.so (deleted)"), "jvm"},
		{"/usr/lib/jvm/java-21/bin/java", LIBC, ""},
		{"/opt/semeru/bin/java", TEXT("/opt/j9/libjvm.so") TEXT("/opt/j9/libj9vm29.so"), ""},
		{"/usr/bin/dotnet", TEXT("/usr/share/dotnet/shared/Microsoft.NETCore.App/9.0.0/libcoreclr.so"),
		 "dotnet"},
		{"/usr/bin/dotnet", TEXT("/usr/share/dotnet/libcoreclrtraceptprovider.so"), ""},
		{"/usr/local/bin/node", LIBC, NODE},
		{"/usr/bin/nodejs", NULL, NODE},
		{"/app/x", TEXT("/usr/lib/libnode.so.115"), NODE},
		{"/usr/bin/node_exporter", LIBC, ""},
		{"/usr/bin/python3.11", LIBC, "python_os_cpu_count"},
		{"/usr/bin/python3.13", LIBC, "python_os_cpu_count python_process_cpu_count"},
		{"/usr/local/bin/python3.14t (deleted)", LIBC, "python_os_cpu_count python_process_cpu_count"},
		{"/usr/bin/python3", LIBC, "python_os_cpu_count python_process_cpu_count"},
		{"/usr/bin/python3", TEXT("/usr/lib/libpython3.9.so.1.0"), "python_os_cpu_count"},
		{"/usr/sbin/uwsgi", TEXT("/usr/lib/libpython3.12.so.1.0"), "python_os_cpu_count"},
		{"/usr/bin/python2.7", LIBC, ""},
		{"/usr/bin/python3.11-config", LIBC, ""},
		{"/usr/bin/pypy3", LIBC, ""},
		{"/usr/bin/python3.12",
		 TEXT("/venv/numpy.libs/libscipy_openblas64_-99b71e71.so")
			 TEXT("/venv/torch/lib/libgomp-a34b3233.so.1"),
		 "python_os_cpu_count openmp"},
		{"/usr/bin/python3.12", TEXT("/usr/lib/libopenblas.so.0"), "python_os_cpu_count openmp"},
		{"/usr/bin/x", TEXT("/usr/lib/libopenblasp-r0.3.26.so"), "openmp"},
		{"/usr/bin/x", TEXT("/usr/lib/llvm-19/lib/libomp.so.5"), "openmp"},
		{"/usr/bin/x", TEXT("/opt/intel/libiomp5.so"), "openmp"},
		{"/usr/bin/x", TEXT("/usr/lib/libgompx.so"), ""},
		{"/usr/bin/x", TEXT("/usr/lib/libompressor.so"), ""},
		{"/usr/bin/ruby3.1", LIBC, "concurrent_ruby"},
		{"/usr/local/bin/ruby", TEXT("/usr/local/lib/libruby.so.3.3"), "concurrent_ruby"},
		{"/usr/bin/passenger", TEXT("/usr/lib/libruby-3.1.so.3.1"), "concurrent_ruby"},
		{"/usr/bin/rubyfmt", LIBC, ""},
		{"/usr/sbin/nginx", LIBC, "nginx"},
		{"nginx", NULL, "nginx"},
		{"/usr/sbin/nginx-prometheus-exporter", LIBC, ""},
		{"/usr/sbin/nginx/other", LIBC, ""},
		{NULL, NULL, ""},
		{"", "", ""},
		{"/", "\n", ""},
		{" (deleted)", "\n\n", ""},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		char ids[512];
		ids_of(want[i].exe, want[i].maps, NULL, ids);
		if (strcmp(ids, want[i].ids) != 0)
			fail_msg("%zu %s: '%s' instead of '%s'", i, want[i].exe ? want[i].exe : "-", ids, want[i].ids);
	}
}

static void test_only_what_is_mapped_for_execution(void **state)
{
	static const char *const maps[] = {
		/* read by a linker or a scanner */
		DATA("/usr/lib/jvm/lib/server/libjvm.so"),
		/* not a file */
		"7f21b2a00000-7f21b2c00000 r-xp 00000000 00:00 0                          [anon:/x/libjvm.so]\n",
		"7f21b2a00000-7f21b2c00000 r-xp 00000000 00:00 0                          [anon: /x/libjvm.so]\n",
		"7f21b2a00000-7f21b2c00000 r-xp 00000000 00:00 0                          [anon:/x/libgomp.so.1]\n",
		"7f21b2a00000-7f21b2c00000 r-xp 00000000 00:01 77                         /memfd:libjvm.so (deleted)\n",
		/* lines that are no lines of maps */
		"/usr/lib/libjvm.so\n",
		"a r-xp b c d\n",
		"a r-xp b c d \n",
		"a r-xpx b c d /usr/lib/libjvm.so\n",
		"a x b c d /usr/lib/libjvm.so\n",
		" r-xp\n",
		/* the last line was cut */
		"7f21b2a00000-7f21b2c00000 r-xp 00000000 08:01 1 /usr/lib/libjvm.so",
		/* another library */
		TEXT("/usr/lib/libjvm.so.old"),
		TEXT("/usr/lib/libjvm.so/x.so"),
		TEXT("/usr/lib/notlibjvm.so"),
		TEXT("/usr/lib/libgomp.spec"),
		TEXT("/usr/share/libruby-doc"),
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(maps); i++) {
		char ids[512];
		ids_of("/usr/bin/x", maps[i], NULL, ids);
		if (ids[0])
			fail_msg("line %zu: '%s'", i, ids);
	}
}

static void test_texts_need_no_terminator(void **state)
{
	static const char exe[] = "/usr/bin/python3.13";
	static const char maps[] = TEXT("/usr/lib/libgomp.so.1");
	(void)state;
	for (size_t n = 0; n <= sizeof maps - 1; n++) {
		struct guess g;
		char *copy = malloc(n + !n);
		char *path = malloc(sizeof exe - 1);
		assert_non_null(copy);
		assert_non_null(path);
		memcpy(copy, maps, n);
		memcpy(path, exe, sizeof exe - 1);
		struct guess_evidence e = {
			.exe = path, .exe_len = sizeof exe - 1, .maps = copy, .maps_len = n, .go = NULL};
		guess_runtimes(&e, &g);
		assert_int_equal(g.n, n == sizeof maps - 1 ? 3 : 2);
		free(copy);
		free(path);
	}
}

static void test_binary_garbage_in_maps(void **state)
{
	char garbage[4096];
	uint64_t seed = 7;
	(void)state;
	for (unsigned round = 0; round < 200; round++) {
		struct guess g;
		for (size_t i = 0; i < sizeof garbage; i++) {
			seed = seed * UINT64_C(6364136223846793005) + UINT64_C(1442695040888963407);
			garbage[i] = "\n /x-pr0.so\0\xff"[(seed >> 33) % 13];
		}
		struct guess_evidence e = {
			.exe = garbage, .exe_len = round, .maps = garbage, .maps_len = sizeof garbage, .go = NULL};
		guess_runtimes(&e, &g);
		assert_int_equal(g.n, 0);
	}
}

static void test_go_programs(void **state)
{
	static const struct {
		struct go_build go;
		const char *ids;
		bool one_of_several;
	} want[] = {
		{{.minor = 25}, "go_1_25", false},
		{{.minor = 26}, "go_1_25", false},
		{{.minor = 24}, "go_before_1_25", false},
		{{.minor = GO_MINOR_OLD}, "go_before_1_25", false},
		{{.minor = 25, .ignores_quota = true}, "go_before_1_25", false},
		{{.minor = GO_MINOR_UNKNOWN}, "go_1_25 go_before_1_25", true},
		{{.minor = 22, .links_automaxprocs = true}, "go_before_1_25 automaxprocs", true},
	};
	(void)state;
	for (size_t i = 0; i < ARRAY_LEN(want); i++) {
		char ids[512];
		struct guess g;
		struct guess_evidence e = {.exe = "/bin/node", .exe_len = 9, .go = &want[i].go};
		/* called node, but it is Go */
		ids_of("/bin/node", LIBC, &want[i].go, ids);
		assert_string_equal(ids, want[i].ids);
		guess_runtimes(&e, &g);
		assert_int_equal(g.one_of_several, want[i].one_of_several);
	}
}

static void test_versions_of_node_exclude_one_another(void **state)
{
	struct guess g;
	struct guess_evidence e = {.exe = "/usr/bin/node", .exe_len = 13};
	(void)state;
	guess_runtimes(&e, &g);
	assert_int_equal(g.n, 4);
	assert_true(g.one_of_several);
	e = (struct guess_evidence){.exe = "/usr/bin/python3.13", .exe_len = 19};
	guess_runtimes(&e, &g);
	assert_int_equal(g.n, 2);
	assert_false(g.one_of_several);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_go_in_both_classes_and_byte_orders),
		cmocka_unit_test(test_go_versions),
		cmocka_unit_test(test_go_build_settings),
		cmocka_unit_test(test_go_build_settings_at_every_place_of_a_piece),
		cmocka_unit_test(test_go_read_in_small_pieces),
		cmocka_unit_test(test_not_go),
		cmocka_unit_test(test_cut_at_every_length),
		cmocka_unit_test(test_every_byte_at_its_extremes),
		cmocka_unit_test(test_every_word_huge),
		cmocka_unit_test(test_hostile_headers),
		cmocka_unit_test(test_names_outside_of_their_section),
		cmocka_unit_test(test_section_headers_that_wrap_around),
		cmocka_unit_test(test_version_beyond_its_section),
		cmocka_unit_test(test_length_that_overflows),
		cmocka_unit_test(test_hostile_lengths),
		cmocka_unit_test(test_random_bytes),
		cmocka_unit_test(test_guesses),
		cmocka_unit_test(test_only_what_is_mapped_for_execution),
		cmocka_unit_test(test_texts_need_no_terminator),
		cmocka_unit_test(test_binary_garbage_in_maps),
		cmocka_unit_test(test_go_programs),
		cmocka_unit_test(test_versions_of_node_exclude_one_another),
	};
	return cmocka_run_group_tests(tests, NULL, NULL);
}
