#include "report.h"

#include "csv.h"
#include "json_result.h"
#include "stats.h"
#include "units.h"

#include <errno.h>
#include <math.h>
#include <string.h>

enum { ROWS = 12, BAR = 40 };

struct time_text {
	char text[UNITS_TEXT_SIZE];
};

static struct time_text text_of(int64_t ns)
{
	struct time_text t;
	units_format_duration(ns, t.text);
	return t;
}

static struct time_text percentile_text(const struct dist *d, uint32_t ppm)
{
	struct time_text none = {"-"};
	return dist_count(d) ? text_of(dist_percentile(d, ppm)) : none;
}

static int result_of_stream(FILE *out)
{
	errno = 0;
	return fflush(out) == EOF || ferror(out) ? -(errno ? errno : EIO) : 0;
}

/* --- for people -------------------------------------------------------------------------------------------------- */

static void write_head(FILE *out, const struct result *r)
{
	fprintf(out, "%s\n%s", r->url, r->pattern);
	if (r->threads)
		fprintf(out, ", %llu threads", (unsigned long long)r->threads);
	fprintf(out, ", %s, %.6g/s, at most %llu in flight, %llu connections opened in the run",
		text_of(r->duration_ns).text, result_rate(r), (unsigned long long)r->connections,
		(unsigned long long)r->connections_opened);
	if (r->shard_count)
		fprintf(out, ", shard %u/%u", r->shard_index, r->shard_count);
	if (r->merged_from)
		fprintf(out, ", merged from %u results, %s", r->merged_from,
			r->latency.exact ? "exact" : "percentiles at most 0.1% too high");
	fputs("\n\n", out);
}

static void write_counts(FILE *out, const struct result *r)
{
	fprintf(out, "  requests  %llu planned, %llu sent, %llu ok, %llu failed, %llu blocked",
		(unsigned long long)r->planned, (unsigned long long)r->sent, (unsigned long long)r->ok,
		(unsigned long long)r->failed, (unsigned long long)r->blocked);
	if (r->unfinished)
		fprintf(out, ", %llu unfinished", (unsigned long long)r->unfinished);
	fputc('\n', out);
}

static void write_outcomes(FILE *out, const struct result *r)
{
	const char *separator = "  status    ";
	for (int i = 0; i < RESULT_STATUSES; i++) {
		if (r->by_status[i] == 0)
			continue;
		fprintf(out, "%s%d: %llu", separator, i, (unsigned long long)r->by_status[i]);
		separator = ", ";
	}
	if (*separator == ',')
		fputc('\n', out);
	for (int i = ANSWER_WHOLE + 1; i < ANSWER_ERRORS; i++)
		if (r->errors[i])
			fprintf(out, "  error     %s: %llu (%s)\n", answer_error_name((enum answer_error)i),
				(unsigned long long)r->errors[i], r->error_text[i]);
}

static void write_times(FILE *out, const struct result *r)
{
	fprintf(out, "  time      p50 %s  p90 %s  p99 %s  p99.9 %s  max %s  mean %s  (from the %s)\n",
		percentile_text(&r->latency, STATS_P50).text, percentile_text(&r->latency, STATS_P90).text,
		percentile_text(&r->latency, STATS_P99).text, percentile_text(&r->latency, STATS_P999).text,
		percentile_text(&r->latency, STATS_MAX).text,
		dist_count(&r->latency) ? text_of((int64_t)dist_mean_ns(&r->latency)).text : "-",
		r->open_loop ? "planned instant" : "send");
	if (r->open_loop)
		fprintf(out, "  service   p50 %s  p99 %s  (from the send)\n",
			percentile_text(&r->service, STATS_P50).text, percentile_text(&r->service, STATS_P99).text);
}

static void write_sender(FILE *out, const struct result *r)
{
	fputs("  sender    ", out);
	if (r->open_loop)
		fprintf(out, "lateness p50 %s  p99 %s  max %s; ", percentile_text(&r->lateness, STATS_P50).text,
			percentile_text(&r->lateness, STATS_P99).text, percentile_text(&r->lateness, STATS_MAX).text);
	fprintf(out, "%.3g s CPU", r->cpu_s);
	if (strcmp(r->scheduling, "fifo") == 0)
		fputs("; real-time priority", out);
	fputc('\n', out);
	if (result_target_cpus(r) >= 0)
		fprintf(out, "  target    used %.3g CPUs, %.4g ms a request, as it says itself\n",
			result_target_cpus(r), r->server_sum_ns[ANSWER_CPU] / (double)r->server_n[ANSWER_CPU] / 1e6);
	if (r->replay_skipped)
		fprintf(out, "  replay    %llu lines of the file gave no time\n",
			(unsigned long long)r->replay_skipped);
}

/* Rows of equal ratio, so that 4 ms and 400 ms both have room. Each row counts what is above the row before. */
static void write_histogram(FILE *out, const struct dist *d)
{
	uint64_t in_row[ROWS];
	int64_t edge[ROWS];
	uint64_t seen = 0;
	uint64_t most = 1;
	if (dist_count(d) == 0)
		return;
	double low = (double)(d->histogram.min > 0 ? d->histogram.min : 1);
	double ratio = pow((double)dist_max(d) / low, 1.0 / ROWS);
	int rows = dist_max(d) > d->histogram.min ? ROWS : 1;
	for (int i = 0; i < rows; i++) {
		edge[i] = i + 1 == rows ? dist_max(d) : (int64_t)(low * pow(ratio, i + 1));
		uint64_t to = i + 1 == rows ? dist_count(d) : dist_count_to(d, edge[i]);
		in_row[i] = to > seen ? to - seen : 0;
		seen = to > seen ? to : seen;
		most = in_row[i] > most ? in_row[i] : most;
	}
	fputs("\n  up to        requests\n", out);
	for (int i = 0; i < rows; i++) {
		int length = (int)((in_row[i] * BAR + most - 1) / most);
		fprintf(out, "  %-9s %11llu  %.*s\n", text_of(edge[i]).text, (unsigned long long)in_row[i], length,
			"########################################");
	}
}

static void write_validity(FILE *out, const struct result *r)
{
	if (r->interrupted_by)
		fprintf(out, "\n  PARTIAL: ended by signal %d\n", r->interrupted_by);
	if (!r->valid)
		fprintf(out, "\n  INVALID: %s\n", r->invalid_reason);
}

static void write_summary(FILE *out, const struct result *r)
{
	write_head(out, r);
	write_counts(out, r);
	write_times(out, r);
	write_sender(out, r);
	write_outcomes(out, r);
	write_histogram(out, &r->latency);
	write_validity(out, r);
}

static void write_sweep(FILE *out, const struct result *results, size_t n)
{
	fprintf(out, "%s\n%s\n\n", results[0].url, results[0].pattern);
	fprintf(out, "  %7s %11s %9s %9s %9s %9s %9s %9s %10s %11s\n", "threads", "requests/s", "mean", "p50", "p90",
		"p99", "max", "failed", "sender CPU", "target CPU");
	for (size_t i = 0; i < n; i++) {
		const struct result *r = &results[i];
		char target[24] = "-";
		double cpus = result_target_cpus(r);
		if (cpus >= 0)
			snprintf(target, sizeof target, "%.2f", cpus);
		fprintf(out, "  %7llu %11.1f %9s %9s %9s %9s %9s %9llu %10.2f %11s%s\n", (unsigned long long)r->threads,
			result_rate(r), text_of((int64_t)dist_mean_ns(&r->latency)).text,
			percentile_text(&r->latency, STATS_P50).text, percentile_text(&r->latency, STATS_P90).text,
			percentile_text(&r->latency, STATS_P99).text, percentile_text(&r->latency, STATS_MAX).text,
			(unsigned long long)r->failed, r->duration_ns ? r->cpu_s * 1e9 / (double)r->duration_ns : 0,
			target, r->interrupted_by ? "  PARTIAL" : "");
	}
	fputs("\n  CPU in CPUs: of the sender as measured, of the target as it says itself in its answers\n", out);
}

int report_table(FILE *out, const struct result *results, size_t n)
{
	if (n == 1)
		write_summary(out, results);
	else if (n > 1)
		write_sweep(out, results, n);
	return result_of_stream(out);
}

/* --- for programs ------------------------------------------------------------------------------------------------ */

int report_json(FILE *out, const struct result *results, size_t n, uint64_t keep_samples)
{
	if (n == 1) {
		CLEANUP_JSON json_value *one = json_from_result(results, keep_samples);
		return json_write(one, out, 0);
	}
	CLEANUP_JSON json_value *all = json_new_object();
	json_value *sweep = json_new_array();
	json_set_u64(all, "schema_version", JSON_RESULT_SCHEMA);
	json_set_text(all, "url", n ? results[0].url : NULL);
	json_set_text(all, "pattern", n ? results[0].pattern : NULL);
	for (size_t i = 0; i < n; i++)
		json_add_value(sweep, json_from_result(&results[i], keep_samples));
	json_set_value(all, "sweep", sweep);
	return json_write(all, out, 0);
}

static void csv_percentile(FILE *out, const struct dist *d, uint32_t ppm)
{
	fputc(',', out);
	if (dist_count(d) > 0)
		fprintf(out, "%.6f", (double)dist_percentile(d, ppm) / 1e6);
}

static void csv_line(FILE *out, const struct result *r)
{
	csv_field(out, r->url);
	fprintf(out, ",%s,", r->pattern);
	if (r->threads)
		fprintf(out, "%llu", (unsigned long long)r->threads);
	fprintf(out, ",%llu,%llu,%llu,%llu,%llu,%llu,%.9g,%.9g", (unsigned long long)r->planned,
		(unsigned long long)r->sent, (unsigned long long)r->ok, (unsigned long long)r->failed,
		(unsigned long long)r->unfinished, (unsigned long long)r->blocked, (double)r->duration_ns / 1e9,
		result_rate(r));
	csv_percentile(out, &r->latency, STATS_P50);
	csv_percentile(out, &r->latency, STATS_P90);
	csv_percentile(out, &r->latency, STATS_P99);
	csv_percentile(out, &r->latency, STATS_P999);
	csv_percentile(out, &r->latency, STATS_MAX);
	fputc(',', out);
	if (dist_count(&r->latency) > 0)
		fprintf(out, "%.6f", dist_mean_ns(&r->latency) / 1e6);
	csv_percentile(out, &r->service, STATS_P50);
	csv_percentile(out, &r->service, STATS_P99);
	csv_percentile(out, &r->lateness, STATS_P50);
	csv_percentile(out, &r->lateness, STATS_P99);
	csv_percentile(out, &r->lateness, STATS_MAX);
	fprintf(out, ",%.6f,%llu,", r->cpu_s, (unsigned long long)r->connections_opened);
	if (result_target_cpus(r) >= 0)
		fprintf(out, "%.6f", result_target_cpus(r));
	fprintf(out, ",%s,", r->valid ? "true" : "false");
	csv_field(out, r->valid ? "" : r->invalid_reason);
	fputc('\n', out);
}

int report_csv(FILE *out, const struct result *results, size_t n)
{
	fputs("url,pattern,threads,planned,sent,ok,failed,unfinished,blocked,duration_s,rate_per_s,p50_ms,p90_ms,p99_ms,"
	      "p999_ms,max_ms,mean_ms,service_p50_ms,service_p99_ms,lateness_p50_ms,lateness_p99_ms,lateness_max_ms,cpu_s,"
	      "connections_opened,target_cpus,valid,invalid_reason\n",
	      out);
	for (size_t i = 0; i < n; i++)
		csv_line(out, &results[i]);
	return result_of_stream(out);
}

void report_failures(FILE *out, const char *program, const struct result *r)
{
	const char *separator = ": ";
	if (r->failed == 0)
		return;
	fprintf(out, "%s: %llu of %llu requests failed", program, (unsigned long long)r->failed,
		(unsigned long long)r->planned);
	for (int i = 0; i < RESULT_STATUSES; i++) {
		if (r->by_status[i] == 0 || (i >= 200 && i <= 299))
			continue;
		fprintf(out, "%s%llu x status %d", separator, (unsigned long long)r->by_status[i], i);
		separator = ", ";
	}
	for (int i = ANSWER_WHOLE + 1; i < ANSWER_ERRORS; i++) {
		if (r->errors[i] == 0 || i == ANSWER_INTERRUPTED)
			continue;
		fprintf(out, "%s%llu x %s (%s)", separator, (unsigned long long)r->errors[i],
			answer_error_name((enum answer_error)i), r->error_text[i]);
		separator = ", ";
	}
	fputc('\n', out);
}
