/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "analysis/report.h"
#include "base/error.h"
#include "base/nearest.h"
#include "cli/command_line/command.h"
#include "cli/command_line/habits.h"
#include "cli/command_line/help.h"
#include "cli/command_line/option.h"
#include "cli/command_line/report_help.h"
#include "cli/output/say.h"
#include "cli/render/pager.h"
#include "cli/verb.h"

static void print_help(FILE *out)
{
	gt_help_text("usage: gputrace COMMAND [OPTION...] [OPERAND...]\n\n"
	             "Shows what a program does on NVIDIA GPUs.\n\nCommands:\n",
	             out);
	for (size_t i = 0; i < gt_command_count; i++)
		if (!gt_commands[i]->hidden)
			gt_help_short_entry(gt_commands[i]->name, gt_commands[i]->summary, out);
	gt_help_text(
		"\n"
		"In short: 'gputrace ./app' records a program, 'gputrace app.gputrace' shows the "
		"summary of a recording, 'gputrace kernels' a report on the newest one here.\n\n"
		"'gputrace COMMAND --help' explains a command, 'gputrace help REPORT' a report, "
		"'gputrace --version' prints the version. The manual: 'man gputrace', 'man "
		"gputrace-run', 'man 5 gputrace-report'; where it is not installed, 'gputrace manual "
		"gputrace.1 | man -l -'.\n\n"
		"Exit status: 0 done, 1 could not be done, 2 the command line was not understood. "
		"'gputrace run' exits as the program does; 'gputrace run --help' says more.\n",
		out);
}

static void print_usage(const struct gt_command *command, FILE *out)
{
	char usage[256];

	snprintf(usage, sizeof(usage), "usage: gputrace %s [OPTION...] %s\n\n%s.\n\n",
	         command->name, command->operands, command->summary);
	gt_help_text(usage, out);
}

static void print_command_help(const struct gt_command *command)
{
	struct gt_paged page;

	gt_paged_open(&page);
	print_usage(command, page.out);
	if (command->list) {
		fprintf(page.out, "%s:\n", command->list_title);
		command->list(gt_help_short_entry, page.out);
		putc('\n', page.out);
	}
	gt_options_help(command->options, page.out);
	if (command->details) {
		putc('\n', page.out);
		gt_help_text(command->details, page.out);
	}
	gt_paged_close(&page);
}

static void show_help(void)
{
	struct gt_paged page;

	gt_paged_open(&page);
	print_help(page.out);
	gt_paged_close(&page);
}

static void show_report_help(const struct gt_report *report)
{
	struct gt_paged page;

	gt_paged_open(&page);
	gt_report_help(report, page.out);
	gt_paged_close(&page);
}

static int no_help(const char *word)
{
	enum { MOST = 64 };
	const struct gt_alias *alias = gt_alias_find(word);
	const char *names[MOST + 1] = {NULL};
	const char *nearest;
	size_t count = 0;

	for (size_t i = 0; i < gt_command_count && count < MOST; i++)
		if (!gt_commands[i]->hidden)
			names[count++] = gt_commands[i]->name;
	for (size_t i = 0; i < gt_report_count && count < MOST; i++)
		names[count++] = gt_reports[i]->name;
	nearest = gt_nearest(word, names);
	if (alias && alias->text)
		gt_say("no report '%s': %s", word, alias->text);
	else if (nearest)
		gt_say("no command or report '%s'; did you mean %s?", word, nearest);
	else
		gt_say("no command or report '%s'; see gputrace --help and gputrace report --list",
		       word);
	return GT_EXIT_USAGE;
}

/* gputrace help [COMMAND|REPORT], gputrace help report REPORT */
static int help(const char *name, const char *second)
{
	const struct gt_command *command = NULL;
	const char *word = second ? second : name;

	if (!word || strcmp(word, "help") == 0) {
		show_help();
		return GT_EXIT_OK;
	}
	if (gt_report_find(word) || gt_verb_command(word, &command, NULL) < 0) {
		const struct gt_report *report = gt_habit_report(word);

		if (!report)
			return no_help(word);
		show_report_help(report);
	} else {
		print_command_help(command);
	}
	return GT_EXIT_OK;
}

/* The options do not know whose they are: "see --help" is of the command. */
static void say_usage(const struct gt_command *command, const char *text)
{
	static const char end[] = "; see --help";
	const size_t length = strlen(text);
	const size_t kept = length - (sizeof(end) - 1);

	if (length >= sizeof(end) - 1 && strcmp(text + kept, end) == 0)
		gt_say("%.*s; see gputrace %s --help", (int)kept, text, command->name);
	else
		gt_say("%s", text);
}

static int run(const struct gt_command *command, int argc, char **argv)
{
	struct gt_error err = {0};
	const int status = command->run(argc, argv, &err);

	if (status >= 0)
		return status;
	if (status == -ECANCELED) {
		print_command_help(command);
		return GT_EXIT_OK;
	}
	say_usage(command, err.text);
	if (err.code == EINVAL)
		return GT_EXIT_USAGE;
	return command->failed_status ? command->failed_status : GT_EXIT_FAILED;
}

int main(int argc, char **argv)
{
	struct gt_error err = {0};
	struct gt_verb verb;

	/* Only characters: numbers keep their decimal point everywhere. There is one thread. */
	/* NOLINTNEXTLINE(concurrency-mt-unsafe) */
	(void)setlocale(LC_CTYPE, "");
	if (argc < 2) {
		print_help(stderr);
		return GT_EXIT_USAGE;
	}
	if (gt_verb_find(argv, &verb, &err) < 0) {
		gt_say("%s", err.text);
		return GT_EXIT_USAGE;
	}
	switch (verb.kind) {
	case GT_VERB_HELP:
		return verb.skip ? help(argv[2], argv[2] ? argv[3] : NULL) : help(NULL, NULL);
	case GT_VERB_VERSION:
		puts("gputrace " GPUTRACE_VERSION);
		return GT_EXIT_OK;
	case GT_VERB_COMMAND:
		break;
	}
	return run(verb.command, argc - verb.skip, argv + verb.skip);
}
