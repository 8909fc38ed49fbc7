/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_STEP_CHOICE_H
#define GT_CLI_REPLAY_STEP_CHOICE_H

#include <stddef.h>
#include <stdint.h>

struct gt_bundle;
struct gt_error;
struct gt_result;

/*
 * The step that --step means: a number, or a regular expression (POSIX extended) for names of
 * kernels, of which the first that fits is taken; matching, how many launches fit, is 1 for a
 * number. Fails in the words of who typed it: -EINVAL.
 */
int gt_step_choose(const struct gt_bundle *bundle, const char *text, uint32_t *step,
                   size_t *matching, struct gt_error *err);

/* All steps of a bundle as a table; NULL: headings. */
void gt_steps_fill(struct gt_result *result, const struct gt_bundle *bundle);

#endif
