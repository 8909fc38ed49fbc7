/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/control/control.h"
#include "cli/recording/recording.h"

static const struct gt_option options[] = {OPT_END_OF("status")};

static int run(int argc, char **argv, struct gt_error *err)
{
	int unused = 0;
	const int left = gt_options_parse(options, &unused, argc, argv, err);
	char *folder = NULL;
	int result;

	if (left < 0)
		return left;
	result = gt_recording_one(left, argv, err);
	if (result == 0)
		result = gt_control_find(left > 0 ? argv[0] : NULL, &folder, err);
	if (result == 0)
		result = gt_control_print(folder, err);
	free(folder);
	return result;
}

const struct gt_command gt_command_status = {
	.name = "status",
	.operands = "[RECORDING|PID]",
	.summary = "Say which processes of a running program are recorded, and which are paused",
	.details = "One line for each process on this machine, with the file that it writes.",
	.options = options,
	.run = run,
};
