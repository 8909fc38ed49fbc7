/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "analysis/kernels/groups.h"
#include "analysis/parameter.h"
#include "analysis/report.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/error.h"
#include "cli/command_line/command.h"
#include "cli/command_line/filter.h"
#include "cli/command_line/habits.h"
#include "cli/command_line/names.h"
#include "cli/command_line/option.h"
#include "cli/command_line/report_help.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"
#include "cli/recording/reading.h"
#include "cli/recording/recording.h"
#include "cli/render/pager.h"
#include "cli/render/render.h"
#include "cli/render/show.h"
#include "cli/report/answers.h"
#include "cli/report/list.h"
#include "cli/report/page.h"
#include "cli/report/schema.h"
#include "model/view/view.h"

struct args {
	struct gt_sort sort;
	bool list;
	bool schema;
	bool strict;
	struct gt_filter_args filter;
	const char *names;
	struct gt_show_args show;
	struct gt_option_list settings;
	const char *by;
	bool each;
	bool own_threads;
};

/* Groupings of the reports that have a parameter "by"; those of kernels first. */
static const char *const by_words[] = {GT_GROUP_WORDS, "path", "domain", NULL};

static const struct gt_option options[] = {
	{OPT("list", 'l', FLAG, struct args, list, NULL,
             "List the reports and their parameters; also with --json or --csv"),
         .group = "Contents of the report"},
	OPT_FLAG(
		"schema", 0, struct args, schema,
		"Print the JSON Schema of what --json has of the reports, of all where none is named"),
	OPT_CHOICE(
		"by", 0, struct args, by, "WHAT", by_words,
		"Group kernels by name (default), base, shape, stream, family, origin or range, NVTX "
		"ranges by path (default), name or domain, operations of PyTorch by name (default) or "
		"shape"),
	OPT_FLAG("each", 0, struct args, each,
                 "Figures of one NVTX range, with their spread: reports ranges and kernels"),
	OPT_LIST("set", 0, struct args, settings, "NAME=VALUE",
                 "Set a parameter of a report: its --help names them; threads=own, in any report, "
                 "counts to NVTX ranges only what their own threads launched; may be given again"),
	OPT_SORT("sort", 's', struct args, sort, "COLUMN",
                 "Sort by this column: COLUMN:asc or COLUMN:desc, commas separate several"),
	GT_NAMES_OPTION(struct args, names),
	GT_FILTER_OPTIONS(struct args, filter),
	GT_STRICT_OPTION(struct args, strict),
	GT_SHOW_OPTIONS(struct args, show),
	OPT_FLAG("all", 'a', struct args, show.all,
                 "Every table of a report; without it text has the first three, and names the "
                 "others"),
	OPT_END_OF("report"),
};

/* -ENOENT: reports may know it. */
static int set_general(struct args *args, const char *setting, struct gt_error *err)
{
	struct gt_arguments arguments;
	int result;

	gt_arguments_init(&arguments, gt_report_parameters);
	result = gt_arguments_set(&arguments, gt_report_parameters, setting, err);
	if (result == 0)
		args->own_threads = strcmp(arguments.values[0].text, "own") == 0;
	return result;
}

/*
 * Tables that keep a number of rows themselves keep as many as are asked for, and all of them where
 * another order decides which are the first.
 */
static void limit(struct gt_answers *answers, const struct args *args)
{
	const uint64_t rows = args->sort.count ? GT_ROWS_ALL : args->show.limit;

	gt_array_each(struct gt_answer, answer, &answers->list)
		if (args->sort.count || rows != GT_LIMIT_NONE)
			gt_arguments_limit(&answer->arguments, answer->report->parameters, rows);
}

/* The reports that are meant where none is named. */
static const char *usual_reports(const struct args *args, enum gt_style style)
{
	if (args->each || (args->by && gt_groups_ranges(args->by)))
		return "ranges";
	if (args->by)
		return "kernels";
	return style == GT_STYLE_HTML ? GT_PAGE_REPORTS : "summary";
}

/* Somebody may have meant a recording by a word that is a report's: what is shown is of another. */
static void say_namesakes(int count, char **words, const char *recording)
{
	for (int i = 0; i < count; i++) {
		char namesakes[256];

		gt_recording_namesakes(words[i], recording, namesakes, sizeof(namesakes));
		if (*namesakes)
			gt_say("'%s' is taken for the report, not for %s", words[i], namesakes);
	}
}

/* The page that people read first ends with the ledger, clean or not. */
static bool ends_with_ledger(const struct gt_answers *answers, enum gt_style style)
{
	return style == GT_STYLE_TEXT && answers->list.count == 1 &&
	       strcmp(answers->list.rows[0].report->name, "summary") == 0;
}

/*
 * A ledger that is not clean is shown with every result: as a remark in each report of JSON,
 * once at the end of text, at the head of HTML, and on standard error with CSV and pictures, which
 * have no place for it.
 */
static void add_ledger(const char *sentence, enum gt_style style, struct gt_answers *answers)
{
	const size_t count = answers->list.count;

	if (style == GT_STYLE_HTML)
		return;
	if (style == GT_STYLE_CSV || style == GT_STYLE_SVG) {
		gt_say("%s", sentence);
		return;
	}
	for (size_t i = style == GT_STYLE_JSON ? 0 : count - 1; i < count; i++)
		gt_result_remark(&answers->list.rows[i].result, "%s", sentence);
}

static int show_answers(const struct args *args, const struct gt_rendering *rendering,
                        const struct gt_answers *answers, struct gt_error *err)
{
	const size_t count = answers->list.count;
	struct gt_named_result *named = gt_allocate(count * sizeof(*named));
	int result;

	for (size_t i = 0; i < count; i++)
		named[i] = (struct gt_named_result){answers->list.rows[i].report->name,
		                                    &answers->list.rows[i].result};
	result = gt_show(&args->show, rendering, named, count, err);
	gt_array_free(named);
	return result;
}

static int run_reports(const struct gt_view *view, struct gt_answers *answers,
                       struct gt_progress *progress, struct gt_error *err)
{
	uint64_t done = 0;
	int result = 0;

	gt_array_each(struct gt_answer, answer, &answers->list) {
		gt_progress_begin(progress, false, "report %s", answer->report->name);
		gt_watch_tell(gt_progress_watch(progress), done++, answers->list.count);
		if (result == 0)
			result = gt_report_run(answer->report, view, &answer->arguments,
			                       &answer->result, err);
	}
	return result;
}

static int show_page(const struct args *args, const struct gt_rendering *rendering,
                     const struct gt_answers *answers, const struct gt_reading *reading,
                     const char *recording, struct gt_error *err)
{
	struct gt_rendering whole = *rendering;
	struct gt_report_page page;
	int result;

	gt_report_page_init(&page, reading, recording);
	whole.head = &page.head;
	result = show_answers(args, &whole, answers, err);
	gt_report_page_release(&page);
	return result;
}

static int report_on(const struct args *args, const char *recording, enum gt_style style,
                     struct gt_answers *answers, struct gt_error *err)
{
	const struct gt_rendering rendering = {
		.style = style,
		.sort = args->sort.count ? &args->sort : NULL,
		.whole_names = args->names && gt_names_form(args->names) != GT_NAMES_SHORT,
	};
	struct gt_progress progress = {0};
	struct gt_reading reading;
	int result;

	gt_reading_init(&reading);
	result = gt_reading_choose(&reading, &args->filter, err);
	if (args->own_threads)
		gt_filter_own_threads(&reading.filter);
	gt_progress_begin(&progress, false, "reading %s", recording);
	if (result == 0)
		result = gt_reading_read(&reading, recording, gt_names_form(args->names), &progress,
		                         err);
	if (result == 0)
		result = run_reports(&reading.view, answers, &progress, err);
	gt_progress_end(&progress);
	gt_say_condition(recording, reading.condition);
	if (result == 0 && (!reading.clean || ends_with_ledger(answers, style)))
		add_ledger(reading.ledger, style, answers);
	if (result == 0)
		result = style == GT_STYLE_HTML
		                 ? show_page(args, &rendering, answers, &reading, recording, err)
		                 : show_answers(args, &rendering, answers, err);
	if (result == 0)
		result = gt_reading_status(&reading, args->strict);
	gt_reading_release(&reading);
	return result;
}

/* "report kernels --help": the columns of every report among the words. False when there is none. */
static bool help_with_reports(int argc, char **argv)
{
	struct gt_paged page;
	bool found = false;

	gt_paged_open(&page);
	for (int i = 0; i < argc; i++) {
		const struct gt_report *report = gt_habit_report(argv[i]);

		if (!report)
			continue;
		if (found)
			putc('\n', page.out);
		gt_report_help(report, page.out);
		found = true;
	}
	gt_paged_close(&page);
	return found;
}

/* Applies the options to the reports that were chosen. */
static int set_up(struct gt_answers *answers, struct args *args, struct gt_error *err)
{
	struct gt_option_list *sections = &args->show.sections;
	int result = args->by ? gt_answers_group(answers, args->by, err) : 0;

	if (answers->section && answers->list.count == 1 && sections->count == 0)
		sections->texts[sections->count++] = answers->section;
	if (result == 0 && args->each)
		result = gt_answers_show_each(answers, err);
	limit(answers, args);
	for (size_t i = 0; result == 0 && i < args->settings.count; i++) {
		result = set_general(args, args->settings.texts[i], err);
		if (result == -ENOENT)
			result = gt_answers_set(answers, args->settings.texts[i], err);
	}
	return result;
}

/* Needs no recording; one that is named changes nothing. */
static int print_schema(const struct args *args, int count, char **words, struct gt_error *err)
{
	char every[] = "all";
	char *all[] = {every};
	struct gt_answers answers = {0};
	const char *recording;
	int result = gt_answers_choose(&answers, count ? count : 1, count ? words : all, &recording,
	                               "summary", err);

	if (result == 0)
		result = gt_report_schema(&args->show, &answers, err);
	gt_answers_release(&answers);
	return result < 0 ? result : GT_EXIT_OK;
}

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {.show = GT_SHOW_ARGS_INIT};
	const int left = gt_options_parse(options, &args, argc, argv, err);
	struct gt_answers answers = {0};
	const char *word;
	char *recording = NULL;
	enum gt_style style;
	int result;

	if (left == -ECANCELED && help_with_reports(argc, argv))
		return GT_EXIT_OK;
	if (left < 0)
		return left;
	if (args.list) {
		result = gt_report_list(&args.show, err);
		return result < 0 ? result : GT_EXIT_OK;
	}
	result = gt_show_style(&args.show, &style, err);
	if (result == 0 && args.schema)
		return print_schema(&args, left, argv, err);
	if (result == 0)
		result = gt_answers_choose(&answers, left, argv, &word, usual_reports(&args, style),
		                           err);
	if (result == 0)
		result = set_up(&answers, &args, err);
	if (result == 0)
		result = gt_recording_choose(word, &recording, err);
	if (result == 0 && !word)
		say_namesakes(left, argv, recording);
	if (result == 0)
		result = report_on(&args, recording, style, &answers, err);
	gt_answers_release(&answers);
	free(recording);
	return result;
}

const struct gt_command gt_command_report = {
	.name = "report",
	.operands = "[RECORDING] [REPORT...]",
	.summary = "Answer questions about a recording",
	.details = GT_RECORDING_HELP
	"\n"
	"Without a REPORT the summary is shown; 'all' is every one of them but events.\n"
	"'gputrace report REPORT --help' explains its columns and parameters.",
	.list_title = "Reports",
	.list = gt_report_list_for_help,
	.options = options,
	.run = run,
};
