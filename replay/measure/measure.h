/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_MEASURE_MEASURE_H
#define GT_REPLAY_MEASURE_MEASURE_H

struct gt_activity;
struct gt_error;
struct gt_replay_options;
struct gt_replay_times;
struct gt_restored;
struct gt_steps;

/*
 * Runs the steps until the estimate of their time is stable: by CUPTI from the begin of the first
 * work to the end of the last; by events where activity is NULL, or tells nothing.
 */
int gt_replay_measure(struct gt_steps *steps, struct gt_restored *restored,
                      struct gt_activity *activity, const struct gt_replay_options *options,
                      struct gt_replay_times *times, struct gt_error *err);

#endif
