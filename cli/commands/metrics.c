/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/result.h"
#include "base/array.h"
#include "base/error.h"
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/metrics/catalogue.h"
#include "cli/metrics/known.h"
#include "cli/metrics/source.h"
#include "cli/output/progress.h"
#include "cli/render/render.h"
#include "cli/render/show.h"
#include "cupti/chip.h"

struct args {
	struct gt_metric_choice choice;
	bool all;
	struct gt_show_args show;
};

static const struct gt_option options[] = {
	{OPT("gpu", 0, COUNT, struct args, choice.gpu, "NUMBER",
             "The counters of this GPU of the machine, as CUDA numbers them; default: 0"),
         NULL, 0, GT_GPUS_MOST - 1},
	OPT_TEXT("chip", 0, struct args, choice.chip, "NAME",
                 "Those of a chip, as gh100, without a GPU of it; what CUPTI knows is named where it does "
                 "not know NAME"),
	OPT_FLAG("all", 'a', struct args, all, "All metrics of CUPTI's, which takes some seconds"),
	OPT_TEXT("cupti", 0, struct args, choice.cupti, "FILE",
                 "Ask this libcupti instead of the one that gputrace finds"),
	GT_SHOW_OPTIONS(struct args, show),
	OPT_END,
};

static const struct gt_heading source_headings[] = {
	{"gpu", GT_UNIT_TEXT, "Number and product name; of a chip alone: not known"},
	{"chip", GT_UNIT_TEXT, "As CUPTI calls it"},
	{"cupti", GT_UNIT_TEXT, "Library that was asked"},
};

static const struct gt_heading set_headings[] = {
	{"set", GT_UNIT_TEXT, "Name", GT_WORTH_KEY},
	{"option", GT_UNIT_TEXT, "Option of gputrace run that chooses it", GT_WORTH_KEY},
	{"counted", GT_UNIT_TEXT,
         "In samples at an interval, or in launches, run again for each pass"},
	{"counters", GT_UNIT_COUNT, "That it has"},
	{"left_out", GT_UNIT_COUNT, "Those that this chip cannot count together"},
	{"passes", GT_UNIT_COUNT, "That the others need together"},
};

static const struct gt_heading counter_headings[] = {
	{"counter", GT_UNIT_TEXT, "Its name in gputrace", GT_WORTH_KEY},
	{"counted", GT_UNIT_TEXT,
         "In samples at an interval, or in launches, run again for each pass"},
	{"sets", GT_UNIT_TEXT, "That hold it"},
	{"unit", GT_UNIT_TEXT, "Unit of its figures"},
	{"passes", GT_UNIT_COUNT, "That it needs by itself"},
	{"left_out", GT_UNIT_TEXT, "Why its first set does not have it on this chip"},
	{"metric", GT_UNIT_TEXT, "What CUPTI calls it", GT_WORTH_LESSER_NAME},
	{"description", GT_UNIT_TEXT, "The thing that is counted", GT_WORTH_PROSE},
};

static const struct gt_heading metric_headings[] = {
	{"metric", GT_UNIT_TEXT, "CUPTI's name, without what stands behind its dot", GT_WORTH_NAME},
	{"type", GT_UNIT_TEXT, "counter, ratio, or throughput: the largest of several shares"},
	{"unit", GT_UNIT_TEXT, "Unit of its figures"},
	{"hardware", GT_UNIT_TEXT, "Part of the chip that counts it", GT_WORTH_LITTLE},
	{"sampled_passes", GT_UNIT_COUNT,
         "That it needs by itself in samples; only what needs one can be sampled"},
	{"launch_passes", GT_UNIT_COUNT, "That it needs by itself in launches"},
	{"forms", GT_UNIT_TEXT, "Words that can stand behind its dot", GT_WORTH_DATA},
	{"description", GT_UNIT_TEXT, "CUPTI's own words", GT_WORTH_PROSE},
};

static const char *const type_names[] = {
	[GT_METRIC_COUNTER] = "counter",
	[GT_METRIC_RATIO] = "ratio",
	[GT_METRIC_THROUGHPUT] = "throughput",
};

static void add_source(struct gt_result *result, const struct gt_metric_source *source,
                       uint64_t gpu)
{
	gt_result_begin(result, "source", source_headings, GT_COUNT_OF(source_headings));
	gt_result_single(result);
	if (source->gpu)
		gt_result_add_format(result, "%u: %s", (unsigned)gpu, source->gpu);
	else
		gt_result_add_unknown(result);
	gt_result_add_text(result, source->chip);
	gt_result_add_text(result, source->library);
}

/* Result of scheduling a list's counters on the chip, by its first set. */
struct scheduled {
	struct gt_metric_wanted *wanted; /* as many as the list has; owned */
	struct gt_known_set sets[GT_KNOWN_SETS];
};

static void add_set(struct gt_result *result, const struct gt_known_list *list, size_t set,
                    const struct gt_known_set *what)
{
	gt_result_add_text(result, list->sets[set]);
	gt_result_add_format(result, "%s=%s", list->option, list->sets[set]);
	gt_result_add_text(result, list->counted);
	gt_result_add_count(result, (int64_t)what->counters);
	gt_result_add_count(result, (int64_t)what->left_out);
	gt_result_add_count_if(result, what->passes > 0, what->passes);
}

static void add_sets(struct gt_result *result, struct gt_metric_source *source,
                     struct scheduled *scheduled, bool searched)
{
	gt_result_begin(result, "sets", set_headings, GT_COUNT_OF(set_headings));
	if (searched)
		gt_result_detail(result);
	for (size_t i = 0; i < gt_known_list_count; i++) {
		const struct gt_known_list *list = &gt_known_lists[i];

		if (!source->asked[list->way])
			continue;
		/* The first set last: its outcome is what the table of counters tells. */
		for (size_t set = list->set_count; set-- > 0;)
			if (gt_known_schedule(list, set, &source->ways[list->way],
			                      scheduled[i].wanted, &scheduled[i].sets[set]) < 0)
				return;
		for (size_t set = 0; set < list->set_count; set++)
			add_set(result, list, set, &scheduled[i].sets[set]);
	}
}

/* The one of a counter and what stands in for it that is counted on this chip, else the counter's
 * own. */
static size_t metric_of(const struct gt_known_list *list, const struct gt_metric_wanted *wanted,
                        size_t counter)
{
	for (size_t i = counter; i < list->count && (i == counter || wanted[i].instead); i++)
		if (wanted[i].outcome == GT_METRIC_TAKEN)
			return i;
	return counter;
}

static void add_set_names(struct gt_result *result, const struct gt_known_list *list, uint32_t sets)
{
	char text[128] = "";
	size_t used = 0;

	for (size_t i = 0; i < list->set_count; i++)
		if (sets >> i & 1)
			used += (size_t)snprintf(text + used, sizeof(text) - used, "%s%s",
			                         used ? " " : "", list->sets[i]);
	gt_result_add_format(result, "%s", text);
}

static void add_left_out(struct gt_result *result, enum gt_metric_outcome outcome)
{
	if (outcome == GT_METRIC_UNKNOWN)
		gt_result_add_text(result, "the chip cannot count it");
	else if (outcome == GT_METRIC_NO_ROOM)
		gt_result_add_text(result, "no room in the pass");
	else
		gt_result_add_unknown(result);
}

static void add_counter(struct gt_result *result, struct gt_chip *chip,
                        const struct gt_known_list *list, const struct gt_metric_wanted *wanted,
                        size_t counter)
{
	const struct gt_known_counter *known = &list->counters[counter];
	const char *metric = list->counters[metric_of(list, wanted, counter)].metric;
	const int passes = gt_chip_schedule(chip, &metric, 1);

	gt_result_add_text(result, known->name);
	gt_result_add_text(result, list->counted);
	add_set_names(result, list, known->sets);
	gt_result_add_text(result, known->unit);
	gt_result_add_count_if(result, passes > 0, passes);
	add_left_out(result, gt_metric_outcome_of(wanted, list->count, counter));
	gt_result_add_text(result, metric);
	gt_result_add_text(result, known->help);
}

static void add_counters(struct gt_result *result, struct gt_metric_source *source,
                         const struct scheduled *scheduled, const struct gt_catalogue_words *words)
{
	gt_result_begin(result, "counters", counter_headings, GT_COUNT_OF(counter_headings));
	gt_result_whole(result);
	for (size_t i = 0; i < gt_known_list_count; i++) {
		const struct gt_known_list *list = &gt_known_lists[i];

		for (size_t j = 0; j < list->count && source->asked[list->way]; j++)
			if (!list->counters[j].instead &&
			    gt_catalogue_matches(words, list->counters[j].name,
			                         list->counters[j].help))
				add_counter(result, &source->ways[list->way], list,
				            scheduled[i].wanted, j);
	}
}

static void add_metrics(struct gt_result *result, const struct gt_catalogue *catalogue)
{
	gt_result_begin(result, "metrics", metric_headings, GT_COUNT_OF(metric_headings));
	gt_result_whole(result);
	gt_array_each(const struct gt_catalogued, metric, &catalogue->metrics) {
		const int sampled = metric->passes[GT_CHIP_SAMPLES];
		const int launches = metric->passes[GT_CHIP_RANGES];

		gt_result_add_format(result, "%s", metric->name);
		gt_result_add_text(result, type_names[metric->type]);
		gt_result_add_format(result, "%s", metric->unit);
		gt_result_add_format(result, "%s", metric->hardware);
		gt_result_add_count_if(result, sampled > 0, sampled);
		gt_result_add_count_if(result, launches > 0, launches);
		gt_result_add_format(result, "%s", metric->forms);
		gt_result_add_format(result, "%s", metric->help);
	}
}

static void remark(struct gt_result *result, const struct gt_metric_source *source,
                   bool has_metrics)
{
	if (!has_metrics)
		gt_result_remark(result,
		                 "CUPTI has more: gputrace metrics WORD... lists those with "
		                 "the words in name or description, --all lists all.");
	else
		gt_result_remark_on(result, "metric",
		                    "A metric is asked for with what stands behind its dot, as "
		                    "dram__bytes_read.sum, lts__t_sector_hit_rate.pct or "
		                    "sm__throughput.avg.pct_of_peak_sustained_elapsed; --json and "
		                    "--csv name all that there is.");
	if (source->no_availability)
		gt_result_remark(
			result,
			"Which of the chip's counters this GPU has CUPTI does not say (result "
			"%d): all are listed.",
			source->no_availability);
	gt_result_remark_on(
		result, "passes left_out sampled_passes launch_passes",
		"Passes are those of one counter alone: several that share hardware need "
		"more together. What is sampled has one pass.");
}

/* Tables without rows, for the manual. */
static void make_tables(struct gt_result *result)
{
	gt_result_begin(result, "source", source_headings, GT_COUNT_OF(source_headings));
	gt_result_begin(result, "sets", set_headings, GT_COUNT_OF(set_headings));
	gt_result_begin(result, "counters", counter_headings, GT_COUNT_OF(counter_headings));
	gt_result_begin(result, "metrics", metric_headings, GT_COUNT_OF(metric_headings));
}

static void fill(struct gt_result *result, struct gt_metric_source *source, const struct args *args,
                 const struct gt_catalogue_words *words)
{
	const bool has_metrics = args->all || words->count > 0;
	struct scheduled *scheduled = gt_allocate(gt_known_list_count * sizeof(*scheduled));
	struct gt_progress progress = {0};
	struct gt_catalogue catalogue = {0};

	for (size_t i = 0; i < gt_known_list_count; i++)
		scheduled[i] = (struct scheduled){
			.wanted =
				gt_allocate(gt_known_lists[i].count * sizeof(*scheduled[i].wanted)),
		};
	gt_progress_begin(&progress, false, "asking CUPTI about %s", source->chip);
	add_source(result, source, args->choice.gpu);
	add_sets(result, source, scheduled, words->count > 0);
	add_counters(result, source, scheduled, words);
	if (has_metrics) {
		gt_catalogue_read(&catalogue, source->asked, words, gt_progress_watch(&progress));
		add_metrics(result, &catalogue);
	}
	gt_progress_end(&progress);
	remark(result, source, has_metrics);
	gt_catalogue_release(&catalogue);
	for (size_t i = 0; i < gt_known_list_count; i++)
		free(scheduled[i].wanted);
	free(scheduled);
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {.show = GT_SHOW_ARGS_INIT};
	const int left = gt_options_parse(options, &args, argc, argv, err);
	struct gt_rendering rendering = {.whole_names = true};
	struct gt_metric_source source = {0};
	struct gt_result result;
	int status;

	if (left < 0)
		return left;
	status = gt_show_style(&args.show, &rendering.style, err);
	if (status < 0)
		return status;
	gt_result_init(&result);
	status = gt_metric_source_open(&source, &args.choice, err);
	if (status == 0) {
		fill(&result, &source, &args, &(struct gt_catalogue_words){argv, (size_t)left});
		status = gt_result_check(&result, err);
	}
	if (status == 0)
		status = gt_show(&args.show, &rendering,
		                 &(struct gt_named_result){"metrics", &result}, 1, err);
	gt_result_release(&result);
	gt_metric_source_close(&source);
	return status < 0 ? status : GT_EXIT_OK;
}

const struct gt_command gt_command_metrics = {
	.name = "metrics",
	.operands = "[WORD...]",
	.summary = "List the hardware counters of a GPU",
	.details =
		"Without a WORD, the counters and sets that gputrace has names for; with some, also "
		"CUPTI's metrics that have all of them in their name or description, in whatever "
		"case. gputrace run --counters takes names of either.\n",
	.tables = make_tables,
	.options = options,
	.run = run,
};
