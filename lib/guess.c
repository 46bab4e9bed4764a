#include "guess.h"

#include <elf.h>
#include <string.h>

/* ---- reading ---- */

/* All of it or nothing. */
static bool read_exact(const struct guess_file *file, void *buf, size_t size, uint64_t offset)
{
	size_t got = 0;
	while (got < size) {
		ssize_t n = file->read_at(file->context, (char *)buf + got, size - got, offset + got);
		if (n <= 0 || (size_t)n > size - got)
			return false;
		got += (size_t)n;
	}
	return true;
}

/* ---- ELF: the place of one section ---- */

enum { SECTIONS_MAX = 256, SECTION_NAME_MAX = 32 };

/* Where a number stands and how wide it is. */
struct field {
	unsigned char at, width;
};

#define FIELD(type, name)                                                                                              \
	{                                                                                                              \
		offsetof(type, name), sizeof(((type *)0)->name)                                                        \
	}

struct elf_class {
	unsigned char id;
	unsigned char header_size, entry_size;
	struct field shoff, shentsize, shnum, shstrndx;
	struct field name, offset, size;
};

static const struct elf_class elf_classes[] = {
	{ELFCLASS32, sizeof(Elf32_Ehdr), sizeof(Elf32_Shdr), FIELD(Elf32_Ehdr, e_shoff), FIELD(Elf32_Ehdr, e_shentsize),
	 FIELD(Elf32_Ehdr, e_shnum), FIELD(Elf32_Ehdr, e_shstrndx), FIELD(Elf32_Shdr, sh_name),
	 FIELD(Elf32_Shdr, sh_offset), FIELD(Elf32_Shdr, sh_size)},
	{ELFCLASS64, sizeof(Elf64_Ehdr), sizeof(Elf64_Shdr), FIELD(Elf64_Ehdr, e_shoff), FIELD(Elf64_Ehdr, e_shentsize),
	 FIELD(Elf64_Ehdr, e_shnum), FIELD(Elf64_Ehdr, e_shstrndx), FIELD(Elf64_Shdr, sh_name),
	 FIELD(Elf64_Shdr, sh_offset), FIELD(Elf64_Shdr, sh_size)},
};

struct elf {
	const struct guess_file *file;
	const struct elf_class *class;
	bool big_endian;
	uint64_t sections; /* offset of the section headers */
	uint64_t n_sections;
	uint64_t names, names_size; /* the section that holds the names */
};

struct section {
	uint64_t name, offset, size;
};

static uint64_t field_value(const unsigned char *record, struct field f, bool big_endian)
{
	uint64_t value = 0;
	for (unsigned i = 0; i < f.width; i++)
		value = value << 8 | record[f.at + (big_endian ? i : f.width - 1U - i)];
	return value;
}

static bool read_section(const struct elf *elf, uint64_t index, struct section *out)
{
	unsigned char entry[sizeof(Elf64_Shdr)];
	const struct elf_class *c = elf->class;
	if (!read_exact(elf->file, entry, c->entry_size, elf->sections + index * c->entry_size))
		return false;
	out->name = field_value(entry, c->name, elf->big_endian);
	out->offset = field_value(entry, c->offset, elf->big_endian);
	out->size = field_value(entry, c->size, elf->big_endian);
	/* what follows adds small numbers to an offset; no file is that long */
	return out->offset <= INT64_MAX && out->size <= INT64_MAX;
}

/* Class and byte order from the first bytes. */
static bool read_ident(struct elf *elf, const unsigned char *header)
{
	if (memcmp(header, ELFMAG, SELFMAG) != 0 || header[EI_VERSION] != EV_CURRENT)
		return false;
	if (header[EI_DATA] != ELFDATA2LSB && header[EI_DATA] != ELFDATA2MSB)
		return false;
	elf->big_endian = header[EI_DATA] == ELFDATA2MSB;
	for (size_t i = 0; i < ARRAY_LEN(elf_classes); i++)
		if (elf_classes[i].id == header[EI_CLASS])
			elf->class = &elf_classes[i];
	return elf->class != NULL;
}

static bool open_elf(struct elf *elf, const struct guess_file *file)
{
	unsigned char header[sizeof(Elf64_Ehdr)] = {0};
	struct section names;
	*elf = (struct elf){.file = file};
	if (!read_exact(file, header, EI_NIDENT, 0) || !read_ident(elf, header) ||
	    !read_exact(file, header, elf->class->header_size, 0))
		return false;
	const struct elf_class *c = elf->class;
	uint64_t names_index = field_value(header, c->shstrndx, elf->big_endian);
	elf->sections = field_value(header, c->shoff, elf->big_endian);
	elf->n_sections = field_value(header, c->shnum, elf->big_endian);
	if (field_value(header, c->shentsize, elf->big_endian) != c->entry_size || elf->sections > INT64_MAX ||
	    elf->n_sections > SECTIONS_MAX || names_index >= elf->n_sections || !read_section(elf, names_index, &names))
		return false;
	elf->names = names.offset;
	elf->names_size = names.size;
	return true;
}

/* The name of a section, its terminator included, is `wanted`. */
static bool is_named(const struct elf *elf, const struct section *s, const char *wanted)
{
	char name[SECTION_NAME_MAX];
	size_t size = strlen(wanted) + 1;
	if (size > sizeof name || s->name > elf->names_size || size > elf->names_size - s->name)
		return false;
	return read_exact(elf->file, name, size, elf->names + s->name) && memcmp(name, wanted, size) == 0;
}

static bool find_section(const struct elf *elf, const char *wanted, struct section *out)
{
	for (uint64_t i = 0; i < elf->n_sections; i++)
		if (read_section(elf, i, out) && is_named(elf, out, wanted))
			return true;
	return false;
}

/* ---- Go's build information ---- */

/* 14 bytes of magic, the pointer size, flags; the two strings follow at 32 when the flag says so (from 1.18 on). */
static const char blob_magic[] = "\xff Go buildinf:";
enum { BLOB_MAGIC_SIZE = 14, BLOB_FLAGS = 15, BLOB_FLAG_INLINE = 2, BLOB_SIZE = 32 };

/* Longest version looked at ("go1.26.1 X:..."), and how much of the list of modules. Large programs have 60 kB. */
enum { VERSION_MAX = 64, MODULES_MAX = 256 * 1024, VARINT_MAX = 10 };

/* A window on the file that gets shorter from its front. */
struct span {
	const struct guess_file *file;
	uint64_t at, left;
};

static bool span_read(const struct span *s, void *buf, size_t size)
{
	return size <= s->left && read_exact(s->file, buf, size, s->at);
}

static void span_advance(struct span *s, uint64_t by)
{
	s->at += by;
	s->left -= by;
}

/* A string with its length in front (7 bits a byte, the lowest first): *string becomes its bytes, *s what follows. */
static bool take_string(struct span *s, struct span *string)
{
	uint64_t size = 0;
	for (unsigned i = 0; i < VARINT_MAX; i++) {
		unsigned char byte;
		if (!span_read(s, &byte, 1))
			return false;
		span_advance(s, 1);
		/* the tenth byte has room for one bit only */
		if (i == VARINT_MAX - 1 && byte > 1)
			return false;
		size |= (uint64_t)(byte & 0x7f) << (7 * i);
		if (byte & 0x80)
			continue;
		if (size > s->left)
			return false;
		*string = (struct span){s->file, s->at, size};
		span_advance(s, size);
		return true;
	}
	return false;
}

static bool is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* Up to three digits at p; -1 when there is none, or a fourth. */
static int small_number(const char *p, size_t len)
{
	size_t n = 0;
	int value = 0;
	for (; n < len && n < 4 && is_digit(p[n]); n++)
		value = value * 10 + (p[n] - '0');
	return n > 0 && n < 4 ? value : -1;
}

/* "go1.25.3", "go1.25rc1", "devel go1.26-1234abcd Mon ..." */
static int go_minor(const struct span *version)
{
	static const char devel[] = "devel ";
	static const char go1[] = "go1.";
	char text[VERSION_MAX];
	size_t len = version->left < sizeof text ? (size_t)version->left : sizeof text;
	const char *p = text;
	if (!span_read(version, text, len))
		return GO_MINOR_UNKNOWN;
	if (len >= sizeof devel - 1 && memcmp(p, devel, sizeof devel - 1) == 0) {
		p += sizeof devel - 1;
		len -= sizeof devel - 1;
	}
	if (len < sizeof go1 - 1 || memcmp(p, go1, sizeof go1 - 1) != 0)
		return GO_MINOR_UNKNOWN;
	int minor = small_number(p + sizeof go1 - 1, len - (sizeof go1 - 1));
	return minor < 0 ? GO_MINOR_UNKNOWN : minor;
}

/* Searches the list of modules and build settings in pieces; what is longer than MODULES_MAX is not searched. */
static void search_modules(struct span modules, struct go_build *out)
{
	static const char no_container[] = "containermaxprocs=0";
	static const char automaxprocs[] = "\tgo.uber.org/automaxprocs\t";
	enum { PIECE = 4096, OVERLAP = 32 };
	_Static_assert(sizeof no_container <= OVERLAP && sizeof automaxprocs <= OVERLAP, "a piece could cut it");
	char piece[PIECE];
	if (modules.left > MODULES_MAX)
		modules.left = MODULES_MAX;
	for (;;) {
		size_t n = modules.left < PIECE ? (size_t)modules.left : PIECE;
		if (!span_read(&modules, piece, n))
			return;
		out->ignores_quota |= memmem(piece, n, no_container, sizeof no_container - 1) != NULL;
		out->links_automaxprocs |= memmem(piece, n, automaxprocs, sizeof automaxprocs - 1) != NULL;
		if (n < PIECE)
			return;
		span_advance(&modules, PIECE - OVERLAP);
	}
}

bool guess_go_build(const struct guess_file *file, struct go_build *out)
{
	struct elf elf;
	struct section s;
	char head[BLOB_SIZE];
	if (!open_elf(&elf, file) || !find_section(&elf, ".go.buildinfo", &s))
		return false;
	struct span blob = {file, s.offset, s.size};
	struct span version;
	struct span modules;
	if (!span_read(&blob, head, sizeof head) || memcmp(head, blob_magic, BLOB_MAGIC_SIZE) != 0)
		return false;
	*out = (struct go_build){.minor = GO_MINOR_OLD};
	if (!(head[BLOB_FLAGS] & BLOB_FLAG_INLINE))
		return true;
	span_advance(&blob, sizeof head);
	out->minor = take_string(&blob, &version) ? go_minor(&version) : GO_MINOR_UNKNOWN;
	if (out->minor != GO_MINOR_UNKNOWN && take_string(&blob, &modules))
		search_modules(modules, out);
	return true;
}

/* ---- executable and libraries ---- */

enum family { JVM, OPENJ9, DOTNET, NODE, PYTHON, RUBY, OPENMP, NGINX, FAMILIES };

/* A name without its folder. Not terminated. */
struct name {
	const char *p;
	size_t len;
};

/* A file name that stands for a family: `start`, then nothing more or one of `next`, then anything of `rest`
 * (NULL = anything at all). A name of a library holds ".so" besides. */
struct rule {
	const char *start, *next, *rest;
	enum family family;
};

static const struct rule exe_rules[] = {
	{"node", "", "", NODE},
	{"nodejs", "", "", NODE},
	{"python3", ".", ".0123456789dt", PYTHON}, /* t: free threading, d: debug */
	{"ruby", "0123456789", ".0123456789", RUBY},
	{"nginx", "", "", NGINX},
};

/* Wheels carry copies with a hash in the name: libgomp-a34b3233.so.1.0.0, libscipy_openblas64_-99b71e71.so */
static const struct rule library_rules[] = {
	{"libjvm.so", "", "", JVM},
	{"libj9vm", "0123456789", NULL, OPENJ9},
	{"libcoreclr.so", "", "", DOTNET},
	{"libnode.so", ".", NULL, NODE},
	{"libpython3.", "0123456789s", NULL, PYTHON},
	{"libruby", ".-", NULL, RUBY},
	{"libgomp", ".-", NULL, OPENMP},
	{"libomp", ".-", NULL, OPENMP},
	{"libiomp5", ".-", NULL, OPENMP},
	{"libopenblas", ".-_p6", NULL, OPENMP},
	{"libscipy_openblas", ".-_6", NULL, OPENMP},
};

struct found {
	bool family[FAMILIES];
	int python_minor; /* -1 = not known */
};

static bool is_one_of(char c, const char *set)
{
	return c != '\0' && strchr(set, c) != NULL;
}

static bool rule_matches(const struct rule *r, struct name name)
{
	size_t start = strlen(r->start);
	if (name.len < start || memcmp(name.p, r->start, start) != 0)
		return false;
	if (name.len > start && !is_one_of(name.p[start], r->next))
		return false;
	for (size_t i = start; r->rest && i < name.len; i++)
		if (!is_one_of(name.p[i], r->rest))
			return false;
	return true;
}

/* The last component of a path, without the " (deleted)" that the kernel adds. */
static struct name base_name(const char *path, size_t len)
{
	static const char deleted[] = " (deleted)";
	size_t suffix = sizeof deleted - 1;
	if (len > suffix && memcmp(path + len - suffix, deleted, suffix) == 0)
		len -= suffix;
	const char *slash = memrchr(path, '/', len);
	size_t skip = slash ? (size_t)(slash - path) + 1 : 0;
	return (struct name){path + skip, len - skip};
}

/* "python3.11", "libpython3.13t.so.1.0": the number behind "python3." */
static void note_python(struct found *found, struct name name)
{
	static const char before[] = "python3.";
	const char *p = memmem(name.p, name.len, before, sizeof before - 1);
	if (!p || found->python_minor >= 0)
		return;
	p += sizeof before - 1;
	found->python_minor = small_number(p, (size_t)(name.p + name.len - p));
}

static void apply_rules(const struct rule *rules, size_t n, struct name name, struct found *found)
{
	for (size_t i = 0; i < n; i++) {
		if (!rule_matches(&rules[i], name))
			continue;
		found->family[rules[i].family] = true;
		if (rules[i].family == PYTHON)
			note_python(found, name);
	}
}

/* The path of a line of maps, "address perms offset device inode   path", if it is a file mapped for execution: a
 * library that is merely read, by a linker or a scanner, is not in use. */
static bool executable_path(const char *line, size_t len, struct name *out)
{
	enum { PERMS = 1, FIELDS = 5 };
	size_t at = 0;
	for (unsigned field = 0; field < FIELDS; field++) {
		size_t start = at;
		while (at < len && line[at] != ' ')
			at++;
		if (field == PERMS && (at - start != 4 || line[start + 2] != 'x'))
			return false;
		while (at < len && line[at] == ' ')
			at++;
	}
	*out = base_name(line + at, len - at);
	return at < len && line[at] == '/' && memmem(out->p, out->len, ".so", 3) != NULL;
}

static void look_at_maps(const char *maps, size_t len, struct found *found)
{
	const char *end = maps + len;
	const char *newline;
	for (const char *line = maps; line < end; line = newline + 1) {
		struct name name;
		newline = memchr(line, '\n', (size_t)(end - line));
		if (!newline)
			return;
		if (executable_path(line, (size_t)(newline - line), &name))
			apply_rules(library_rules, ARRAY_LEN(library_rules), name, found);
	}
}

/* ---- from families to runtimes ---- */

static bool is_go(const struct guess_evidence *e, bool container_aware)
{
	if (!e->go)
		return false;
	if (e->go->ignores_quota || (e->go->minor >= 0 && e->go->minor < 25))
		return !container_aware;
	return e->go->minor == GO_MINOR_UNKNOWN || container_aware;
}

static bool uses(const char *id, const struct guess_evidence *e, const struct found *found)
{
	const bool *family = found->family;
	const struct {
		const char *id;
		bool used;
	} answers[] = {
		{"go_1_25", is_go(e, true)},
		{"go_before_1_25", is_go(e, false)},
		{"automaxprocs", e->go && e->go->links_automaxprocs},
		{"jvm", family[JVM] && !family[OPENJ9]}, /* OpenJ9 has a libjvm.so too, and its own rules */
		{"dotnet", family[DOTNET]},
		{"node_libuv_1_52", family[NODE]},
		{"node_libuv_1_51", family[NODE]},
		{"node_libuv_1_49", family[NODE]},
		{"node_libuv_before_1_49", family[NODE]},
		{"python_os_cpu_count", family[PYTHON]},
		{"python_process_cpu_count", family[PYTHON] && (found->python_minor < 0 || found->python_minor >= 13)},
		{"concurrent_ruby", family[RUBY]},
		{"openmp", family[OPENMP]},
		{"nginx", family[NGINX]},
	};
	for (size_t i = 0; i < ARRAY_LEN(answers); i++)
		if (strcmp(answers[i].id, id) == 0)
			return answers[i].used;
	return false;
}

void guess_runtimes(const struct guess_evidence *e, struct guess *out)
{
	struct found found = {.python_minor = -1};
	*out = (struct guess){0};
	/* a Go program may be called node or nginx; what it is made of counts more than its name */
	if (e->exe && !e->go)
		apply_rules(exe_rules, ARRAY_LEN(exe_rules), base_name(e->exe, e->exe_len), &found);
	if (e->maps)
		look_at_maps(e->maps, e->maps_len, &found);
	for (size_t i = 0; i < runtimes_count() && out->n < GUESS_MAX; i++)
		if (uses(runtimes_at(i)->id, e, &found))
			out->runtimes[out->n++] = runtimes_at(i);
	out->one_of_several =
		found.family[NODE] || (is_go(e, true) && is_go(e, false)) || (e->go && e->go->links_automaxprocs);
}
