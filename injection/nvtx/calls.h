/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_INJECTION_NVTX_CALLS_H
#define GT_INJECTION_NVTX_CALLS_H

#include "injection/nvtx/nvtx.h"

/*
 * Our functions for NVTX's, by its names: ranges and marks are in range_calls.c, names in
 * name_calls.c, the program's own synchronisation in sync_calls.c, the rest in calls.c.
 */

#define CALL(module, name, type) __typeof__(*(type)NULL) gt_nvtx_on_##name;
#include "injection/nvtx/calls.def"

#endif
