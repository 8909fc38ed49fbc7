/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_BEST_H
#define GT_CLI_REPLAY_BEST_H

struct gt_bundle;
struct gt_outcome;
struct gt_tune_row;

/*
 * What --tune found best, by function, size and device, whatever bundle it was found with: kept in
 * gputrace/tuned.json of the user's data folder. A failure to keep it is said.
 */
void gt_best_keep(const struct gt_bundle *bundle, const struct gt_outcome *recorded,
                  const struct gt_tune_row *best);

#endif
