/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_CLI_CALIBRATE_TABLE_H
#define GT_CLI_CALIBRATE_TABLE_H

struct gt_calibrations;
struct gt_result;

/* Calibrations as tables: the GPUs, and their ceilings by what these are measured in. */
void gt_calibrate_fill(struct gt_result *result, const struct gt_calibrations *calibrations);

#endif
