/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_GPU_DRIVER_VERSION_H
#define GT_REPLAY_GPU_DRIVER_VERSION_H

#include <stddef.h>

/* The driver's own version, as nvidia-smi prints it: of NVML; "" where that does not tell. */
void gt_driver_version(char *text, size_t size);

#endif
