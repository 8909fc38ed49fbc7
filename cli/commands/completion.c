/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

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
	if (left != 1)
		return gt_fail(err, EINVAL, "which shell? gputrace completion bash, zsh or fish");
	result = gt_output_open(&output, args.output, args.force, err);
	if (result == 0)
		result = gt_completion_print(argv[0], output.file, err);
	if (result == 0)
		result = gt_output_commit(&output, err);
	gt_output_release(&output);
	return result < 0 ? result : GT_EXIT_OK;
}

const struct gt_command gt_command_completion = {
	.name = "completion",
	.operands = "SHELL",
	.summary = "Print what makes a shell complete gputrace's words",
	.details = "SHELL is bash, zsh or fish. Packages install these files. By hand, for bash:\n"
		   "  gputrace completion bash >>~/.bashrc",
	.options = options,
	.run = run,
};
