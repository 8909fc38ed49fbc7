/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "analysis/report.h"
#include "base/error.h"
#include "cli/command.h"
#include "cli/help.h"
#include "cli/option.h"
#include "cli/report_help.h"
#include "cli/say.h"
#include "cli/verb.h"

static void print_help(FILE *out)
{
	fputs("usage: gputrace COMMAND [OPTION...] [OPERAND...]\n\n"
	      "Shows what a program does on NVIDIA GPUs.\n\nCommands:\n",
	      out);
	for (size_t i = 0; i < gt_command_count; i++)
		if (!gt_commands[i]->hidden)
			fprintf(out, "  %-10s %s\n", gt_commands[i]->name, gt_commands[i]->summary);
	fputs("\n'gputrace ./app' is 'gputrace run ./app', 'gputrace app.gputrace' is\n"
	      "'gputrace report app.gputrace'.\n\n"
	      "'gputrace help COMMAND' or 'gputrace COMMAND --help' says more, 'gputrace help\n"
	      "REPORT' explains a report; 'gputrace --version' names the version.\n\n"
	      "Exit status: 0 done, 1 could not do it, 2 did not understand the command line.\n"
	      "That of 'gputrace run' is the program's own; 125 gputrace could not start\n"
	      "recording, 126 the program cannot be run, 127 there is no such program,\n"
	      "128+N signal N killed it.\n",
	      out);
}

static void print_command_help(const struct gt_command *command)
{
	printf("usage: gputrace %s [OPTION...] %s\n\n%s.\n\nOptions:\n", command->name,
	       command->operands, command->summary);
	gt_options_help(command->options, stdout);
	if (command->list) {
		printf("\n%s:\n", command->list_title);
		command->list(gt_help_entry, stdout);
	}
	if (command->details) {
		putchar('\n');
		gt_help_text(command->details, stdout);
	}
}

/* gputrace help [COMMAND|REPORT], gputrace help report REPORT */
static int help(const char *name, const char *second)
{
	const struct gt_command *command = NULL;
	const struct gt_report *report = name ? gt_report_find(second ? second : name) : NULL;
	struct gt_error err = {0};

	if (name && strcmp(name, "help") == 0)
		name = NULL;
	if (report) {
		gt_report_help(report, stdout);
		return GT_EXIT_OK;
	}
	if (name && gt_verb_command(name, &command, &err) < 0) {
		gt_say("%s", err.text);
		return GT_EXIT_USAGE;
	}
	if (command)
		print_command_help(command);
	else
		print_help(stdout);
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
