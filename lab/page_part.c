#include "page_part.h"

#include <stdarg.h>

void page_section(const struct page_part *p, const char *id, const char *title)
{
	fprintf(p->out, "<section id=\"r%zu-%s\"><h%u>", p->index, id, p->level);
	html_text(p->out, title);
	fprintf(p->out, "</h%u>\n", p->level);
}

static void PRINTF_LIKE(3, 0) put_paragraph(FILE *out, const char *class, const char *fmt, va_list args)
{
	CLEANUP_FREE char *text = NULL;
	if (vasprintf(&text, fmt, args) < 0) {
		text = NULL;
		return;
	}
	if (!*text)
		return;
	fprintf(out, "<p class=\"%s\">", class);
	html_text(out, text);
	fputs("</p>\n", out);
}

void page_finding(const struct page_part *p, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	put_paragraph(p->out, "finding", fmt, args);
	va_end(args);
}

void page_remark(const struct page_part *p, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	put_paragraph(p->out, "remark", fmt, args);
	va_end(args);
}

void page_section_end(const struct page_part *p)
{
	fputs("</section>\n", p->out);
}

void page_key(FILE *out, const char *const pairs[])
{
	fputs("<ul class=\"key\" aria-hidden=\"true\">", out);
	for (; *pairs; pairs += 2) {
		fprintf(out, "<li><i class=\"%s\"></i>", pairs[0]);
		html_text(out, pairs[1]);
		fputs("</li>", out);
	}
	fputs("</ul>\n", out);
}
