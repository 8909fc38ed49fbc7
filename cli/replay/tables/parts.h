/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_REPLAY_TABLES_PARTS_H
#define GT_CLI_REPLAY_TABLES_PARTS_H

#include "analysis/result.h"
#include "cli/replay/outcome.h"
#include "model/bundle/bundle.h"

/*
 * Cells, tables and remarks of what came of running launches again. For cli/replay/tables/ alone.
 */

/* Cells. */
void gt_replay_add_label(struct gt_result *result, const struct gt_outcome *outcome);

/* By how much one is more than another. */
double gt_replay_more_percent(double one, double other);

/* first: as recorded, which it is compared with; NULL: with none. */
void gt_replay_add_verdict(struct gt_result *result, const struct gt_outcome *outcome,
                           const struct gt_outcome *first);

/* The tables buffers and mismatches. */
void gt_replay_add_buffers(struct gt_result *result, const struct gt_outcomes *outcomes);

/* Of the outcome as recorded. */
void gt_replay_remark(struct gt_result *result, const struct gt_outcome *first,
                      const struct gt_bundle *bundle);

#endif
