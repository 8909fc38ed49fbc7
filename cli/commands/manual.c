/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/manual.h"

#include <errno.h>

#include "base/error.h"
#include "cli/command.h"
#include "cli/option.h"
#include "cli/output.h"

struct args {
	const char *output;
	bool force;
};

static const struct gt_option options[] = {
	OPT_TEXT("output", 'o', struct args, output, "FILE",
                 "Write here instead of standard output (-)"),
	OPT_FLAG("force", 'f', struct args, force, "Overwrite an existing file"),
	OPT_END,
};

static int run(int argc, char **argv, struct gt_error *err)
{
	struct args args = {0};
	const int left = gt_options_parse(options, &args, argc, argv, err);
	struct gt_output output = GT_OUTPUT_INIT;
	int result;

	if (left < 0)
		return left;
	if (left > 1)
		return gt_fail(err, EINVAL, "one page at a time, not also '%s'", argv[1]);
	result = gt_output_open(&output, args.output, args.force, err);
	if (result == 0 && left == 0)
		gt_manual_list(output.file);
	else if (result == 0)
		result = gt_manual_print(argv[0], output.file, err);
	if (result == 0)
		result = gt_output_commit(&output, err);
	gt_output_release(&output);
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
