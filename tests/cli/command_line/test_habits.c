/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_line/habits.h"

#include <errno.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "analysis/parameter.h"
#include "analysis/report.h"
#include "base/error.h"
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/command_line/report_help.h"
#include "exporters/exporter.h"
#include "support/check.h"

static bool has_option(const char *command, const char *name)
{
	const struct gt_command *known = gt_command_find(command);

	cr_assert(ne(ptr, (void *)(uintptr_t)known, NULL), "no command %s", command);
	for (const struct gt_option *option = known->options; option->name; option++)
		if (strcmp(option->name, name) == 0)
			return true;
	return false;
}

Test(habits, stand_for_options_that_there_are)
{
	size_t checked = 0;

	for (const struct gt_habit *habit = gt_habits; habit->commands; habit++) {
		char commands[128];
		char *rest = commands;

		if (habit->answer != GT_HABIT_SAME)
			continue;
		snprintf(commands, sizeof(commands), "%s", habit->commands);
		for (char *command; (command = strsep(&rest, "|"));) {
			cr_expect(has_option(command, habit->text), "%s --%s", command,
			          habit->text);
			checked++;
		}
	}
	cr_expect(gt(sz, checked, 10));
}

Test(habits, name_commands_and_reports_that_there_are)
{
	for (const struct gt_word *word = gt_words_known; word->words; word++)
		if (word->meaning == GT_WORD_COMMAND)
			cr_expect(gt_command_find(word->text) != NULL, "%s", word->text);
	for (const struct gt_alias *alias = gt_aliases; alias->words; alias++)
		cr_expect(gt_report_find(alias->report) != NULL || (!*alias->report && alias->text),
		          "%s", alias->words);
}

static void expect_table(const struct gt_report *report, const char *title)
{
	struct gt_report_tables tables;

	gt_report_tables_init(&tables, report);
	cr_expect(gt_result_find(&tables.result, title) != NULL, "%s %s", report->name, title);
	gt_report_tables_release(&tables);
}

Test(habits, set_parameters_and_choose_tables_that_reports_have)
{
	size_t checked = 0;

	for (const struct gt_alias *alias = gt_aliases; alias->words; alias++) {
		const struct gt_report *report = gt_report_find(alias->report);
		struct gt_arguments arguments;

		if (!report || !alias->text)
			continue;
		if (strncmp(alias->text, GT_ALIAS_SECTION, strlen(GT_ALIAS_SECTION)) == 0) {
			expect_table(report, alias->text + strlen(GT_ALIAS_SECTION));
			continue;
		}
		gt_arguments_init(&arguments, report->parameters);
		cr_expect(eq(int,
		             gt_arguments_set(&arguments, report->parameters, alias->text, NULL),
		             0),
		          "%s %s", alias->report, alias->text);
		checked++;
	}
	cr_expect(gt(sz, checked, 3));
}

Test(habits, hide_no_command_and_no_report)
{
	for (size_t i = 0; i < gt_command_count; i++)
		cr_expect(gt_word_find(gt_commands[i]->name) == NULL, "%s", gt_commands[i]->name);
	for (size_t i = 0; i < gt_report_count; i++)
		cr_expect(gt_alias_find(gt_reports[i]->name) == NULL, "%s", gt_reports[i]->name);
}

Test(habits, know_formats_by_what_others_call_them)
{
	static const char *const words[] = {"json", "Kineto", "pftrace"};

	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		cr_expect(gt_exporter_find(gt_format_alias(words[i])) != NULL, "%s", words[i]);
	cr_expect(gt_format_alias("sqlite") == NULL);
}

Test(habits, say_something_where_they_refuse)
{
	for (const struct gt_habit *habit = gt_habits; habit->commands; habit++)
		if (habit->answer == GT_HABIT_REFUSED || habit->answer == GT_HABIT_NOTE)
			cr_expect(habit->text && *habit->text, "%s", habit->names);
	for (const struct gt_word *word = gt_words_known; word->words; word++)
		if (word->meaning == GT_WORD_MISSING)
			cr_expect(word->text && *word->text, "%s", word->words);
}

Test(habits, go_by_the_value)
{
	char none[] = "none";
	char ten[] = "10";
	const struct gt_typed sample = {.letter = 's', .next = none};
	const struct gt_typed skip = {.letter = 's', .next = ten};

	cr_expect(eq(int, gt_habit_find("run", &sample)->answer, GT_HABIT_FINE));
	cr_expect(eq(int, gt_habit_find("run", &skip)->answer, GT_HABIT_REFUSED));
	cr_expect(gt_habit_find("finish", &sample) == NULL);
	cr_expect(gt_habit_knows("run", &(struct gt_typed){.letter = 's'}));
	cr_expect(gt_habit_find("run", &(struct gt_typed){.letter = 's'}) == NULL);
}

Test(habits, read_lists_of_what_to_record)
{
	struct gt_error err = {0};

	cr_expect(eq(int, gt_habit_trace("cuda", &err), 0));
	cr_expect(eq(int, gt_habit_trace("mpi,osrt", &err), -EINVAL));
	cr_expect(eq(int, gt_habit_trace("cuda,nonsense", &err), -EINVAL));
	cr_expect(strstr(err.text, "'nonsense'") != NULL);
	cr_expect(eq(int, gt_habit_trace("", &err), -EINVAL));
}
