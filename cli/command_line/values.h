/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_COMMAND_LINE_VALUES_H
#define GT_CLI_COMMAND_LINE_VALUES_H

struct gt_error;
struct gt_option;

/*
 * Values of options: reads their text and stores them in the field of the argument struct at args.
 * Both return 0, or -EINVAL with one sentence in err.
 */

/* text is NULL for a flag, and for an option that may do without. */
int gt_option_store(const struct gt_option *option, const char *text, void *args,
                    struct gt_error *err);

/* A flag with a value: --quiet=false. */
int gt_option_store_flag(const struct gt_option *option, const char *text, void *args,
                         struct gt_error *err);

#endif
