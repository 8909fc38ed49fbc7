/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_MODEL_NAMES_H
#define GT_MODEL_NAMES_H

#include <stdbool.h>
#include <stdint.h>

/*
 * Meanings of the numbers in the columns "kind", "src_kind", ...; names.def has the words. A number
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

/* CUpti_ActivityUnifiedMemoryCounterKind */
enum gt_unified_kind {
	GT_UNIFIED_TO_GPU = 1,
	GT_UNIFIED_TO_HOST = 2,
	GT_UNIFIED_HOST_FAULT = 3,
	GT_UNIFIED_GPU_FAULT = 4,
	GT_UNIFIED_THRASHING = 5,
	GT_UNIFIED_THROTTLING = 6,
	GT_UNIFIED_REMOTE_MAPPING = 7,
	GT_UNIFIED_BETWEEN_GPUS = 8,
};

/* Column "kind" of pci_devices; the numbers are those of captures. */
enum gt_pci_kind {
	GT_PCI_GPU = 0,
	GT_PCI_NETWORK = 1,
};

/* For each NAMES(set) of names.def: const char *gt_<set>_name(uint32_t value). */
#define NAMES(set) const char *gt_##set##_name(uint32_t value);
#include "model/names.def"

/*
 * The name of a cudaError_t ("cudaErrorInvalidValue") or, with driver_api, of a CUresult
 * ("CUDA_ERROR_INVALID_VALUE"), as CUDA 13.0 numbers them; NULL for a number it does not know.
 */
const char *gt_result_name(int32_t result, int driver_api);

/* Kinds of results of either API; results.def has that of each. */
enum gt_result_class {
	GT_RESULT_ANSWER,        /* no error: success, "not ready", what was so already */
	GT_RESULT_CONFIGURATION, /* the call asked for what cannot be, here or at all */
	GT_RESULT_RESOURCES,     /* it asked for more than was left */
	GT_RESULT_ASYNCHRONOUS,  /* work that ran failed; the context cannot be used any more */
	GT_RESULT_HARDWARE,      /* the GPU, its memory or a link failed */
	GT_RESULT_OTHER,         /* anything else, and numbers that are not known */
};

enum gt_result_class gt_result_class(int32_t result);

/* Whether a result is an error: neither success nor an answer. All that counts errors asks this. */
bool gt_result_failed(int32_t result);

/* How the recording of a process ended (enum gt_end), for people; "unknown" for any other value. */
const char *gt_end_name(uint32_t ended);

struct gt_copy;

/* The kind of the memory of the host that a copy reads or writes; 0: of neither end, or not known. */
uint32_t gt_copy_host_memory(const struct gt_copy *copy);

#endif
