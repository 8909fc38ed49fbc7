/* SPDX-License-Identifier: Apache-2.0 */
#include "model/names.h"
#include "model/trace.h"
#include "support/check.h"

#if __has_include(<cuda.h>)
#include <cuda.h>
#if CUDA_VERSION >= 13000
#define HAVE_CUDA_13 1
#include <cupti.h>
#include <driver_types.h>
#endif
#endif

Test(names, of_kinds_are_cuptis_words)
{
	expect_text(gt_copy_kind_name(GT_COPY_HOST_TO_DEVICE), "HtoD");
	expect_text(gt_copy_kind_name(GT_COPY_PEER_TO_PEER), "PtoP");
	expect_text(gt_memory_kind_name(GT_MEMORY_PAGEABLE), "pageable");
	expect_text(gt_memory_kind_name(GT_MEMORY_MANAGED_STATIC), "managed static");
	expect_text(gt_sync_kind_name(3), "stream synchronize");
	expect_text(gt_overhead_kind_name(1), "driver compiler");
	expect_text(gt_overhead_kind_name(1 << 16), "buffer flush");
	expect_text(gt_overhead_kind_name(8 << 16), "unified memory start");
	expect_text(gt_api_kind_name(GT_API_GRAPH_LAUNCH), "graph launch");
	expect_text(gt_api_kind_name(GT_API_MODULE), "module");
}

Test(names, of_numbers_nobody_knows_are_unknown)
{
	expect_text(gt_copy_kind_name(0), "unknown");
	expect_text(gt_copy_kind_name(11), "unknown");
	expect_text(gt_memory_kind_name(UINT32_MAX), "unknown");
	expect_text(gt_sync_kind_name(0), "unknown");
	expect_text(gt_overhead_kind_name(0), "unknown");
	expect_text(gt_overhead_kind_name(2), "unknown");
	expect_text(gt_overhead_kind_name((1 << 16) + 1), "unknown");
	expect_text(gt_overhead_kind_name(9 << 16), "unknown");
	expect_text(gt_api_kind_name(GT_API_MODULE + 1), "unknown");
}

Test(names, of_results_differ_between_the_apis)
{
	expect_text(gt_result_name(0, 0), "cudaSuccess");
	expect_text(gt_result_name(1, 0), "cudaErrorInvalidValue");
	expect_text(gt_result_name(2, 0), "cudaErrorMemoryAllocation");
	expect_text(gt_result_name(98, 0), "cudaErrorInvalidDeviceFunction");
	expect_text(gt_result_name(700, 0), "cudaErrorIllegalAddress");
	expect_text(gt_result_name(999, 0), "cudaErrorUnknown");
	expect_text(gt_result_name(0, 1), "CUDA_SUCCESS");
	expect_text(gt_result_name(1, 1), "CUDA_ERROR_INVALID_VALUE");
	expect_text(gt_result_name(2, 1), "CUDA_ERROR_OUT_OF_MEMORY");
	expect_text(gt_result_name(600, 1), "CUDA_ERROR_NOT_READY");
	cr_expect(eq(ptr, (void *)gt_result_name(98, 1), NULL));
	cr_expect(eq(ptr, (void *)gt_result_name(-1, 0), NULL));
	cr_expect(eq(ptr, (void *)gt_result_name(123456, 1), NULL));
}

/* Searching by halves finds every name only if the list is sorted. */
Test(names, of_results_are_all_found)
{
#define RUNTIME(number, class, name) expect_text(gt_result_name(number, 0), #name);
#define DRIVER(number, class, name)  expect_text(gt_result_name(number, 1), #name);
#define RESULT(number, class, runtime, driver)                                                     \
	RUNTIME(number, class, runtime)                                                            \
	DRIVER(number, class, driver)
#include "model/results.def"
}

Test(names, of_results_have_a_class)
{
	cr_expect(eq(u32, gt_result_class(1), GT_RESULT_CONFIGURATION));
	cr_expect(eq(u32, gt_result_class(98), GT_RESULT_CONFIGURATION));
	cr_expect(eq(u32, gt_result_class(2), GT_RESULT_RESOURCES));
	cr_expect(eq(u32, gt_result_class(711), GT_RESULT_RESOURCES));
	cr_expect(eq(u32, gt_result_class(700), GT_RESULT_ASYNCHRONOUS));
	cr_expect(eq(u32, gt_result_class(719), GT_RESULT_ASYNCHRONOUS));
	cr_expect(eq(u32, gt_result_class(214), GT_RESULT_HARDWARE));
	cr_expect(eq(u32, gt_result_class(999), GT_RESULT_OTHER));
	cr_expect(eq(u32, gt_result_class(4711), GT_RESULT_OTHER));
	expect_text(gt_result_class_name(GT_RESULT_ASYNCHRONOUS), "asynchronous, sticky");
}

/* A failed call is one thing everywhere: answers are none. */
Test(names, of_results_that_are_answers_are_no_errors)
{
	cr_expect(not(gt_result_failed(0)));
	cr_expect(not(gt_result_failed(600)));
	cr_expect(not(gt_result_failed(704)));
	cr_expect(gt_result_failed(705));
	cr_expect(gt_result_failed(700));
	cr_expect(gt_result_failed(4711));
	cr_expect(gt_result_failed(-1));
}

Test(names, have_the_numbers_of_the_toolkit)
{
#ifdef HAVE_CUDA_13
#define RUNTIME(number, class, name) cr_expect(eq(int, name, number));
#define DRIVER(number, class, name)  cr_expect(eq(int, name, number));
#define RESULT(number, class, runtime, driver)                                                     \
	RUNTIME(number, class, runtime)                                                            \
	DRIVER(number, class, driver)
#include "model/results.def"
	cr_expect(eq(int, GT_COPY_HOST_TO_DEVICE, CUPTI_ACTIVITY_MEMCPY_KIND_HTOD));
	cr_expect(eq(int, GT_COPY_DEVICE_TO_HOST, CUPTI_ACTIVITY_MEMCPY_KIND_DTOH));
	cr_expect(eq(int, GT_COPY_HOST_TO_ARRAY, CUPTI_ACTIVITY_MEMCPY_KIND_HTOA));
	cr_expect(eq(int, GT_COPY_ARRAY_TO_HOST, CUPTI_ACTIVITY_MEMCPY_KIND_ATOH));
	cr_expect(eq(int, GT_COPY_ARRAY_TO_ARRAY, CUPTI_ACTIVITY_MEMCPY_KIND_ATOA));
	cr_expect(eq(int, GT_COPY_ARRAY_TO_DEVICE, CUPTI_ACTIVITY_MEMCPY_KIND_ATOD));
	cr_expect(eq(int, GT_COPY_DEVICE_TO_ARRAY, CUPTI_ACTIVITY_MEMCPY_KIND_DTOA));
	cr_expect(eq(int, GT_COPY_DEVICE_TO_DEVICE, CUPTI_ACTIVITY_MEMCPY_KIND_DTOD));
	cr_expect(eq(int, GT_COPY_HOST_TO_HOST, CUPTI_ACTIVITY_MEMCPY_KIND_HTOH));
	cr_expect(eq(int, GT_COPY_PEER_TO_PEER, CUPTI_ACTIVITY_MEMCPY_KIND_PTOP));
	cr_expect(eq(int, GT_MEMORY_PAGEABLE, CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE));
	cr_expect(eq(int, GT_MEMORY_PINNED, CUPTI_ACTIVITY_MEMORY_KIND_PINNED));
	cr_expect(eq(int, GT_MEMORY_DEVICE, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE));
	cr_expect(eq(int, GT_MEMORY_ARRAY, CUPTI_ACTIVITY_MEMORY_KIND_ARRAY));
	cr_expect(eq(int, GT_MEMORY_MANAGED, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED));
	cr_expect(eq(int, GT_MEMORY_DEVICE_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE_STATIC));
	cr_expect(eq(int, GT_MEMORY_MANAGED_STATIC, CUPTI_ACTIVITY_MEMORY_KIND_MANAGED_STATIC));
	expect_text(gt_sync_kind_name(CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_CONTEXT_SYNCHRONIZE),
	            "context synchronize");
	expect_text(gt_overhead_kind_name(CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING),
	            "lazy function loading");
#else
	cr_skip("no CUDA toolkit 13.0 or later to compare with");
#endif
}
