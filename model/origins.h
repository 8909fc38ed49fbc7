/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_ORIGINS_H
#define GT_MODEL_ORIGINS_H

#include <stdint.h>

/* Whose kernels they are, as far as their names tell: column origin of launch_shapes. */
enum gt_kernel_origin {
#define ORIGIN(name, text) GT_ORIGIN_##name,
#include "model/origins.def"
	GT_ORIGIN_COUNT
};

/* By the patterns of origins.def, from a full (demangled) name. */
enum gt_kernel_origin gt_origin_of(const char *full_name);

/* For people; "not known" for a number that is no origin. Constant. */
const char *gt_origin_name(uint32_t origin);

#endif
