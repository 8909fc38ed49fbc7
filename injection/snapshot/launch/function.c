/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/launch/function.h"

#include <errno.h>
#include <string.h>

#include "base/error.h"

/* The function behind a handle that may be a kernel of no context under the same type. */
static int find_handle(struct gt_captured_function *function,
                       const struct gt_capture_driver *driver, CUfunction handle,
                       struct gt_error *err)
{
	CUresult result;

	function->handle = handle;
	if (driver->function_module(&function->module, handle) == CUDA_SUCCESS)
		return 0;
	result = driver->kernel_function(&function->handle, (CUkernel)handle);
	if (result == CUDA_SUCCESS)
		result = driver->function_module(&function->module, function->handle);
	return gt_capture_driver_check(driver, result, "the driver does not tell its module", err);
}

/* Attributes that a driver does not know stay 0. */
static void read_attributes(struct gt_captured_function *function,
                            const struct gt_capture_driver *driver)
{
	const struct {
		CUfunction_attribute attribute;
		int *value;
	} wanted[] = {
		{CU_FUNC_ATTRIBUTE_NUM_REGS, &function->facts.registers},
		{CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES, &function->facts.shared_bytes},
		{CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES, &function->facts.local_bytes},
		{CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES, &function->facts.constant_bytes},
		{CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK, &function->facts.max_threads},
		{CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
	         &function->facts.max_dynamic_bytes},
		{CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT, &function->facts.carveout},
		{CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH, &function->facts.cluster[0]},
		{CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT, &function->facts.cluster[1]},
		{CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH, &function->facts.cluster[2]},
		{CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED,
	         &function->facts.cluster_other},
	};

	for (size_t i = 0; i < sizeof(wanted) / sizeof(wanted[0]); i++) {
		int value =
			wanted[i].attribute == CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT
				? -1
				: 0;

		(void)driver->function_attribute(&value, wanted[i].attribute, function->handle);
		*wanted[i].value = value;
	}
}

static int read_layout(struct gt_captured_function *function,
                       const struct gt_capture_driver *driver, CUfunction named,
                       struct gt_error *err)
{
	uint32_t count = 0;

	function->block_bytes = 0;
	for (;; count++) {
		size_t offset = 0;
		size_t size = 0;
		CUresult result =
			driver->function_parameter(function->handle, count, &offset, &size);

		if (result == CUDA_ERROR_INVALID_HANDLE)
			result = driver->kernel_parameter((CUkernel)named, count, &offset, &size);
		if (result == CUDA_ERROR_INVALID_VALUE)
			break; /* behind the last */
		if (result != CUDA_SUCCESS)
			return gt_capture_driver_check(
				driver, result, "the driver does not tell its parameters", err);
		if (count == GT_CAPTURE_PARAMETERS || offset > GT_BUNDLE_MOST_PARAMETERS ||
		    size > GT_BUNDLE_MOST_PARAMETERS - offset)
			return gt_fail(err, E2BIG, "it has more parameters than can be captured");
		function->parameters[count].offset = (uint32_t)offset;
		function->parameters[count].size = (uint32_t)size;
		if (offset + size > function->block_bytes)
			function->block_bytes = (uint32_t)(offset + size);
	}
	function->parameter_count = count;
	return 0;
}

/* All of them in one buffer of the program's. */
static int copy_block(struct gt_captured_function *function, void **extra, struct gt_error *err)
{
	const void *block = NULL;
	size_t size = 0;

	for (size_t i = 0; extra[i] != CU_LAUNCH_PARAM_END; i += 2) {
		if (extra[i] == CU_LAUNCH_PARAM_BUFFER_POINTER)
			block = extra[i + 1];
		else if (extra[i] == CU_LAUNCH_PARAM_BUFFER_SIZE)
			size = *(const size_t *)extra[i + 1];
	}
	if (!block || size < function->block_bytes)
		return gt_fail(err, EINVAL, "the call gives fewer parameters than it has");
	memcpy(function->block, block, function->block_bytes);
	return 0;
}

static int read_block(struct gt_captured_function *function, const struct gt_launch_shape *launch,
                      struct gt_error *err)
{
	memset(function->block, 0, function->block_bytes);
	if (function->parameter_count == 0)
		return 0;
	if (launch->extra)
		return copy_block(function, launch->extra, err);
	if (!launch->parameters)
		return gt_fail(err, EINVAL, "the call gives no parameters");
	for (uint32_t i = 0; i < function->parameter_count; i++)
		memcpy(function->block + function->parameters[i].offset, launch->parameters[i],
		       function->parameters[i].size);
	return 0;
}

int gt_captured_function_read(struct gt_captured_function *function,
                              const struct gt_capture_driver *driver,
                              const struct gt_launch_shape *launch, struct gt_error *err)
{
	int result = find_handle(function, driver, launch->function, err);

	if (result < 0)
		return result;
	read_attributes(function, driver);
	result = read_layout(function, driver, launch->function, err);
	return result < 0 ? result : read_block(function, launch, err);
}
