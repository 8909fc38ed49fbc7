/* SPDX-License-Identifier: Apache-2.0 */
#include <errno.h>
#include <stddef.h>

#include "base/error.h"
#include "cli/command_line/command.h"
#include "cli/command_line/option.h"
#include "cli/completion/offers.h"

static const struct gt_option options[] = {OPT_END};

static int run(int argc, char **argv, struct gt_error *err)
{
	const int left = gt_options_parse(options, NULL, argc, argv, err);
	struct gt_offers offers;

	if (left < 0)
		return left;
	if (left == 0)
		return gt_fail(err, EINVAL, "which words? gputrace offer -- WORD...");
	gt_offers_init(&offers, (size_t)left, argv);
	gt_offers_print(&offers, stdout);
	gt_offers_release(&offers);
	return GT_EXIT_OK;
}

/* For what gputrace completion prints: people press Tab. */
const struct gt_command gt_command_offer = {
	.name = "offer",
	.operands = "-- WORD...",
	.summary = "Print what the last word of a command line can become",
	.options = options,
	.hidden = true,
	.run = run,
};
