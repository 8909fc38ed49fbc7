/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/counters/asked.h"

#include <stdio.h>
#include <string.h>

#include "injection/session/columns.h"
#include "injection/session/services.h"

#define LEAST_WHOLE_NS 80000u  /* between samples of the whole default set */
#define DRAM           "dram_" /* in place of a word: counters whose names begin so */
#define HELP_BYTES     240

enum { SPAN = 3, SUM = 4, MEAN = 5 }; /* kinds, as counter records have them */

static const struct gt_known_counter {
	const char *name;
	const char *unit;
	const char *set;
	const char *metric;
	uint32_t kind;
} all_known[] = {
#define COUNTER(name, unit, kind, set, group, metric, help) {#name, unit, #set, metric, kind},
#include "format/kinds/pm_counters.def"
};

enum { KNOWN = sizeof(all_known) / sizeof(all_known[0]) };

static const struct other {
	const char *name;
	const char *metric;
} all_others[GT_COUNTERS_OTHERS] = {
#define COUNTER(name, unit, kind, set, group, metric, help)
#define INSTEAD(name, metric) {#name, metric},
#include "format/kinds/pm_counters.def"
};

static bool is_asked_for(const struct gt_asked_counters *counters, const char *metric)
{
	for (size_t i = 0; i < counters->count; i++)
		if (strcmp(counters->list[i].metric, metric) == 0)
			return true;
	return false;
}

static void ask_for(struct gt_asked_counters *counters, struct gt_asked_counter asked)
{
	if (counters->count < GT_COUNTERS_ASKED)
		counters->list[counters->count++] = asked;
}

static void ask_for_known(struct gt_asked_counters *counters, const struct gt_known_counter *known)
{
	if (is_asked_for(counters, known->metric))
		return;
	ask_for(counters, (struct gt_asked_counter){known->metric, known, false});
	for (size_t i = 0; i < GT_COUNTERS_OTHERS; i++)
		if (strcmp(all_others[i].name, known->name) == 0)
			ask_for(counters,
			        (struct gt_asked_counter){all_others[i].metric, known, true});
}

/*
 * A sample of the whole default set has 50 KB and takes a core 68 us to decode and evaluate, one of
 * the counters of device memory a tenth of that (H200, CUPTI 13.0): where samples come faster the
 * latter are what default means.
 */
static const char *set_of(struct gt_session *session, const char *word)
{
	if (strcmp(word, "default") != 0 ||
	    gt_settings_of(session)->counter_interval_ns >= LEAST_WHOLE_NS)
		return word;
	gt_note(session, "counters",
	        "samples of the whole default set cannot be fetched as fast as asked for: those of "
	        "device memory alone are taken. Name counters or sets (--counters=memory,clocks) for "
	        "others, or choose a --counter-interval of 100us or longer");
	return DRAM;
}

/* False for a word that is neither a set, nor a counter, nor can be a metric of CUPTI's. */
static bool take_word(struct gt_asked_counters *counters, const char *word)
{
	const bool all = strcmp(word, "default") == 0;
	bool found = false;

	for (size_t i = 0; i < KNOWN; i++) {
		const struct gt_known_counter *known = &all_known[i];

		if (!all && strcmp(word, known->set) != 0 && strcmp(word, known->name) != 0 &&
		    !(strcmp(word, DRAM) == 0 && strncmp(known->name, DRAM, strlen(DRAM)) == 0))
			continue;
		ask_for_known(counters, known);
		found = true;
	}
	if (found || !strstr(word, "__"))
		return found;
	if (!is_asked_for(counters, word))
		ask_for(counters, (struct gt_asked_counter){word, NULL, false});
	return true;
}

void gt_asked_counters_read(struct gt_session *session, struct gt_asked_counters *counters)
{
	char note[256];
	char *rest = NULL;

	(void)snprintf(counters->text, sizeof(counters->text), "%s",
	               gt_settings_of(session)->counters);
	for (char *word = strtok_r(counters->text, ",", &rest); word;
	     word = strtok_r(NULL, ",", &rest)) {
		if (take_word(counters, set_of(session, word)))
			continue;
		(void)snprintf(note, sizeof(note),
		               "'%.100s' is no set of counters (default, memory, compute, links, "
		               "clocks), no counter and no metric",
		               word);
		gt_note(session, "counters", note);
	}
}

/* Names those that are not sampled, for one of the reasons. */
static void note_missing(struct gt_session *session, const struct gt_asked_counters *counters,
                         const struct gt_metric_wanted *wanted, enum gt_metric_outcome outcome,
                         const char *why)
{
	char text[256];
	size_t used = (size_t)snprintf(text, sizeof(text), "%s:", why);
	const size_t before = used;

	for (size_t i = 0; i < counters->count; i++) {
		const struct gt_asked_counter *asked = &counters->list[i];

		if (asked->instead || gt_metric_outcome_of(wanted, counters->count, i) != outcome ||
		    used >= sizeof(text))
			continue;
		used += (size_t)snprintf(text + used, sizeof(text) - used, "%s %s",
		                         used > before ? "," : "",
		                         asked->known ? asked->known->name : asked->metric);
	}
	if (used > before)
		gt_note(session, "counters", text);
}

void gt_asked_counters_note_missing(struct gt_session *session,
                                    const struct gt_asked_counters *counters,
                                    const struct gt_metric_wanted *wanted, uint32_t ordinal)
{
	char why[128];

	(void)snprintf(why, sizeof(why), "not sampled on GPU %u, as its chip cannot count them",
	               ordinal);
	note_missing(session, counters, wanted, GT_METRIC_UNKNOWN, why);
	(void)snprintf(why, sizeof(why),
	               "not sampled on GPU %u, as one pass of the hardware has no room for them "
	               "beside the others",
	               ordinal);
	note_missing(session, counters, wanted, GT_METRIC_NO_ROOM, why);
}

/*
 * A count of CUPTI's that grows with the time that is sampled has one word behind its name; what
 * is a rate or a share of a peak has more, or none.
 */
static uint32_t kind_of(const char *metric)
{
	const char *dot = strchr(metric, '.');

	return dot && !strchr(dot + 1, '.') && strncmp(dot, ".pct", 4) != 0 &&
	                       strncmp(dot, ".ratio", 6) != 0 && strncmp(dot, ".max_rate", 9) != 0
	               ? SUM
	               : MEAN;
}

static const struct gt_known_counter *known_of(const struct gt_asked_counters *counters,
                                               const char *metric)
{
	for (size_t i = 0; i < counters->count; i++)
		if (counters->list[i].metric == metric)
			return counters->list[i].known;
	return NULL;
}

/* In the names of the list where it has one, else as CUPTI tells it. */
void gt_asked_counters_announce(struct gt_session *session,
                                const struct gt_asked_counters *counters,
                                const struct gt_pm_sampler *sampler)
{
	struct gt_column_place place = {
		.series = GT_SERIES_COUNTERS + sampler->device,
		.device = sampler->device + 1,
	};
	struct gt_column_words words = {
		.kind = SPAN,
		.name = "sample_ns",
		.unit = "ns",
		.help = "Length of the sample, which begins at its time",
	};

	gt_column_announce(session, &words, place);
	for (size_t i = 0; i < sampler->count; i++) {
		const struct gt_known_counter *known = known_of(counters, sampler->metrics[i]);
		struct gt_metric_property property = {"", "", ""};
		char help[HELP_BYTES];

		(void)gt_chip_property_of(&sampler->chip, sampler->metrics[i], &property);
		(void)snprintf(help, sizeof(help), "%s: %s", sampler->metrics[i], property.help);
		place.place = (uint32_t)i + 1;
		words.kind = known ? known->kind : kind_of(sampler->metrics[i]);
		words.name = known ? known->name : sampler->metrics[i];
		words.unit = known ? known->unit : property.unit;
		words.help = known ? sampler->metrics[i] : help;
		if (!known || *property.help)
			words.help = help;
		gt_column_announce(session, &words, place);
	}
}
