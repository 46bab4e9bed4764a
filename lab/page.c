#include "page.h"

#include "opts.h"
#include "page_assets.h"
#include "page_data.h"
#include "page_study1.h"
#include "page_study3.h"

#include <errno.h>
#include <string.h>

static const struct study {
	const char *name, *title;
	void (*show)(const struct page_part *part);
	void (*compare)(const struct page_part *part, const struct page_results *all, size_t n);
} studies[] = {
	{"1", "Study 1: the same requests per second, even or in bursts, under a CPU limit", page_study1,
	 page_study1_compare},
	{"3", "Study 3: how many threads, by the concurrency law and as measured", page_study3, page_study3_compare},
};

static const struct study *find_study(const char *name)
{
	for (size_t i = 0; i < ARRAY_LEN(studies); i++)
		if (strcmp(studies[i].name, name) == 0)
			return &studies[i];
	return NULL;
}

/* ---- what every study has -------------------------------------------------------------------------------------------
 */

static void put_judgement(FILE *out, const json_value *summary)
{
	const char *shape = json_get_text(summary, "shape");
	const char *unfinished = json_get_text(summary, "unfinished");
	const json_value *judgement = json_get(summary, "judgement");
	const json_value *differences = json_get(judgement ? judgement : summary, "differences");
	bool good = shape && strcmp(shape, "as published") == 0;
	/* where the judgement is an object of its own */
	json_get_bool(judgement, "as_published", &good);
	fprintf(out, "<p class=\"judgement %s\"><strong>", good ? "good" : "bad");
	if (unfinished)
		html_format(out, "Not finished: %s", unfinished);
	else if (good)
		fputs("The shape is as published.", out);
	else
		fputs("The shape differs from the published one.", out);
	fputs("</strong></p>\n", out);
	if (!json_length(differences))
		return;
	fputs("<ul class=\"differences\">", out);
	for (size_t i = 0; i < json_length(differences); i++) {
		const char *text = json_as_text(json_at(differences, i));
		fputs("<li>", out);
		html_text(out, text ? text : "?");
		fputs("</li>", out);
	}
	fputs("</ul>\n", out);
}

static void put_opening(FILE *out, const struct page_results *r)
{
	const char *sentence = json_get_text(r->summary, "sentence");
	put_judgement(out, r->summary);
	if (sentence) {
		fputs("<p class=\"lead\">", out);
		html_text(out, sentence);
		fputs("</p>\n", out);
	}
}

/* What was set, as far as summary.json tells. */
static void put_setting(const struct page_part *p)
{
	static const struct {
		const char *key, *name;
	} settings[] = {{"started", "begin"},
			{"kernel", "kernel"},
			{"nproc", "CPUs that the machine shows"},
			{"limiter_text", "how the limit was made"},
			{"rounds", "rounds of SHA-256 that stand for the work"},
			{"calibrated_cpu_ms", "CPU time that they took when calibrated (ms)"},
			{"seconds", "length of a run (s)"},
			{"repetitions", "repetitions"},
			{"limit_cpus", "limit (CPUs)"},
			{"phase", "phase between load and quota period"},
			{"seed", "seed of the order and the phases"},
			{"stretch", "times the time between requests"}};
	struct html_table t;
	page_section(p, "setting", "How it was made");
	html_table_begin(&t, p->out, HTML_TABLE_OPEN, "What was fixed before the first run",
			 (const char *const[]){"setting", "value", NULL});
	for (size_t i = 0; i < ARRAY_LEN(settings); i++) {
		const char *text = json_get_text(p->results->summary, settings[i].key);
		char digits[32];
		double number;
		if (!text && !json_get_real(p->results->summary, settings[i].key, &number))
			continue;
		if (!text)
			snprintf(digits, sizeof digits, "%.10g", number);
		html_row(&t);
		html_cell(&t, "%s", settings[i].name);
		html_cell_words(&t, text ? text : digits);
	}
	html_table_end(&t, HTML_TABLE_OPEN);
	page_section_end(p);
}

static void put_results(FILE *out, const struct study *study, const struct page_results *all, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		struct page_part part = {.out = out, .results = &all[i], .index = i, .level = n > 1 ? 3 : 2};
		fputs("<article>\n", out);
		if (n > 1) {
			fputs("<h2>", out);
			html_text(out, all[i].name);
			fputs("</h2>\n", out);
			put_opening(out, &all[i]);
		}
		study->show(&part);
		put_setting(&part);
		fputs("</article>\n", out);
	}
}

static void put_head(FILE *out, const char *title)
{
	fputs("<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
	      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n"
	      "<meta name=\"color-scheme\" content=\"light dark\">\n<link rel=\"icon\" href=\"data:,\">\n<title>",
	      out);
	html_text(out, title);
	fprintf(out, "</title>\n<style>\n%s</style>\n</head>\n<body>\n", page_css);
	fputs("<a class=\"skip\" href=\"#main\">To the findings</a>\n", out);
}

static int write_page(FILE *out, const struct study *study, const struct page_results *all, size_t n)
{
	put_head(out, study->title);
	fputs("<main id=\"main\">\n<header><p class=\"made\">headroom ", out);
	html_text(out, opts_version());
	fputs("</p>\n<h1>", out);
	html_text(out, study->title);
	fputs("</h1>\n", out);
	if (n == 1)
		put_opening(out, &all[0]);
	fputs("</header>\n", out);
	if (n > 1)
		study->compare(&(struct page_part){.out = out, .results = all, .index = n, .level = 2}, all, n);
	put_results(out, study, all, n);
	fputs("</main>\n", out);
	int rc = page_data_write(out, all, n);
	fprintf(out, "<script>\n%s</script>\n</body>\n</html>\n", page_js);
	if (rc == 0 && (fflush(out) != 0 || ferror(out)))
		rc = errno ? -errno : -EIO;
	return rc;
}

/* ---- files ----------------------------------------------------------------------------------------------------------
 */

static int write_file(const char *path, const struct study *study, const struct page_results *all, size_t n,
		      struct fault *f)
{
	CLEANUP_FREE char *fresh = NULL;
	if (asprintf(&fresh, "%s.new", path) < 0) {
		fresh = NULL;
		return fault_set(f, ENOMEM, "cannot write %s", path);
	}
	CLEANUP_FCLOSE FILE *out = fopen(fresh, "we");
	if (!out)
		return fault_set(f, errno, "cannot write %s", fresh);
	int rc = write_page(out, study, all, n);
	if (rc == 0 && rename(fresh, path) < 0)
		rc = -errno;
	if (rc < 0)
		unlink(fresh);
	return rc < 0 ? fault_set(f, -rc, "cannot write %s", path) : 0;
}

/* Theirs; NULL with a sentence when they are of different ones, or of one that has no page. */
static const struct study *study_of(const struct page_results *all, size_t n, struct fault *f)
{
	const struct study *study = find_study(all[0].study);
	for (size_t i = 1; i < n; i++) {
		if (strcmp(all[i].study, all[0].study) == 0)
			continue;
		fault_set(f, -EINVAL,
			  "%s is of study %s, %s of study %s: only results of the same study go side by side",
			  all[0].folder, all[0].study, all[i].folder, all[i].study);
		return NULL;
	}
	if (!study)
		fault_set(f, -EINVAL, "%s is of study '%s', for which there is no page", all[0].folder, all[0].study);
	return study;
}

static int write_somewhere(const char *path, const struct page_results *all, size_t n, struct fault *f)
{
	const struct study *study = study_of(all, n, f);
	if (!study)
		return -EINVAL;
	if (path)
		return write_file(path, study, all, n, f);
	int rc = write_page(stdout, study, all, n);
	return rc < 0 ? fault_set(f, -rc, "cannot write the page") : 0;
}

int page_make(const char *const folders[], size_t n, const char *out_path, struct fault *f)
{
	CLEANUP_FREE struct page_results *all = calloc(n, sizeof *all);
	size_t loaded = 0;
	int rc = 0;
	if (!all)
		return fault_set(f, ENOMEM, "results");
	for (; rc == 0 && loaded < n; loaded += rc == 0)
		rc = page_results_load(&all[loaded], folders[loaded], f);
	if (rc == 0)
		rc = write_somewhere(out_path, all, n, f);
	while (loaded > 0)
		page_results_release(&all[--loaded]);
	return rc;
}

int page_make_in(const char *folder, struct fault *f)
{
	CLEANUP_FREE char *path = NULL;
	if (asprintf(&path, "%s/report.html", folder) < 0) {
		path = NULL;
		return fault_set(f, ENOMEM, "report.html");
	}
	return page_make((const char *const[]){folder}, 1, path, f);
}
