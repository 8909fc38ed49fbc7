/* SPDX-License-Identifier: Apache-2.0 */
#include <string.h>

#include "cli/command_line/command.h"

#define COMMAND(name) extern const struct gt_command gt_command_##name;
#include "cli/commands.def"

#define COMMAND(name) &gt_command_##name,
const struct gt_command *const gt_commands[] = {
#include "cli/commands.def"
};

const size_t gt_command_count = sizeof(gt_commands) / sizeof(gt_commands[0]);

const struct gt_command *gt_command_find(const char *name)
{
	for (size_t i = 0; i < gt_command_count; i++)
		if (strcmp(gt_commands[i]->name, name) == 0)
			return gt_commands[i];
	return NULL;
}
