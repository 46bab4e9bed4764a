#include "mismatch.h"

#include "runtimes.h"

#include <math.h>
#include <string.h>

void mismatch_judge(const char *who, const struct limit_view *v, struct mismatch *out)
{
	double effective = cpus_effective(&v->cpus, &v->limit);
	*out = (struct mismatch){.kind = MISMATCH_NONE};
	if (isnan(effective) || !v->cpus.have_nproc)
		return;
	if (effective < v->cpus.nproc) {
		out->kind = MISMATCH_QUOTA;
		snprintf(
			out->sentence, sizeof out->sentence,
			"%s sees %u CPUs but may use %.4g: a program that sizes its pool by nproc starts %.3g threads for each CPU it may "
			"use, and they are stopped together when the quota of a period is spent%s",
			who, v->cpus.nproc, effective, v->cpus.nproc / effective,
			v->limit.level > 0 ? "; the limit is set on a cgroup above, which many runtimes do not see"
					   : "");
	} else if (v->limit.status == LIMIT_NONE) {
		out->kind = MISMATCH_NO_LIMIT;
		snprintf(out->sentence, sizeof out->sentence, "%s has no CPU limit%s: thread pools grow to %u CPUs",
			 who, v->ancestors_hidden ? " that is visible (a cgroup above may have one)" : "",
			 v->cpus.nproc);
	}
}

/* Several runtimes share a variable; one setting can name two ("OMP_NUM_THREADS=1 OPENBLAS_NUM_THREADS=1"). */
static void add_settings(char *settings, size_t size, const char *more)
{
	while (*more) {
		char one[96];
		size_t len = strcspn(more, " ");
		/* nginx writes "worker_processes 1;": a word without '=' goes on to the end */
		if (!memchr(more, '=', len))
			len = strlen(more);
		snprintf(one, sizeof one, "%.*s", (int)len, more);
		size_t used = strlen(settings);
		if (!strstr(settings, one))
			snprintf(settings + used, size - used, "%s%s", used ? " " : "", one);
		more += len;
		more += strspn(more, " ");
	}
}

void mismatch_settings(const struct snapshot *s, const struct cpu_counts *cpus, enum hierarchy cpu_controller,
		       char out[MISMATCH_SETTINGS_SIZE])
{
	struct runtime_view view;
	out[0] = '\0';
	if (!runtime_view_make(&view, s, cpus, cpu_controller))
		return;
	for (size_t i = 0; i < runtimes_count(); i++) {
		struct runtime_judgement j;
		runtime_judge(runtimes_at(i), &view, &j);
		if (j.fit == RUNTIME_TOO_MANY || j.fit == RUNTIME_BLIND_TO_ANCESTOR)
			add_settings(out, MISMATCH_SETTINGS_SIZE, j.setting);
	}
}

void mismatch_put(json_value *o, const struct snapshot *s, const struct cpu_counts *cpus, enum hierarchy cpu_controller)
{
	static const struct {
		enum runtime_fit fit;
		const char *key;
	} lists[] = {
		{RUNTIME_TOO_MANY, "runtimes_too_many"},
		{RUNTIME_TOO_FEW, "runtimes_too_few"},
		{RUNTIME_BLIND_TO_ANCESTOR, "runtimes_blind"},
	};
	struct runtime_view view;
	char settings[MISMATCH_SETTINGS_SIZE];
	if (!runtime_view_make(&view, s, cpus, cpu_controller))
		return;
	json_value *assumed = json_new_object();
	json_value *by_fit[ARRAY_LEN(lists)];
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		by_fit[k] = json_new_array();
	for (size_t i = 0; i < runtimes_count(); i++) {
		struct runtime_judgement j;
		const struct runtime *r = runtimes_at(i);
		runtime_judge(r, &view, &j);
		json_set_real(assumed, r->id, j.assumed);
		for (size_t k = 0; k < ARRAY_LEN(lists); k++)
			if (j.fit == lists[k].fit)
				json_add_text(by_fit[k], r->id);
	}
	json_set_value(o, "runtimes", assumed);
	for (size_t k = 0; k < ARRAY_LEN(lists); k++)
		json_set_value(o, lists[k].key, by_fit[k]);
	mismatch_settings(s, cpus, cpu_controller, settings);
	json_set_text(o, "settings", settings);
}

json_value *mismatch_runtimes(const struct snapshot *s, const struct cpu_counts *cpus, enum hierarchy cpu_controller)
{
	struct runtime_view view;
	json_value *list = json_new_array();
	if (!runtime_view_make(&view, s, cpus, cpu_controller))
		return list;
	for (size_t i = 0; i < runtimes_count(); i++) {
		struct runtime_judgement j;
		const struct runtime *r = runtimes_at(i);
		json_value *o = json_new_object();
		runtime_judge(r, &view, &j);
		json_set_text(o, "id", r->id);
		json_set_real(o, "cpus", j.assumed);
		json_set_text(o, "fit", runtime_fit_name(j.fit));
		json_set_text(o, "setting", j.setting[0] ? j.setting : NULL);
		json_set_text(o, "sentence", j.sentence);
		json_add_value(list, o);
	}
	return list;
}
