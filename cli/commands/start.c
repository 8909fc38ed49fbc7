/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/control/control.h"

static const struct gt_option options[] = {OPT_END_OF("start")};

static int run(int argc, char **argv, struct gt_error *err)
{
	return gt_control_run(options, &(int){0}, argc, argv, gt_control_start, err);
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
