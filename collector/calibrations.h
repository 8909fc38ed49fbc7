/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_COLLECTOR_CALIBRATIONS_H
#define GT_COLLECTOR_CALIBRATIONS_H

struct gt_calibrations;
struct gt_error;

/*
 * Adds the calibrations of a file in a folder, HOST-PID.calibration: what gputrace run found of the
 * machine's GPUs. -EBADMSG for what is none, in a sentence that calls it by its name.
 */
int gt_calibrations_read(struct gt_calibrations *calibrations, int folder, const char *name,
                         struct gt_error *err);

#endif
