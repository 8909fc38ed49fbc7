/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/error.h"
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"

/*
 * A command line, one word a line, the first the name of a command, for its options and those of
 * other profilers: whatever is in it, operands are words of it or parts of them, and what is wrong
 * has a sentence.
 */

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

enum { MAX_WORDS = 64, ARGS_BYTES = 1 << 16 };

static void must(bool holds)
{
	if (!holds)
		__builtin_trap();
}

static void parse(const struct gt_command *command, int count, char **words, const char *lines,
                  size_t size)
{
	void *args = calloc(1, ARGS_BYTES); /* larger than any command's own */
	char *argv[MAX_WORDS + 1];
	struct gt_error err = {0};
	int left;

	memcpy(argv, words, sizeof(*argv) * (size_t)count);
	argv[count] = NULL;
	left = strcmp(command->name, "run") == 0
	               ? gt_options_parse_leading(command->options, args, count, argv, &err)
	               : gt_options_parse(command->options, args, count, argv, &err);
	must(left <= count);
	must(left >= 0 || left == -EINVAL || left == -ECANCELED);
	must(left >= 0 || err.text[0]);
	for (int i = 0; i < left; i++)
		must(argv[i] >= lines && argv[i] <= lines + size);
	free(args);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *const lines = malloc(size + 1);
	char *words[MAX_WORDS];
	const struct gt_command *command;
	int count = 0;

	memcpy(lines, data, size);
	lines[size] = '\0';
	words[count++] = lines;
	for (size_t i = 0; i < size && count < MAX_WORDS; i++) {
		if (lines[i] != '\n')
			continue;
		lines[i] = '\0';
		words[count++] = lines + i + 1;
	}
	command = gt_command_find(words[0]);
	if (command)
		parse(command, count - 1, words + 1, lines, size);
	free(lines);
	return 0;
}
