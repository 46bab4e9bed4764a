#include "kv.h"

#include <errno.h>
#include <string.h>

static const char *skip_blanks(const char *p)
{
	while (*p == ' ' || *p == '\t')
		p++;
	return p;
}

static const char *next_line(const char *p)
{
	p += strcspn(p, "\n");
	return *p ? p + 1 : p;
}

static bool ends_word(char c)
{
	return c == '\0' || c == ' ' || c == '\t' || c == '\n';
}

/* Decimal digits at *text, up to the end of the word. strtoull would take signs, saturate and stop early. */
static int take_u64(const char **text, uint64_t *out)
{
	const char *p = *text;
	uint64_t value = 0;
	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++)
		if (__builtin_mul_overflow(value, 10, &value) ||
		    __builtin_add_overflow(value, (uint64_t)(*p - '0'), &value))
			return -ERANGE;
	if (!ends_word(*p))
		return -EINVAL;
	*text = p;
	*out = value;
	return 0;
}

/* Only white space, up to the end of the text. */
static bool is_end(const char *p)
{
	return p[strspn(p, " \t\n")] == '\0';
}

static int bad_number(struct fault *f, int rc, const char *what, const char *at)
{
	return fault_set(f, rc, "%s is %s: '%.*s'", what, rc == -ERANGE ? "out of range" : "malformed",
			 (int)strcspn(at, "\n") < 40 ? (int)strcspn(at, "\n") : 40, at);
}

static size_t find_key(const char *line, const char *const keys[], size_t n)
{
	size_t len = 0;
	while (!ends_word(line[len]))
		len++;
	for (size_t i = 0; i < n; i++)
		if (strncmp(line, keys[i], len) == 0 && keys[i][len] == '\0')
			return i;
	return n;
}

int kv_read_keys(const char *text, const char *const keys[], size_t n, uint64_t values[], uint32_t *have,
		 struct fault *f)
{
	uint64_t found[32] = {0};
	uint32_t mask = 0;
	if (n > ARRAY_LEN(found))
		return fault_set(f, -EINVAL, "more than 32 keys wanted");
	for (const char *line = text; *line; line = next_line(line)) {
		size_t i = find_key(line, keys, n);
		if (i == n)
			continue;
		if (mask & (1U << i))
			return fault_set(f, -EINVAL, "key %s stands there twice", keys[i]);
		const char *p = skip_blanks(line + strlen(keys[i]));
		int rc = take_u64(&p, &found[i]);
		p = skip_blanks(p);
		if (rc < 0 || (*p && *p != '\n'))
			return bad_number(f, rc < 0 ? rc : -EINVAL, keys[i], line);
		mask |= 1U << i;
	}
	memcpy(values, found, n * sizeof *values);
	*have = mask;
	return 0;
}

int kv_read_number(const char *text, uint64_t *out, struct fault *f)
{
	const char *p = text + strspn(text, " \t\n");
	uint64_t value;
	if (!*p)
		return fault_set(f, -ENODATA, "the file is empty");
	int rc = take_u64(&p, &value);
	if (rc < 0 || !is_end(p))
		return bad_number(f, rc < 0 ? rc : -EINVAL, "the number", text);
	*out = value;
	return 0;
}

static int check_quota(const struct cpu_quota *q, struct fault *f)
{
	if (q->period_usec == 0)
		return fault_set(f, -EINVAL, "the period is 0");
	if (q->quota_usec == 0)
		return fault_set(f, -EINVAL, "the quota is 0");
	return 0;
}

/* The number that stands for "no limit" here is out of range when it comes as digits. */
static int take_quota(const char **text, uint64_t *out)
{
	int rc = take_u64(text, out);
	return rc == 0 && *out == QUOTA_NONE ? -ERANGE : rc;
}

int kv_read_cpu_max(const char *text, struct cpu_quota *out, struct fault *f)
{
	struct cpu_quota q = {.quota_usec = QUOTA_NONE, .period_usec = CPU_PERIOD_DEFAULT_USEC};
	const char *p = text + strspn(text, " \t\n");
	int rc = 0;
	if (!*p)
		return fault_set(f, -ENODATA, "the file is empty");
	if (strncmp(p, "max", 3) == 0 && ends_word(p[3]))
		p += 3;
	else
		rc = take_quota(&p, &q.quota_usec);
	if (rc < 0)
		return bad_number(f, rc, "the quota", text);
	p = skip_blanks(p);
	if (!is_end(p))
		rc = take_u64(&p, &q.period_usec);
	if (rc < 0 || !is_end(p))
		return bad_number(f, rc < 0 ? rc : -EINVAL, "the period", text);
	rc = check_quota(&q, f);
	if (rc == 0)
		*out = q;
	return rc;
}

int kv_read_cfs_quota(const char *quota_text, const char *period_text, struct cpu_quota *out, struct fault *f)
{
	struct cpu_quota q = {.quota_usec = QUOTA_NONE};
	const char *p = quota_text + strspn(quota_text, " \t\n");
	int rc = kv_read_number(period_text, &q.period_usec, f);
	if (rc < 0)
		return fault_prefix(f, rc, "period");
	if (strncmp(p, "-1", 2) != 0 || !is_end(p + 2)) {
		rc = kv_read_number(quota_text, &q.quota_usec, f);
		if (rc == 0 && q.quota_usec == QUOTA_NONE)
			rc = bad_number(f, -ERANGE, "the number", quota_text);
		if (rc < 0)
			return fault_prefix(f, rc, "quota");
	}
	rc = check_quota(&q, f);
	if (rc == 0)
		*out = q;
	return rc;
}

double cpu_quota_cpus(const struct cpu_quota *q)
{
	return (double)q->quota_usec / (double)q->period_usec;
}

bool cpu_quota_is_below(const struct cpu_quota *a, const struct cpu_quota *b)
{
	if (a->quota_usec == QUOTA_NONE || b->quota_usec == QUOTA_NONE)
		return a->quota_usec != QUOTA_NONE && b->quota_usec == QUOTA_NONE;
	return (unsigned __int128)a->quota_usec * b->period_usec < (unsigned __int128)b->quota_usec * a->period_usec;
}

/* "12.34" (digits, a point, digits) up to the end of the word; as the kernel prints averages. */
static int take_percent(const char **text, double *out)
{
	const char *p = *text;
	double value = 0;
	double scale = 1;
	if (*p < '0' || *p > '9')
		return -EINVAL;
	for (; *p >= '0' && *p <= '9'; p++)
		value = value * 10 + (*p - '0');
	/* 100.00 at most; far above it, it would not be a number any more */
	if (value > 1e9)
		return -ERANGE;
	if (*p == '.')
		for (p++; *p >= '0' && *p <= '9'; p++)
			value += (*p - '0') * (scale /= 10);
	if (!ends_word(*p))
		return -EINVAL;
	*text = p;
	*out = value;
	return 0;
}

enum { PSI_HAVE_ALL = 15 };

/* One "name=value" of a pressure line. Unknown names are passed over. */
static int take_psi_field(const char **text, struct psi_line *line, unsigned *have)
{
	static const char *const names[] = {"avg10=", "avg60=", "avg300=", "total="};
	double *const averages[] = {&line->avg10, &line->avg60, &line->avg300};
	for (unsigned i = 0; i < ARRAY_LEN(names); i++) {
		size_t len = strlen(names[i]);
		if (strncmp(*text, names[i], len) != 0)
			continue;
		if (*have & (1U << i))
			return -EINVAL;
		*have |= 1U << i;
		*text += len;
		return i < 3 ? take_percent(text, averages[i]) : take_u64(text, &line->total_usec);
	}
	*text += strcspn(*text, " \t\n");
	return 0;
}

static int read_psi_line(const char *p, struct psi_line *out)
{
	struct psi_line line = {0};
	unsigned have = 0;
	for (p = skip_blanks(p); *p && *p != '\n'; p = skip_blanks(p)) {
		int rc = take_psi_field(&p, &line, &have);
		if (rc < 0)
			return rc;
	}
	if (have != PSI_HAVE_ALL)
		return -EINVAL;
	*out = line;
	return 0;
}

int kv_read_psi(const char *text, struct psi *out, struct fault *f)
{
	static const char *const kinds[] = {"some", "full"};
	struct psi psi = {0};
	unsigned have = 0;
	for (const char *line = text; *line; line = next_line(line)) {
		size_t i = find_key(line, kinds, ARRAY_LEN(kinds));
		if (i == ARRAY_LEN(kinds))
			continue;
		int rc = have & (1U << i) ? -EINVAL : read_psi_line(line + 4, i ? &psi.full : &psi.some);
		if (rc < 0)
			return bad_number(f, rc, "the pressure line", line);
		have |= 1U << i;
	}
	if (!(have & 1))
		return fault_set(f, -ENODATA, "there is no 'some' line");
	psi.has_full = have & 2;
	*out = psi;
	return 0;
}

int kv_status_field(const char *text, const char *key, char *out, size_t size, struct fault *f)
{
	size_t key_len = strlen(key);
	for (const char *line = text; *line; line = next_line(line)) {
		if (strncmp(line, key, key_len) != 0 || line[key_len] != ':')
			continue;
		const char *p = skip_blanks(line + key_len + 1);
		size_t len = strcspn(p, "\n");
		while (len > 0 && (p[len - 1] == ' ' || p[len - 1] == '\t'))
			len--;
		if (len >= size)
			return fault_set(f, -ERANGE, "the value of %s is too long", key);
		memcpy(out, p, len);
		out[len] = '\0';
		return 0;
	}
	return fault_set(f, -ENODATA, "there is no %s", key);
}

int kv_read_schedstat(const char *text, struct schedstat *out, struct fault *f)
{
	struct schedstat s;
	uint64_t *const fields[] = {&s.run_ns, &s.wait_ns, &s.slices};
	const char *p = skip_blanks(text);
	for (size_t i = 0; i < ARRAY_LEN(fields); i++) {
		int rc = take_u64(&p, fields[i]);
		if (rc < 0)
			return bad_number(f, rc, "schedstat", text);
		p = skip_blanks(p);
	}
	*out = s;
	return 0;
}

int kv_read_cpu_ticks(const char *text, struct cpu_ticks *out, struct fault *f)
{
	enum { IDLE = 3, IOWAIT = 4, STEAL = 7, STATES = 8 };
	uint64_t ticks[STATES] = {0};
	struct cpu_ticks t = {0};
	if (strncmp(text, "cpu ", 4) != 0)
		return fault_set(f, -EINVAL, "the first line is not 'cpu'");
	const char *p = skip_blanks(text + 4);
	/* kernels before 2.6.11 end sooner: at least user, nice, system and idle must be there */
	for (size_t i = 0; i < STATES; i++) {
		if (i > IDLE && (*p == '\n' || !*p))
			break;
		int rc = take_u64(&p, &ticks[i]);
		if (rc < 0)
			return bad_number(f, rc, "the cpu line", text);
		t.total += ticks[i];
		p = skip_blanks(p);
	}
	t.idle = ticks[IDLE];
	t.iowait = ticks[IOWAIT];
	t.steal = ticks[STEAL];
	*out = t;
	return 0;
}
