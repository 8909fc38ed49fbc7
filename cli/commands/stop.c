/* SPDX-License-Identifier: Apache-2.0 */
#include <stdlib.h>

#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/control/control.h"
#include "cli/recording/recording.h"

static const struct gt_option options[] = {OPT_END_OF("stop")};

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
		result = gt_control_ask(folder, false, err);
	free(folder);
	return result;
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
