/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_TABLES_TABLE_H
#define GT_CLI_REPLAY_TABLES_TABLE_H

struct gt_bundle;
struct gt_outcomes;
struct gt_result;
struct gt_results;

/*
 * Outcome of running a bundle again: the launch, its times, its outputs; of one step its excerpt
 * is the bundle. bundle NULL: headings.
 */
void gt_replay_fill(struct gt_result *result, const struct gt_bundle *bundle,
                    const struct gt_outcomes *outcomes);

/* Kept results of a bundle, newest first, each beside the one before it. */
void gt_history_fill(struct gt_result *result, const struct gt_results *results);

#endif
