/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMING_KERNEL_NAMES_H
#define GT_MODEL_NAMING_KERNEL_NAMES_H

#include <stdint.h>

/*
 * Facts that names of kernels tell, by lists of patterns: what a kernel is for, and whose it is.
 * They are the columns family and origin of launch_shapes.
 */

enum gt_family {
#define FAMILY(name, text) GT_FAMILY_##name,
#include "model/naming/families.def"
	GT_FAMILY_COUNT
};

enum gt_kernel_origin {
#define ORIGIN(name, text) GT_ORIGIN_##name,
#include "model/naming/origins.def"
	GT_ORIGIN_COUNT
};

/* From a short name; what fits no pattern is other. */
enum gt_family gt_family_of(const char *short_name);

/* From a full (demangled) name. */
enum gt_kernel_origin gt_origin_of(const char *full_name);

/* For people; "other" and "not known" for a number that is none. Constant. */
const char *gt_family_name(uint32_t family);
const char *gt_origin_name(uint32_t origin);

#endif
