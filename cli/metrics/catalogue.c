/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/metrics/catalogue.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/watch.h"

enum { NOT_ASKED = -1 }; /* passes that CUPTI is still to be asked for */

static char *copy(const char *text)
{
	const size_t size = strlen(text) + 1;

	return memcpy(gt_allocate(size), text, size);
}

bool gt_catalogue_matches(const struct gt_catalogue_words *words, const char *name,
                          const char *help)
{
	for (size_t i = 0; i < words->count; i++)
		if (!strcasestr(name, words->words[i]) && !strcasestr(help, words->words[i]))
			return false;
	return true;
}

static char *join(const struct gt_metric_names *forms)
{
	size_t used = 0;
	size_t size = 1;
	char *text;

	for (size_t i = 0; i < forms->count; i++)
		size += strlen(forms->names[i]) + 1;
	text = gt_allocate(size);
	*text = 0;
	for (size_t i = 0; i < forms->count; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%s", i ? " " : "",
		                         forms->names[i]);
	return text;
}

static void add_metric(struct gt_catalogue *catalogue, const struct gt_chip *chip,
                       enum gt_metric_type type, const char *name,
                       const struct gt_metric_property *property)
{
	const struct gt_metric_names forms = gt_chip_forms(chip, type, name);
	struct gt_catalogued *metric = gt_array_push(&catalogue->metrics);

	*metric = (struct gt_catalogued){
		.name = copy(name),
		.unit = copy(property->unit),
		.help = copy(property->help),
		.hardware = copy(property->hardware),
		.forms = join(&forms),
		.type = type,
	};
	metric->passes[chip->way] = NOT_ASKED;
}

static void add_type(struct gt_catalogue *catalogue, const struct gt_chip *chip,
                     enum gt_metric_type type, const struct gt_catalogue_words *words)
{
	const struct gt_metric_names names = gt_chip_metrics(chip, type);

	for (size_t i = 0; i < names.count; i++) {
		struct gt_metric_property property = {"", "", ""};

		(void)gt_chip_property_of(chip, names.names[i], &property);
		if (gt_catalogue_matches(words, names.names[i], property.help))
			add_metric(catalogue, chip, type, names.names[i], &property);
	}
}

static int compare(const void *a, const void *b)
{
	return strcmp(((const struct gt_catalogued *)a)->name,
	              ((const struct gt_catalogued *)b)->name);
}

static void release_one(struct gt_catalogued *metric)
{
	free(metric->name);
	free(metric->unit);
	free(metric->help);
	free(metric->hardware);
	free(metric->forms);
}

/* One row for a metric that can be counted in both ways. */
static void merge(struct gt_catalogue *catalogue)
{
	size_t kept = 0;

	if (catalogue->metrics.count > 0)
		qsort(catalogue->metrics.rows, catalogue->metrics.count,
		      sizeof(*catalogue->metrics.rows), compare);
	for (size_t i = 0; i < catalogue->metrics.count; i++) {
		struct gt_catalogued *metric = &catalogue->metrics.rows[i];
		struct gt_catalogued *last = &catalogue->metrics.rows[kept ? kept - 1 : 0];

		if (kept == 0 || strcmp(last->name, metric->name) != 0) {
			catalogue->metrics.rows[kept++] = *metric;
			continue;
		}
		for (size_t way = 0; way < 2; way++)
			if (metric->passes[way])
				last->passes[way] = metric->passes[way];
		release_one(metric);
	}
	catalogue->metrics.count = kept;
}

/* The passes are the same whatever stands behind the dot. */
static int passes_of(struct gt_chip *chip, const struct gt_catalogued *metric)
{
	char name[512];
	const char *text = name;
	const int passes =
		snprintf(name, sizeof(name), "%s%.*s", metric->name,
	                 (int)strcspn(metric->forms, " "), metric->forms) < (int)sizeof(name)
			? gt_chip_schedule(chip, &text, 1)
			: 0;

	return passes > 0 ? passes : 0;
}

static void ask_passes(struct gt_catalogue *catalogue, struct gt_chip *const chips[2],
                       const struct gt_watch *watch)
{
	uint64_t done = 0;

	gt_array_each(struct gt_catalogued, metric, &catalogue->metrics) {
		gt_watch_tell(watch, done++, catalogue->metrics.count);
		for (size_t way = 0; way < 2; way++)
			if (metric->passes[way] == NOT_ASKED)
				metric->passes[way] = passes_of(chips[way], metric);
	}
}

void gt_catalogue_read(struct gt_catalogue *catalogue, struct gt_chip *const chips[2],
                       const struct gt_catalogue_words *words, const struct gt_watch *watch)
{
	for (size_t way = 0; way < 2; way++) {
		if (!chips[way] || !gt_chip_begin(chips[way]))
			continue;
		for (int type = 0; type < GT_METRIC_TYPES; type++)
			add_type(catalogue, chips[way], (enum gt_metric_type)type, words);
	}
	merge(catalogue);
	ask_passes(catalogue, chips, watch);
}

void gt_catalogue_release(struct gt_catalogue *catalogue)
{
	gt_array_each(struct gt_catalogued, metric, &catalogue->metrics)
		release_one(metric);
	gt_array_release(&catalogue->metrics);
}
