#include "csv.h"

#include "figures.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

void csv_put_real(FILE *out, double value, int decimals)
{
	if (!isnan(value))
		fprintf(out, "%.*f", decimals, value);
	fputc(',', out);
}

void csv_put_count(FILE *out, uint64_t value)
{
	if (value != FIGURE_ABSENT)
		fprintf(out, "%" PRIu64, value);
	fputc(',', out);
}

void csv_put_text(FILE *out, const char *text)
{
	bool quote = strpbrk(text, ",\"\r\n") != NULL;
	if (quote)
		fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputs(quote ? "\"," : ",", out);
}
