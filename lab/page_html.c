#include "page_html.h"

#include <math.h>
#include <stdarg.h>
#include <string.h>

static const char replacement[] = "\xef\xbf\xbd";
static const char missing[] = "\xe2\x80\x93";

/* Length of the UTF-8 sequence at s, or 0 when it is none (overlong, a surrogate, beyond U+10FFFF, cut). */
static size_t utf8_length(const unsigned char *s)
{
	size_t n = s[0] < 0x80 ? 1 : s[0] >= 0xf0 ? 4 : s[0] >= 0xe0 ? 3 : 2;
	if (n == 1)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	for (size_t i = 1; i < n; i++)
		if ((s[i] & 0xc0) != 0x80)
			return 0;
	if ((s[0] == 0xe0 && s[1] < 0xa0) || (s[0] == 0xed && s[1] > 0x9f) || (s[0] == 0xf0 && s[1] < 0x90) ||
	    (s[0] == 0xf4 && s[1] > 0x8f))
		return 0;
	return n;
}

static const char *reference(char c)
{
	switch (c) {
	case '&':
		return "&amp;";
	case '<':
		return "&lt;";
	case '>':
		return "&gt;";
	case '"':
		return "&quot;";
	case '\'':
		return "&#39;";
	case '\n':
	case '\t':
		return " ";
	default:
		return (unsigned char)c < 0x20 || c == 0x7f ? replacement : NULL;
	}
}

void html_text(FILE *out, const char *text)
{
	while (*text) {
		const char *instead = reference(*text);
		size_t n = utf8_length((const unsigned char *)text);
		if (instead)
			fputs(instead, out);
		else if (n == 0)
			fputs(replacement, out);
		else
			fwrite(text, 1, n, out);
		text += n ? n : 1;
	}
}

static void PRINTF_LIKE(2, 0) put_format(FILE *out, const char *fmt, va_list args)
{
	CLEANUP_FREE char *text = NULL;
	if (vasprintf(&text, fmt, args) >= 0)
		html_text(out, text);
	else
		text = NULL;
}

void html_format(FILE *out, const char *fmt, ...)
{
	va_list args;
	va_start(args, fmt);
	put_format(out, fmt, args);
	va_end(args);
}

/* ---- tables ---------------------------------------------------------------------------------------------------------
 */

void html_table_begin(struct html_table *t, FILE *out, enum html_table_kind kind, const char *caption,
		      const char *const heads[])
{
	*t = (struct html_table){.out = out};
	if (kind == HTML_TABLE_FOLDED) {
		fputs("<details><summary>Table: ", out);
		html_text(out, caption);
		fputs("</summary>", out);
	}
	fputs("<div class=\"scroll\" tabindex=\"0\" role=\"group\" aria-label=\"", out);
	html_text(out, caption);
	fputs("\"><table><caption>", out);
	html_text(out, caption);
	fputs("</caption><thead><tr>", out);
	for (; *heads; heads++) {
		fputs("<th scope=\"col\">", out);
		html_text(out, *heads);
		fputs("</th>", out);
	}
	fputs("</tr></thead><tbody>", out);
}

static void end_row(struct html_table *t)
{
	if (t->in_row)
		fputs("</tr>\n", t->out);
	t->in_row = false;
}

void html_row(struct html_table *t)
{
	end_row(t);
	fputs("<tr>", t->out);
	t->in_row = true;
	t->cell = 0;
}

void html_cell(struct html_table *t, const char *fmt, ...)
{
	CLEANUP_FREE char *text = NULL;
	va_list args;
	bool head = t->cell++ == 0;
	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	/* figures stand at the right, so does the dash for a missing one */
	bool figure = text && (strchr("-0123456789", *text) || strcmp(text, missing) == 0);
	fputs(head ? "<th scope=\"row\">" : figure ? "<td class=\"n\">" : "<td>", t->out);
	html_text(t->out, text ? text : "");
	fputs(head ? "</th>" : "</td>", t->out);
}

void html_cell_words(struct html_table *t, const char *text)
{
	t->cell++;
	fputs("<td>", t->out);
	html_text(t->out, text);
	fputs("</td>", t->out);
}

void html_cell_number(struct html_table *t, double value, int decimals, const char *unit)
{
	if (isnan(value))
		html_cell(t, "%s", missing);
	else
		html_cell(t, "%.*f%s", decimals, value, unit);
}

void html_table_end(struct html_table *t, enum html_table_kind kind)
{
	end_row(t);
	fputs("</tbody></table></div>", t->out);
	if (kind == HTML_TABLE_FOLDED)
		fputs("</details>", t->out);
	fputc('\n', t->out);
}
