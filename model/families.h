/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_FAMILIES_H
#define GT_MODEL_FAMILIES_H

#include <stdint.h>

/* What kernels are for, as far as their names tell: column family of launch_shapes. */
enum gt_family {
#define FAMILY(name, text) GT_FAMILY_##name,
#include "model/families.def"
	GT_FAMILY_COUNT
};

/* By the patterns of families.def, from a short name; what fits none is other. */
enum gt_family gt_family_of(const char *short_name);

/* For people; "other" for a number that is no family. Constant. */
const char *gt_family_name(uint32_t family);

#endif
