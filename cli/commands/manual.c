/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/command_line/manual.h"

#include <errno.h>

#include "base/error.h"
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/render/print.h"

struct args {
	struct gt_print_args print;
};

static const struct gt_option options[] = {
	GT_PRINT_OPTIONS(struct args, print),
	OPT_END,
};

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {0};
	const int left = gt_options_parse(options, &args, argc, argv, err);
	int result;

	if (left < 0)
		return left;
	if (left > 1)
		return gt_fail(err, EINVAL, "one page at a time, not also '%s'", argv[1]);
	result = gt_print(&args.print, gt_manual_print, left > 0 ? argv[0] : NULL, err);
	return result < 0 ? result : GT_EXIT_OK;
}

/* For who builds and packages: people type man gputrace. */
const struct gt_command gt_command_manual = {
	.name = "manual",
	.operands = "[PAGE]",
	.summary = "Print a page of the manual as roff, or the names of all",
	.options = options,
	.hidden = true,
	.run = run,
};
