/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_CALIBRATE_CEILINGS_H
#define GT_REPLAY_CALIBRATE_CEILINGS_H

#include <stdbool.h>

#include "model/gpu/calibration.h"

struct gt_cuda;
struct gt_error;

/*
 * Measures the ceilings of the GPU of that number, those that are wanted, in some seconds, and
 * fills an empty calibration with them and with what the driver says of the GPU; date, host and
 * gputrace are the caller's to fill in. A GPU that others use meanwhile shows less than it can.
 * -ENOTSUP: this build has no kernels, or the GPU is too old for them.
 */
int gt_ceilings_measure(const struct gt_cuda *cuda, int ordinal, const bool wanted[GT_CEILINGS],
                        struct gt_calibration *calibration, struct gt_error *err);

#endif
