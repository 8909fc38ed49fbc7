/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/calibrate/kernels.h"

#include <stddef.h>

#ifdef GT_HAVE_KERNELS
#include "replay/calibrate/all_kernels.h"
#define KERNELS(name, capability, only) {#name, gt_ptx_##name, capability, only},
#else
#define KERNELS(name, capability, only) {#name, NULL, capability, only},
#endif

const struct gt_kernels_file gt_kernels_files[GT_KERNELS_COUNT] = {
#include "replay/calibrate/kernels.def"
};
