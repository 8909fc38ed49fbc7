/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_VERIFY_VERIFY_H
#define GT_REPLAY_VERIFY_VERIFY_H

#include <stdint.h>

struct gt_error;
struct gt_replay_options;
struct gt_replay_result;
struct gt_restored;
struct gt_steps;

/*
 * Runs the steps to see what they write: with red zones, twice with the same inputs, and once over
 * poison. Sets buffers, first_bad_step, verified and no_poison of what was found. A run that takes
 * longer than most_ns over poison is given up, and the GPU with it.
 */
int gt_verify(struct gt_steps *steps, struct gt_restored *restored,
              const struct gt_replay_options *options, int64_t most_ns,
              struct gt_replay_result *found, struct gt_error *err);

/* Compares what is in memory now with what was recorded: sets buffers and verified. */
int gt_verify_now(struct gt_steps *steps, struct gt_restored *restored,
                  const struct gt_replay_options *options, struct gt_replay_result *found,
                  struct gt_error *err);

#endif
