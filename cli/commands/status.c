/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/control/control.h"

static const struct gt_option options[] = {OPT_END_OF("status")};

static int run(int argc, char **argv, struct gt_error *err)
{
	return gt_control_run(options, &(int){0}, argc, argv, gt_control_print, err);
}

const struct gt_command gt_command_status = {
	.name = "status",
	.operands = "[RECORDING|PID]",
	.summary = "Say which processes of a running program are recorded, and which are paused",
	.details = "One line for each process on this machine, with the file that it writes.",
	.options = options,
	.run = run,
};
