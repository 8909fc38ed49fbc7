/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_GPU_DESCRIBE_H
#define GT_REPLAY_GPU_DESCRIBE_H

struct gt_calibration;
struct gt_gpu;

/*
 * Fills in what the driver says of the GPU and of itself. No context is needed: cuda and device of
 * the GPU are enough.
 */
void gt_gpu_tell(const struct gt_gpu *gpu, struct gt_calibration *calibration);

#endif
