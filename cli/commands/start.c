/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/control/control.h"
#include "cli/recording/recording.h"

static const struct gt_option options[] = {OPT_END_OF("start")};

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
		result = gt_control_ask(folder, true, err);
	free(folder);
	return result;
}

const struct gt_command gt_command_start = {
	.name = "start",
	.operands = "[RECORDING|PID]",
	.summary = "Let a paused recording of a running program go on",
	.details =
		"RECORDING is one that gputrace run is writing, PID a process that it records. All\n"
		"processes of the recording on this machine go on, also those that begin later.\n"
		"Returns when each has followed. Programs are paused by gputrace stop, and by the\n"
		"options --start-paused, --delay and others of gputrace run. The last start or\n"
		"stop counts, whoever gives it.",
	.options = options,
	.run = run,
};
