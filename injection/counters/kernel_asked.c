/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/counters/kernel_asked.h"

#include <stdio.h>
#include <string.h>

#include "injection/session/services.h"

enum { DEFAULT = 1, MEMORY = 2, COMPUTE = 4, OCCUPANCY = 8, FLOPS = 16, ALL = 31 };

static const struct gt_known_kernel_counter {
	const char *name;
	const char *unit;
	const char *metric;
	uint32_t sets;
} all_known[] = {
#define COUNTER(name, unit, sets, metric, help) {#name, unit, metric, sets},
#include "format/kinds/kernel_counters.def"
};

enum { KNOWN = sizeof(all_known) / sizeof(all_known[0]) };

static const struct {
	const char *name;
	uint32_t bit;
} sets[] = {{"default", DEFAULT},     {"memory", MEMORY}, {"compute", COMPUTE},
            {"occupancy", OCCUPANCY}, {"flops", FLOPS},   {"all", ALL}};

static void ask_for(struct gt_asked_kernel_counters *counters, const char *metric,
                    const struct gt_known_kernel_counter *known)
{
	for (size_t i = 0; i < counters->count; i++)
		if (strcmp(counters->metrics[i], metric) == 0)
			return;
	if (counters->count == GT_RANGE_METRICS)
		return;
	counters->metrics[counters->count] = metric;
	counters->known[counters->count++] = known;
}

static uint32_t set_of(const char *word)
{
	for (size_t i = 0; i < sizeof(sets) / sizeof(sets[0]); i++)
		if (strcmp(sets[i].name, word) == 0)
			return sets[i].bit;
	return 0;
}

/* False for a word that is neither a set, nor a counter, nor can be a metric of CUPTI's. */
static bool take_word(struct gt_asked_kernel_counters *counters, const char *word)
{
	const uint32_t set = set_of(word);
	bool found = false;

	for (size_t i = 0; i < KNOWN; i++) {
		if (!(all_known[i].sets & set) && strcmp(all_known[i].name, word) != 0)
			continue;
		ask_for(counters, all_known[i].metric, &all_known[i]);
		found = true;
	}
	if (strcmp(word, "graphs") == 0) {
		counters->graphs = true;
		return true;
	}
	if (found || !strstr(word, "__"))
		return found;
	ask_for(counters, word, NULL);
	return true;
}

/* Also what is read whatever was asked for: CUPTI's record of a replayed kernel has no times. */
static void take_rest(struct gt_asked_kernel_counters *counters)
{
	if (counters->count == 0 && counters->graphs)
		(void)take_word(counters, "default");
	if (counters->count > 0)
		(void)take_word(counters, "duration_ns");
}

void gt_asked_kernel_counters_read(struct gt_session *session,
                                   struct gt_asked_kernel_counters *counters)
{
	char note[256];
	char *rest = NULL;

	(void)snprintf(counters->text, sizeof(counters->text), "%s",
	               gt_settings_of(session)->kernel_counters);
	for (char *word = strtok_r(counters->text, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest)) {
		if (take_word(counters, word))
			continue;
		(void)snprintf(note, sizeof(note),
		               "'%.100s' is no set of kernel counters (default, memory, compute, "
		               "occupancy, flops, all), no counter, no metric and not graphs",
		               word);
		gt_note(session, "kernel_counters", note);
	}
	take_rest(counters);
}

static const struct gt_known_kernel_counter *
known_of(const struct gt_asked_kernel_counters *counters, const char *metric)
{
	for (size_t i = 0; i < counters->count; i++)
		if (counters->metrics[i] == metric)
			return counters->known[i];
	return NULL;
}

void gt_asked_kernel_counters_tell(struct gt_session *session,
                                   const struct gt_asked_kernel_counters *counters,
                                   const struct gt_range_profiler *profiler, const char *metric,
                                   uint32_t number)
{
	const struct gt_known_kernel_counter *known = known_of(counters, metric);
	struct gt_metric_property property = {"", "", ""};
	size_t bytes = sizeof(struct gt_record_profiled_metric);
	struct gt_record_profiled_metric *record;
	const char *name = known ? known->name : metric;
	const char *unit;

	(void)gt_range_property_of(profiler, metric, &property);
	unit = known ? known->unit : property.unit;
	record = gt_emit_begin(session, GT_RECORD_profiled_metric,
	                       bytes + GT_TEXT_BYTES(strlen(name)) + GT_TEXT_BYTES(strlen(metric)) +
	                               GT_TEXT_BYTES(strlen(unit)));
	if (!record)
		return;
	*record = (struct gt_record_profiled_metric){.number = number};
	record->name = gt_emit_add_text(record, &bytes, name);
	record->metric = gt_emit_add_text(record, &bytes, metric);
	record->unit = gt_emit_add_text(record, &bytes, unit);
	gt_emit_commit();
}
