/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_ANALYSIS_COMPARE_PROGRAM_PATH_H
#define GT_ANALYSIS_COMPARE_PROGRAM_PATH_H

#include <stdbool.h>

#include "model/ranges/ranges.h"

/*
 * The path of ranges that the program itself opened: without parts of models, operations of
 * PyTorch and ranges of XLA, which are there or not by how a run was recorded. "" where there are
 * none, or the path is GT_NONE.
 */
void gt_program_path_text(const struct gt_ranges *ranges, gt_id path,
                          char text[GT_RANGE_PATH_BYTES]);

/* Whether all of a path is the program's own. */
bool gt_is_program_path(const struct gt_ranges *ranges, gt_id path);

#endif
