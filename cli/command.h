/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMMAND_H
#define GT_CLI_COMMAND_H

struct gt_error;

enum gt_exit {
	GT_EXIT_OK = 0,
	GT_EXIT_FAILED = 1, /* could not do what was asked */
	GT_EXIT_USAGE = 2,  /* did not understand what was asked */
	GT_EXIT_LIMIT = 3,  /* done, and a --fail-if limit was crossed */
};

/* One verb. To add one: see commands.def. */
struct gt_command {
	const char *name;
	const char *operands; /* after the options in "usage:", or "" */
	const char *summary;
	const struct gt_option *options;
	/* argv starts after the verb. Returns an exit status, or negative with err set. */
	int (*run)(int argc, char **argv, struct gt_error *err);
};

#endif
