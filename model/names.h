/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMES_H
#define GT_MODEL_NAMES_H

#include <stdint.h>

/*
 * What the numbers in the columns "kind", "src_kind", ... mean. The numbers are CUPTI's
 * (cupti_activity.h, CUDA 13.0), the words are the ones its documentation uses. A number
 * that is not known reads as "unknown". All texts are constant.
 */

enum gt_copy_kind {
	GT_COPY_HOST_TO_DEVICE = 1,
	GT_COPY_DEVICE_TO_HOST = 2,
	GT_COPY_HOST_TO_ARRAY = 3,
	GT_COPY_ARRAY_TO_HOST = 4,
	GT_COPY_ARRAY_TO_ARRAY = 5,
	GT_COPY_ARRAY_TO_DEVICE = 6,
	GT_COPY_DEVICE_TO_ARRAY = 7,
	GT_COPY_DEVICE_TO_DEVICE = 8,
	GT_COPY_HOST_TO_HOST = 9,
	GT_COPY_PEER_TO_PEER = 10,
};

enum gt_memory_kind {
	GT_MEMORY_PAGEABLE = 1,
	GT_MEMORY_PINNED = 2,
	GT_MEMORY_DEVICE = 3,
	GT_MEMORY_ARRAY = 4,
	GT_MEMORY_MANAGED = 5,
	GT_MEMORY_DEVICE_STATIC = 6,
	GT_MEMORY_MANAGED_STATIC = 7,
};

const char *gt_copy_kind_name(uint32_t kind);     /* "HtoD", "DtoH", "DtoD", "PtoP", ... */
const char *gt_memory_kind_name(uint32_t kind);   /* "pageable", "pinned", "device", ... */
const char *gt_sync_kind_name(uint32_t kind);     /* "stream synchronize", ... */
const char *gt_overhead_kind_name(uint32_t kind); /* "buffer flush", ... */
const char *gt_api_kind_name(uint32_t kind);      /* enum gt_api_kind: "launch", "copy", ... */

/*
 * The name of a cudaError_t ("cudaErrorInvalidValue") or, with driver_api, of a CUresult
 * ("CUDA_ERROR_INVALID_VALUE"), as CUDA 13.0 numbers them; NULL for a number it does not know.
 */
const char *gt_result_name(int32_t result, int driver_api);

/* How the recording of a process ended (enum gt_end), for people; "unknown" for any other value. */
const char *gt_end_name(uint32_t ended);

#endif
