/* SPDX-License-Identifier: Apache-2.0 */
#include "cli/completion/completion.h"

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
	if (left != 1)
		return gt_fail(err, EINVAL, "which shell? gputrace completion bash, zsh or fish");
	result = gt_print(&args.print, gt_completion_print, argv[0], err);
	return result < 0 ? result : GT_EXIT_OK;
}

const struct gt_command gt_command_completion = {
	.name = "completion",
	.operands = "SHELL",
	.summary = "Print what lets a shell complete gputrace's words",
	.details = "SHELL is bash, zsh or fish. Packages install it already. By hand:\n"
		   "  gputrace completion bash >>~/.bashrc\n"
		   "  gputrace completion zsh >\"${fpath[1]}/_gputrace\"\n"
		   "  gputrace completion fish >~/.config/fish/completions/gputrace.fish",
	.options = options,
	.run = run,
};
