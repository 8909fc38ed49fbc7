/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/control/control.h"

static const struct gt_option options[] = {OPT_END_OF("stop")};

static int run(int argc, char **argv, struct gt_error *err)
{
	return gt_control_run(options, &(int){0}, argc, argv, gt_control_stop, err);
}

const struct gt_command gt_command_stop = {
	.name = "stop",
	.operands = "[RECORDING|PID]",
	.summary = "Pause the recording of a running program; the program runs on",
	.details =
		"RECORDING is one that gputrace run is writing, PID a process that it records. All\n"
		"processes of the recording on this machine are paused, also those that begin\n"
		"later. Returns when each has followed. gputrace start lets them go on. While\n"
		"paused, memory calls, loaded modules, graphs and telemetry are still recorded;\n"
		"launches, other API calls and NVTX are not. Reports count the time as not\n"
		"measured.",
	.options = options,
	.run = run,
};
