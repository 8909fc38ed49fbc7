/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <locale.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "base/nearest.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/say.h"

#define COMMAND(name) extern const struct gt_command gt_command_##name;
#include "cli/commands.def"

#define COMMAND(name) &gt_command_##name,
static const struct gt_command *const commands[] = {
#include "cli/commands.def"
};

enum { COMMAND_COUNT = sizeof(commands) / sizeof(commands[0]) };

static const struct gt_command *find_command(const char *name)
{
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static void print_help(FILE *out)
{
	fputs("usage: gputrace COMMAND [OPTION...] [OPERAND...]\n\n"
	      "Shows what a program does on NVIDIA GPUs.\n\nCommands:\n",
	      out);
	for (size_t i = 0; i < COMMAND_COUNT; i++)
		fprintf(out, "  %-10s %s\n", commands[i]->name, commands[i]->summary);
	fputs("\n'gputrace help COMMAND' or 'gputrace COMMAND --help' says more;\n"
	      "'gputrace --version' names the version.\n\n"
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
		putchar('\n');
		command->list(stdout);
	}
	if (command->details)
		printf("\n%s\n", command->details);
}

static int unknown_command(const char *name)
{
	const char *names[COMMAND_COUNT + 2] = {"help"};
	const char *nearest;

	for (size_t i = 0; i < COMMAND_COUNT; i++)
		names[i + 1] = commands[i]->name;
	nearest = gt_nearest(name, names);
	if (nearest)
		gt_say("no command '%s'; did you mean %s?", name, nearest);
	else
		gt_say("no command '%s'; see gputrace --help", name);
	return GT_EXIT_USAGE;
}

/* gputrace help [COMMAND] */
static int help(const char *name)
{
	const struct gt_command *command = name ? find_command(name) : NULL;

	if (name && !command)
		return unknown_command(name);
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
	const char *word = argc > 1 ? argv[1] : NULL;
	const struct gt_command *command;

	/* Only characters: numbers keep their decimal point everywhere. There is one thread. */
	/* NOLINTNEXTLINE(concurrency-mt-unsafe) */
	(void)setlocale(LC_CTYPE, "");
	if (!word) {
		print_help(stderr);
		return GT_EXIT_USAGE;
	}
	if (strcmp(word, "--help") == 0 || strcmp(word, "-h") == 0 || strcmp(word, "help") == 0)
		return help(argv[2]);
	if (strcmp(word, "--version") == 0) {
		puts("gputrace " GPUTRACE_VERSION);
		return GT_EXIT_OK;
	}
	command = find_command(word);
	return command ? run(command, argc - 2, argv + 2) : unknown_command(word);
}
