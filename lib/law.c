#include "law.h"

#include <math.h>

double law_threads(double cpu_ms, double wait_ms, double cpus)
{
	if (!(cpu_ms > 0) || !(wait_ms >= 0) || !(cpus > 0))
		return NAN;
	return (cpu_ms + wait_ms) / cpu_ms * cpus;
}

double law_max_rate(double cpu_ms, double cpus)
{
	return cpu_ms > 0 && cpus > 0 ? cpus * 1000 / cpu_ms : NAN;
}

double law_threads_for_pool(double units, double hold_ms, double request_ms)
{
	if (!(hold_ms > 0) || !(request_ms >= hold_ms) || !(units > 0))
		return NAN;
	return units * request_ms / hold_ms;
}

static double squared(double x)
{
	return x * x;
}

/* The relative errors of one split: n_rise points on the line, the others on the plateau. */
static double split_error(const struct law_point *p, size_t n, size_t n_rise, double *slope, double *plateau)
{
	double xy = 0;
	double xx = 0;
	double sum = 0;
	double error = 0;
	for (size_t i = 0; i < n_rise; i++) {
		xy += p[i].threads * p[i].per_second;
		xx += squared(p[i].threads);
	}
	for (size_t i = n_rise; i < n; i++)
		sum += p[i].per_second;
	*slope = xy / xx;
	*plateau = sum / (double)(n - n_rise);
	for (size_t i = 0; i < n; i++) {
		double expected = i < n_rise ? *slope * p[i].threads : *plateau;
		error += squared((p[i].per_second - expected) / p[i].per_second);
	}
	return error;
}

double law_knee(const struct law_point *points, size_t n)
{
	double best = INFINITY;
	double knee = NAN;
	for (size_t n_rise = 1; n >= 3 && n_rise < n; n_rise++) {
		double slope;
		double plateau;
		double error = split_error(points, n, n_rise, &slope, &plateau);
		if (error < best && slope > 0) {
			best = error;
			knee = plateau / slope;
		}
	}
	return knee;
}
