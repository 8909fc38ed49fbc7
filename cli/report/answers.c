/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/report/answers.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/nearest.h"
#include "base/path.h"
#include "cli/command_line/habits.h"
#include "cli/output/words.h"
#include "cli/recording/recording.h"
#include "format/recording.h"

static const char *const thread_words[] = {"all", "own", NULL};

const struct gt_parameter gt_report_parameters[] = {
	{"threads", GT_PARAMETER_CHOICE, "all",
         "Whose work counts to an NVTX range: also that of other threads for it, or of its own alone",
         thread_words},
	{0},
};

static void answers_add(struct gt_answers *answers, const struct gt_report *report)
{
	struct gt_answer *answer = gt_array_push(&answers->list);

	answer->report = report;
	gt_arguments_init(&answer->arguments, report->parameters);
	gt_result_init(&answer->result);
}

void gt_answers_release(struct gt_answers *answers)
{
	gt_array_each(struct gt_answer, answer, &answers->list)
		gt_result_release(&answer->result);
	gt_array_release(&answers->list);
}

/* No report that was asked for has the parameter. */
static int unknown_parameter(const struct gt_answers *answers, const char *setting,
                             struct gt_error *err)
{
	const int length = (int)strcspn(setting, "=");
	struct gt_words names = {0};
	const char *nearest;
	char name[64];
	int result;

	snprintf(name, sizeof(name), "%.*s", length, setting);
	gt_array_each(const struct gt_answer, answer, &answers->list) {
		const struct gt_parameter *parameter = answer->report->parameters;

		for (; parameter && parameter->name; parameter++)
			gt_words_add(&names, parameter->name, strlen(parameter->name));
	}
	gt_words_add(&names, gt_report_parameters[0].name, strlen(gt_report_parameters[0].name));
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

int gt_answers_set(struct gt_answers *answers, const char *setting, struct gt_error *err)
{
	bool known = false;

	gt_array_each(struct gt_answer, answer, &answers->list) {
		const int result = gt_arguments_set(&answer->arguments, answer->report->parameters,
		                                    setting, err);

		if (result < 0 && result != -ENOENT)
			return result;
		known = known || result == 0;
	}
	return known ? 0 : unknown_parameter(answers, setting, err);
}

/* A parameter that has an option of its own. -ENOENT: no report that was asked for can do that. */
static int set_where_known(struct gt_answers *answers, const char *setting)
{
	int result = -ENOENT;

	gt_array_each(struct gt_answer, answer, &answers->list)
		if (gt_arguments_set(&answer->arguments, answer->report->parameters, setting,
		                     NULL) == 0)
			result = 0;
	return result;
}

bool gt_groups_ranges(const char *by)
{
	return strcmp(by, "path") == 0 || strcmp(by, "domain") == 0;
}

int gt_answers_group(struct gt_answers *answers, const char *by, struct gt_error *err)
{
	char setting[32];

	snprintf(setting, sizeof(setting), "by=%s", by);
	if (set_where_known(answers, setting) == 0)
		return 0;
	if (gt_groups_ranges(by))
		return gt_fail(err, EINVAL, "--by %s groups NVTX ranges: add the report ranges",
		               by);
	return gt_fail(err, EINVAL, "--by groups kernels: add the report kernels");
}

int gt_answers_show_each(struct gt_answers *answers, struct gt_error *err)
{
	if (set_where_known(answers, "each=yes") == 0)
		return 0;
	return gt_fail(err, EINVAL,
	               "--each shows the figures of NVTX ranges: add the report ranges or kernels");
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
static void answers_add_new(struct gt_answers *answers, const struct gt_report *report)
{
	gt_array_each(const struct gt_answer, answer, &answers->list)
		if (answer->report == report)
			return;
	answers_add(answers, report);
}

/* A report by another name, with the setting that makes it what that name means. */
static int add_alias(struct gt_answers *answers, const struct gt_alias *alias, struct gt_error *err)
{
	const struct gt_report *report = gt_report_find(alias->report);

	answers_add_new(answers, report);
	if (!alias->text)
		return 0;
	if (strncmp(alias->text, GT_ALIAS_SECTION, strlen(GT_ALIAS_SECTION)) == 0) {
		answers->section = alias->text + strlen(GT_ALIAS_SECTION);
		return 0;
	}
	gt_array_each(struct gt_answer, answer, &answers->list)
		if (answer->report == report)
			return gt_arguments_set(&answer->arguments, report->parameters, alias->text,
			                        err);
	return 0;
}

/* A report by its name, or by one that another tool or a person has for it. -ENOENT: it is none. */
static int add_report(struct gt_answers *answers, const char *word, struct gt_error *err)
{
	const struct gt_report *report = gt_report_find(word);
	const struct gt_alias *alias = report ? NULL : gt_alias_find(word);

	if (strcmp(word, "all") == 0) {
		for (size_t i = 0; i < gt_report_count; i++)
			if (!gt_reports[i]->apart)
				answers_add_new(answers, gt_reports[i]);
		return 0;
	}
	if (alias && !*alias->report)
		return gt_fail(err, EINVAL, "no report '%s': %s", word, alias->text);
	if (alias)
		return add_alias(answers, alias, err);
	if (!report)
		return -ENOENT;
	answers_add_new(answers, report);
	return 0;
}

/* Reports with commas between them. */
static int add_list(struct gt_answers *answers, const char *list, struct gt_error *err)
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
static int take(struct gt_answers *answers, const char *word, const char **recording,
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

int gt_answers_choose(struct gt_answers *answers, int count, char **words, const char **recording,
                      const char *usual, struct gt_error *err)
{
	int result = 0;

	*recording = NULL;
	for (int i = 0; result == 0 && i < count; i++)
		result = take(answers, words[i], recording, err);
	if (result == 0 && answers->list.count == 0)
		result = add_list(answers, usual, err);
	return result;
}
