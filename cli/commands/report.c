/* SPDX-License-Identifier: Apache-2.0 */
#include "analysis/report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "analysis/kernels/groups.h"
#include "analysis/parameter.h"
#include "analysis/result.h"
#include "base/array.h"
#include "base/error.h"
#include "base/nearest.h"
#include "base/path.h"
#include "cli/command_line/command.h"
#include "cli/command_line/filter.h"
#include "cli/command_line/habits.h"
#include "cli/command_line/help.h"
#include "cli/command_line/names.h"
#include "cli/command_line/option.h"
#include "cli/command_line/report_help.h"
#include "cli/output/progress.h"
#include "cli/output/say.h"
#include "cli/output/words.h"
#include "cli/recording/reading.h"
#include "cli/recording/recording.h"
#include "cli/render/pager.h"
#include "cli/render/print.h"
#include "cli/render/render.h"
#include "cli/render/show.h"
#include "format/recording.h"
#include "model/view/view.h"

struct args {
	struct gt_sort sort;
	bool list;
	struct gt_filter_args filter;
	const char *names;
	struct gt_show_args show;
	struct gt_option_list settings;
	const char *by;
	bool each;
	bool own_threads;
};

/* Parameters that every report takes. */
static const char *const thread_words[] = {"all", "own", NULL};

static const struct gt_parameter general[] = {
	{"threads", GT_PARAMETER_CHOICE, "all",
         "Whose work counts to an NVTX range: also that of other threads for it, or of its own alone",
         thread_words},
	{0},
};

/* Groupings of the reports that have a parameter "by"; those of kernels first. */
static const char *const by_words[] = {GT_GROUP_WORDS, "path", "domain", NULL};

static const struct gt_option options[] = {
	{OPT("list", 'l', FLAG, struct args, list, NULL,
             "List the reports and their parameters; also with --json or --csv"),
         .group = "Contents of the report"},
	OPT_CHOICE(
		"by", 0, struct args, by, "WHAT", by_words,
		"Group kernels by name (default), base, shape, stream, family, origin or range, NVTX "
		"ranges by path (default), name or domain"),
	OPT_FLAG("each", 0, struct args, each,
                 "Figures of one NVTX range, with their spread: reports ranges and kernels"),
	OPT_LIST("set", 0, struct args, settings, "NAME=VALUE",
                 "Set a parameter of a report: its --help names them; threads=own, in any report, "
                 "counts to NVTX ranges only what their own threads launched; may be given again"),
	OPT_SORT("sort", 's', struct args, sort, "COLUMN",
                 "Sort by this column: COLUMN:asc or COLUMN:desc, commas separate several"),
	GT_NAMES_OPTION(struct args, names),
	GT_FILTER_OPTIONS(struct args, filter),
	GT_SHOW_OPTIONS(struct args, show),
	OPT_END_OF("report"),
};

/* A report that was asked for and what it found. */
struct answer {
	const struct gt_report *report;
	struct gt_arguments arguments;
	struct gt_result result;
};

struct answers {
	gt_array(struct answer) list;
};

static void answers_add(struct answers *answers, const struct gt_report *report)
{
	struct answer *answer = gt_array_push(&answers->list);

	answer->report = report;
	gt_arguments_init(&answer->arguments, report->parameters);
	gt_result_init(&answer->result);
}

static void answers_release(struct answers *answers)
{
	gt_array_each(struct answer, answer, &answers->list)
		gt_result_release(&answer->result);
	gt_array_release(&answers->list);
}

/* The first clause of each summary: "report NAME --help" has all of it. */
static void list_for_help(void (*entry)(const char *name, const char *text, FILE *out), FILE *out)
{
	for (size_t i = 0; i < gt_report_count; i++) {
		const char *summary = gt_reports[i]->summary;
		char *clause = strndup(summary, strcspn(summary, ":;"));

		entry(gt_reports[i]->name, clause, out);
		free(clause);
	}
}

/* What --list shows as text. */
static void print_parameters(const struct gt_parameter *parameter, FILE *out)
{
	for (; parameter && parameter->name; parameter++) {
		char setting[64];

		snprintf(setting, sizeof(setting), "  --set %s=%s", parameter->name,
		         parameter->initial);
		gt_help_entry(setting, parameter->help, out);
	}
}

static int print_list(const char *what, FILE *out, struct gt_error *err)
{
	(void)what;
	(void)err;
	for (size_t i = 0; i < gt_report_count; i++) {
		gt_help_short_entry(gt_reports[i]->name, gt_reports[i]->summary, out);
		print_parameters(gt_reports[i]->parameters, out);
	}
	gt_help_short_entry("all", "Every one of them; parameters that they share", out);
	print_parameters(general, out);
	return 0;
}

static int list_as_text(const struct gt_show_args *args, struct gt_error *err)
{
	const struct gt_print_args print = {.output = args->output, .force = args->force};
	struct gt_paged page;

	if (args->output)
		return gt_print(&print, print_list, NULL, err);
	gt_paged_open(&page);
	(void)print_list(NULL, page.out, err);
	gt_paged_close(&page);
	return 0;
}

static void list_parameters(struct gt_result *result, const char *report,
                            const struct gt_parameter *parameter)
{
	for (; parameter && parameter->name; parameter++) {
		gt_result_add_text(result, report);
		gt_result_add_text(result, parameter->name);
		gt_result_add_text(result, parameter->initial);
		gt_result_add_text(result, parameter->help);
	}
}

/* The same for programs. */
static void list_as_tables(struct gt_result *result)
{
	static const struct gt_heading reports[] = {
		{"report", GT_UNIT_TEXT, "Name of the report"},
		{"answers", GT_UNIT_TEXT, "Its subject"},
	};
	static const struct gt_heading parameters[] = {
		{"report", GT_UNIT_TEXT, "Report that has the parameter"},
		{"parameter", GT_UNIT_TEXT, "Name of the parameter"},
		{"usual", GT_UNIT_TEXT, "Its value where it is not set"},
		{"help", GT_UNIT_TEXT, "Its effect"},
	};

	gt_result_begin(result, "reports", reports, sizeof(reports) / sizeof(reports[0]));
	for (size_t i = 0; i < gt_report_count; i++) {
		gt_result_add_text(result, gt_reports[i]->name);
		gt_result_add_text(result, gt_reports[i]->summary);
	}
	gt_result_begin(result, "parameters", parameters,
	                sizeof(parameters) / sizeof(parameters[0]));
	for (size_t i = 0; i < gt_report_count; i++)
		list_parameters(result, gt_reports[i]->name, gt_reports[i]->parameters);
	list_parameters(result, "all", general);
}

static int list_reports(const struct args *args, struct gt_error *err)
{
	struct gt_rendering rendering = {0};
	struct gt_result result;
	int failed = gt_show_style(&args->show, &rendering.style, err);

	if (failed < 0)
		return failed;
	if (rendering.style == GT_STYLE_TEXT)
		return list_as_text(&args->show, err);
	gt_result_init(&result);
	list_as_tables(&result);
	failed = gt_show(&args->show, &rendering, &(struct gt_named_result){"list", &result}, 1,
	                 err);
	gt_result_release(&result);
	return failed;
}

/* No report that was asked for has the parameter. */
static int unknown_parameter(const struct answers *answers, const char *setting,
                             struct gt_error *err)
{
	const int length = (int)strcspn(setting, "=");
	struct gt_words names = {0};
	const char *nearest;
	char name[64];
	int result;

	snprintf(name, sizeof(name), "%.*s", length, setting);
	gt_array_each(const struct answer, answer, &answers->list) {
		const struct gt_parameter *parameter = answer->report->parameters;

		for (; parameter && parameter->name; parameter++)
			gt_words_add(&names, parameter->name, strlen(parameter->name));
	}
	gt_words_add(&names, general[0].name, strlen(general[0].name));
	nearest = gt_words_nearest(&names, name);
	if (nearest)
		result = gt_fail(err, EINVAL, "--set: no parameter '%s'; did you mean %s?", name,
		                 nearest);
	else
		result = gt_fail(err, EINVAL,
		                 "--set: no parameter '%s'; see gputrace report --list", name);
	gt_words_release(&names);
	return result;
}

/* -ENOENT: reports may know it. */
static int set_general(struct args *args, const char *setting, struct gt_error *err)
{
	struct gt_arguments arguments;
	int result;

	gt_arguments_init(&arguments, general);
	result = gt_arguments_set(&arguments, general, setting, err);
	if (result == 0)
		args->own_threads = strcmp(arguments.values[0].text, "own") == 0;
	return result;
}

/* A setting is for every report that has a parameter of its name. */
static int set(struct answers *answers, const char *setting, struct gt_error *err)
{
	bool known = false;

	gt_array_each(struct answer, answer, &answers->list) {
		const int result = gt_arguments_set(&answer->arguments, answer->report->parameters,
		                                    setting, err);

		if (result < 0 && result != -ENOENT)
			return result;
		known = known || result == 0;
	}
	return known ? 0 : unknown_parameter(answers, setting, err);
}

/*
 * Tables that keep a number of rows themselves keep as many as are asked for, and all of them where
 * another order decides which are the first.
 */
static void limit(struct answers *answers, const struct args *args)
{
	const uint64_t rows = args->sort.count ? GT_ROWS_ALL : args->show.limit;

	gt_array_each(struct answer, answer, &answers->list)
		if (args->sort.count || rows != GT_LIMIT_NONE)
			gt_arguments_limit(&answer->arguments, answer->report->parameters, rows);
}

/* A parameter that has an option of its own. -ENOENT: no report that was asked for can do that. */
static int set_where_known(struct answers *answers, const char *setting)
{
	int result = -ENOENT;

	gt_array_each(struct answer, answer, &answers->list)
		if (gt_arguments_set(&answer->arguments, answer->report->parameters, setting,
		                     NULL) == 0)
			result = 0;
	return result;
}

static bool is_of_ranges(const char *by)
{
	return strcmp(by, "path") == 0 || strcmp(by, "domain") == 0;
}

/* --by WHAT is --set by=WHAT: a report that was asked for must have something to group. */
static int group(struct answers *answers, const char *by, struct gt_error *err)
{
	char setting[32];

	snprintf(setting, sizeof(setting), "by=%s", by);
	if (set_where_known(answers, setting) == 0)
		return 0;
	if (is_of_ranges(by))
		return gt_fail(err, EINVAL, "--by %s groups NVTX ranges: add the report ranges",
		               by);
	return gt_fail(err, EINVAL, "--by groups kernels: add the report kernels");
}

static int show_each(struct answers *answers, struct gt_error *err)
{
	if (set_where_known(answers, "each=yes") == 0)
		return 0;
	return gt_fail(err, EINVAL,
	               "--each shows the figures of NVTX ranges: add the report ranges or kernels");
}

/* The report that is meant where none is named. */
static const char *usual_report(const struct args *args)
{
	if (args->each || (args->by && is_of_ranges(args->by)))
		return "ranges";
	return args->by ? "kernels" : "summary";
}

/* Says what a word was meant to be: a report, or, where none is named, a recording. */
static int unknown_word(const char *word, bool recording_known, struct gt_error *err)
{
	const char **names = gt_allocate((gt_report_count + 1) * sizeof(*names));
	const struct gt_wanted wanted = {"recording or report", names, "gputrace report --list",
	                                 EINVAL};
	const char *nearest;
	int result;

	for (size_t i = 0; i < gt_report_count; i++)
		names[i] = gt_reports[i]->name;
	names[gt_report_count] = NULL;
	nearest = gt_nearest(word, names);
	if (!recording_known)
		result = gt_recording_missing(word, &wanted, err);
	else if (nearest)
		result = gt_fail(err, EINVAL, "no report '%s'; did you mean %s?", word, nearest);
	else
		result = gt_fail(err, EINVAL, "no report '%s'; see %s", word, wanted.see);
	gt_array_free(names);
	return result;
}

/* Once each. */
static void answers_add_new(struct answers *answers, const struct gt_report *report)
{
	gt_array_each(const struct answer, answer, &answers->list)
		if (answer->report == report)
			return;
	answers_add(answers, report);
}

/* A report by its name, or by one that another tool or a person has for it. -ENOENT: it is none. */
static int add_report(struct answers *answers, const char *word, struct gt_error *err)
{
	const struct gt_report *report = gt_report_find(word);
	const struct gt_alias *alias = report ? NULL : gt_alias_find(word);

	if (strcmp(word, "all") == 0) {
		for (size_t i = 0; i < gt_report_count; i++)
			answers_add_new(answers, gt_reports[i]);
		return 0;
	}
	if (alias && !*alias->report)
		return gt_fail(err, EINVAL, "no report '%s': %s", word, alias->text);
	if (alias)
		report = gt_report_find(alias->report);
	if (!report)
		return -ENOENT;
	answers_add_new(answers, report);
	return 0;
}

/* Reports with commas between them. */
static int add_list(struct answers *answers, const char *list, struct gt_error *err)
{
	int result = 0;

	for (const char *at = list; result == 0 && *at; at += *at == ',') {
		const size_t length = strcspn(at, ",");
		char word[64];

		snprintf(word, sizeof(word), "%.*s", (int)length, at);
		at += length;
		if (length == 0)
			continue;
		result = add_report(answers, word, err);
		if (result == -ENOENT)
			result = unknown_word(word, true, err);
	}
	return result;
}

/* Whether the word can only be a place on disk, though nothing may be there. */
static bool is_path(const char *word)
{
	return strchr(word, '/') || gt_has_suffix(word, GT_RECORDING_SUFFIX) ||
	       gt_has_suffix(word, GT_CAPTURE_SUFFIX) || access(word, F_OK) == 0 ||
	       gt_recording_is_foreign(word, NULL) < 0;
}

/*
 * An operand: the names of reports are theirs alone; a word of other tools for one is that only
 * where no recording is called so.
 */
static int take(struct answers *answers, const char *word, const char **recording,
                struct gt_error *err)
{
	char *found = gt_report_find(word) ? NULL : gt_recording_find(word);
	const bool exists = found;
	int result = -ENOENT;

	free(found);
	if (!*word)
		return gt_fail(err, EINVAL, "'' names neither a recording nor a report");
	if (!exists && strchr(word, ',') && !is_path(word))
		return add_list(answers, word, err);
	if (!exists)
		result = add_report(answers, word, err);
	if (result != -ENOENT)
		return result;
	if (!exists && !is_path(word))
		return unknown_word(word, *recording, err);
	if (*recording)
		return gt_recording_second(word, err);
	*recording = word;
	return 0;
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

/* The recording and the reports among the operands, in any order; without a report the usual one. */
static int choose(struct answers *answers, int count, char **words, const char **recording,
                  const char *usual, struct gt_error *err)
{
	int result = 0;

	*recording = NULL;
	for (int i = 0; result == 0 && i < count; i++)
		result = take(answers, words[i], recording, err);
	if (result == 0 && answers->list.count == 0)
		answers_add(answers, gt_report_find(usual));
	return result;
}

/* The page that people read first ends with the ledger, clean or not. */
static bool ends_with_ledger(const struct answers *answers, enum gt_style style)
{
	return style == GT_STYLE_TEXT && answers->list.count == 1 &&
	       strcmp(answers->list.rows[0].report->name, "summary") == 0;
}

/*
 * A ledger that is not clean is shown with every result: as a remark in each report of JSON,
 * once at the end of text, and on standard error with CSV and pictures, which have no place for it.
 */
static void add_ledger(const char *sentence, enum gt_style style, struct answers *answers)
{
	const size_t count = answers->list.count;

	if (style == GT_STYLE_CSV || style == GT_STYLE_SVG) {
		gt_say("%s", sentence);
		return;
	}
	for (size_t i = style == GT_STYLE_JSON ? 0 : count - 1; i < count; i++)
		gt_result_remark(&answers->list.rows[i].result, "%s", sentence);
}

static int show_answers(const struct args *args, const struct gt_rendering *rendering,
                        const struct answers *answers, struct gt_error *err)
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

static int run_reports(const struct gt_view *view, struct answers *answers,
                       struct gt_progress *progress, struct gt_error *err)
{
	uint64_t done = 0;
	int result = 0;

	gt_array_each(struct answer, answer, &answers->list) {
		gt_progress_begin(progress, false, "report %s", answer->report->name);
		gt_watch_tell(gt_progress_watch(progress), done++, answers->list.count);
		if (result == 0)
			result = gt_report_run(answer->report, view, &answer->arguments,
			                       &answer->result, err);
	}
	return result;
}

static int report_on(const struct args *args, const char *recording, enum gt_style style,
                     struct answers *answers, struct gt_error *err)
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
		result = show_answers(args, &rendering, answers, err);
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

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {.show = GT_SHOW_ARGS_INIT};
	const int left = gt_options_parse(options, &args, argc, argv, err);
	struct answers answers = {0};
	const char *word;
	char *recording = NULL;
	enum gt_style style;
	int result;

	if (left == -ECANCELED && help_with_reports(argc, argv))
		return GT_EXIT_OK;
	if (left < 0)
		return left;
	if (args.list) {
		result = list_reports(&args, err);
		return result < 0 ? result : GT_EXIT_OK;
	}
	result = gt_show_style(&args.show, &style, err);
	if (result == 0)
		result = choose(&answers, left, argv, &word, usual_report(&args), err);
	if (result == 0 && args.by)
		result = group(&answers, args.by, err);
	if (result == 0 && args.each)
		result = show_each(&answers, err);
	limit(&answers, &args);
	for (size_t i = 0; result == 0 && i < args.settings.count; i++) {
		result = set_general(&args, args.settings.texts[i], err);
		if (result == -ENOENT)
			result = set(&answers, args.settings.texts[i], err);
	}
	if (result == 0)
		result = gt_recording_choose(word, &recording, err);
	if (result == 0 && !word)
		say_namesakes(left, argv, recording);
	if (result == 0)
		result = report_on(&args, recording, style, &answers, err);
	answers_release(&answers);
	free(recording);
	return result < 0 ? result : GT_EXIT_OK;
}

const struct gt_command gt_command_report = {
	.name = "report",
	.operands = "[RECORDING] [REPORT...]",
	.summary = "Answer questions about a recording",
	.details = GT_RECORDING_HELP
	"\n"
	"Without a REPORT the summary is shown; 'all' is every one of them.\n"
	"'gputrace report REPORT --help' explains its columns and parameters.",
	.list_title = "Reports",
	.list = list_for_help,
	.options = options,
	.run = run,
};
