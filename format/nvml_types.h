/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_FORMAT_NVML_TYPES_H
#define GT_FORMAT_NVML_TYPES_H

#include <stdint.h>

/*
 * Types that calls of NVML take and give, for all who make some: the injection library, gputrace
 * run when the program has ended, and who measures on a GPU. Toolkits do not always bring NVML's
 * header.
 */

typedef struct nvmlDevice_st *gt_nvml_handle;
typedef int gt_nvml_result; /* nvmlReturn_t; 0: it worked */

struct gt_nvml_field { /* nvmlFieldValue_t */
	uint32_t field;
	uint32_t scope;
	int64_t time_us;
	int64_t latency_us;
	int32_t type; /* nvmlValueType_t: which of value holds */
	gt_nvml_result result;
	union {
		double real;
		uint32_t small;
		uint64_t large;
		int64_t signed_large;
	} value;
};

_Static_assert(sizeof(struct gt_nvml_field) == 40, "nvmlFieldValue_t");

struct gt_nvml_process { /* nvmlProcessInfo_v2_t */
	uint32_t pid;
	uint64_t used_bytes; /* all bits set: not known */
	uint32_t gpu_instance;
	uint32_t compute_instance;
};

_Static_assert(sizeof(struct gt_nvml_process) == 24, "nvmlProcessInfo_v2_t");

enum gt_nvml_type { /* nvmlValueType_t */
	            GT_NVML_DOUBLE = 0,
	            GT_NVML_UINT = 1,
	            GT_NVML_ULONG = 2,
	            GT_NVML_ULONGLONG = 3,
	            GT_NVML_LONGLONG = 4,
};

/* The value of a field that was read; less than nothing counts as 0. */
static inline uint64_t gt_nvml_field_value(const struct gt_nvml_field *field)
{
	if (field->type == GT_NVML_DOUBLE)
		return field->value.real > 0 ? (uint64_t)field->value.real : 0;
	return field->type == GT_NVML_ULONG || field->type == GT_NVML_ULONGLONG ||
	                       field->type == GT_NVML_LONGLONG
	               ? field->value.large
	               : field->value.small;
}

#endif
