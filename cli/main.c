/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/option.h"

#define COMMAND(name) extern const struct gt_command gt_command_##name;
#include "cli/commands.def"

#define COMMAND(name) &gt_command_##name,
static const struct gt_command *const commands[] = {
#include "cli/commands.def"
};
static const size_t command_count = sizeof(commands) / sizeof(commands[0]);

static const struct gt_command *find_command(const char *name)
{
	for (size_t i = 0; i < command_count; i++)
		if (strcmp(commands[i]->name, name) == 0)
			return commands[i];
	return NULL;
}

static void print_help(void)
{
	puts("usage: gputrace COMMAND [OPTION...]\n\nCommands:");
	for (size_t i = 0; i < command_count; i++)
		printf("  %-10s %s\n", commands[i]->name, commands[i]->summary);
}

static void print_command_help(const struct gt_command *command)
{
	printf("usage: gputrace %s [OPTION...] %s\n\n%s.\n\nOptions:\n", command->name,
	       command->operands, command->summary);
	gt_options_help(command->options, stdout);
}

int main(int argc, char **argv)
{
	struct gt_error err = {0};
	const struct gt_command *command;
	int status;

	if (argc > 1 && strcmp(argv[1], "--help") == 0) {
		print_help();
		return GT_EXIT_OK;
	}
	command = argc > 1 ? find_command(argv[1]) : NULL;
	if (!command) {
		fprintf(stderr, "gputrace: no command '%s'; see gputrace --help\n",
		        argc > 1 ? argv[1] : "");
		return GT_EXIT_USAGE;
	}
	if (argc > 2 && strcmp(argv[2], "--help") == 0) {
		print_command_help(command);
		return GT_EXIT_OK;
	}

	status = command->run(argc - 2, argv + 2, &err);
	if (status >= 0)
		return status;
	fprintf(stderr, "gputrace: %s\n", err.text);
	return err.code == EINVAL ? GT_EXIT_USAGE : GT_EXIT_FAILED;
}
