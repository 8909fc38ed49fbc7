/* SPDX-License-Identifier: Apache-2.0 */
#include "injection/snapshot/bundle/driver_memory.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "base/error.h"
#include "injection/snapshot/bundle/capture.h"

/* The driver's facts about memory that it has handed out. */
struct attributes {
	unsigned type;
	int managed;
	int device;
	CUmemoryPool pool;
	uint64_t host;
};

static bool read_attributes(const struct gt_capture_driver *driver, uint64_t address,
                            struct attributes *attributes)
{
	CUpointer_attribute wanted[] = {
		CU_POINTER_ATTRIBUTE_MEMORY_TYPE,    CU_POINTER_ATTRIBUTE_IS_MANAGED,
		CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL, CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE,
		CU_POINTER_ATTRIBUTE_HOST_POINTER,
	};
	void *values[] = {&attributes->type, &attributes->managed, &attributes->device,
	                  &attributes->pool, &attributes->host};

	memset(attributes, 0, sizeof(*attributes));
	return driver->memory_attributes(sizeof(wanted) / sizeof(wanted[0]), wanted, values,
	                                 address) == CUDA_SUCCESS &&
	       attributes->type != 0;
}

/*
 * The allocation that the address lies in. Only the attributes may tell of memory that the host has
 * registered.
 */
static bool find_range(const struct gt_capture_driver *driver, uint64_t address, CUdeviceptr *base,
                       size_t *size)
{
	CUpointer_attribute wanted[] = {CU_POINTER_ATTRIBUTE_RANGE_START_ADDR,
	                                CU_POINTER_ATTRIBUTE_RANGE_SIZE};
	void *values[] = {base, size};

	*base = 0;
	*size = 0;
	if (driver->memory_range(base, size, address) == CUDA_SUCCESS && *size > 0)
		return true;
	return driver->memory_attributes(sizeof(wanted) / sizeof(wanted[0]), wanted, values,
	                                 address) == CUDA_SUCCESS &&
	       *size > 0 && address >= *base && address - *base < *size;
}

static bool is_mapped(const struct gt_capture_driver *driver, uint64_t address)
{
	CUmemGenericAllocationHandle handle;

	/* NOLINTNEXTLINE(performance-no-int-to-ptr): the driver wants it so */
	if (driver->memory_retain(&handle, (void *)(uintptr_t)address) != CUDA_SUCCESS)
		return false;
	(void)driver->memory_release(handle);
	return true;
}

/* Pieces that are mapped side by side are one: what a pointer leads to may go on in the next. */
static void widen(const struct gt_launch_capture *capture, struct gt_reached *found)
{
	const struct gt_capture_driver *driver = capture->driver;
	CUdeviceptr base;
	size_t size;

	while (gt_reach_find(&capture->reach, found->address + found->size) == GT_REACH_NONE &&
	       driver->memory_range(&base, &size, found->address + found->size) == CUDA_SUCCESS &&
	       base == found->address + found->size && is_mapped(driver, base))
		found->size += size;
	while (gt_reach_find(&capture->reach, found->address - 1) == GT_REACH_NONE &&
	       driver->memory_range(&base, &size, found->address - 1) == CUDA_SUCCESS &&
	       base + size == found->address && is_mapped(driver, base)) {
		found->address = base;
		found->size += size;
	}
}

enum gt_reach_answer gt_capture_ask_driver(void *context, uint64_t address,
                                           struct gt_reached *found, struct gt_error *err)
{
	const struct gt_launch_capture *capture = context;
	const struct gt_capture_driver *driver = capture->driver;
	struct attributes attributes;
	CUdeviceptr base = 0;
	size_t size = 0;

	if (!find_range(driver, address, &base, &size) ||
	    !read_attributes(driver, address, &attributes))
		return GT_REACH_NOTHING;
	found->address = base;
	found->size = size;
	if (gt_foreign_is_lent(capture->foreign, base, size)) {
		(void)gt_fail(err, ENOTSUP, "it uses memory of another process, at 0x%" PRIx64,
		              (uint64_t)base);
		return GT_REACH_REFUSED;
	}
	if (attributes.type == CU_MEMORYTYPE_HOST) {
		found->kind = GT_BUNDLE_MEMORY_host;
		found->host = attributes.host ? attributes.host - (address - base) : 0;
		return GT_REACH_FOUND;
	}
	found->kind = attributes.managed ? GT_BUNDLE_MEMORY_managed
	              : attributes.pool  ? GT_BUNDLE_MEMORY_pool
	                                 : GT_BUNDLE_MEMORY_device;
	if (found->kind != GT_BUNDLE_MEMORY_managed && attributes.device != capture->device) {
		(void)gt_fail(err, ENOTSUP, "it uses memory of another GPU, %d, at 0x%" PRIx64,
		              attributes.device, (uint64_t)base);
		return GT_REACH_REFUSED;
	}
	if (found->kind == GT_BUNDLE_MEMORY_device && is_mapped(driver, base)) {
		found->kind = GT_BUNDLE_MEMORY_mapped;
		widen(capture, found);
	}
	return GT_REACH_FOUND;
}

/* For textures of memory: gt_capture_memory_of. */
int gt_capture_texture_memory(void *context, uint64_t address, uint64_t bytes, uint32_t *number,
                              uint64_t *offset, struct gt_error *err)
{
	struct gt_launch_capture *capture = context;
	struct gt_reach *reach = &capture->reach;
	struct gt_reached found = {.name = ""};
	enum gt_reach_answer answer = GT_REACH_NOTHING;

	*number = gt_reach_find(reach, address);
	if (*number == GT_REACH_NONE)
		answer = gt_capture_ask_driver(capture, address, &found, err);
	if (answer == GT_REACH_REFUSED)
		return -err->code;
	if (answer == GT_REACH_FOUND && gt_reach_add(reach, &found))
		*number = gt_reach_find(reach, address);
	if (*number == GT_REACH_NONE)
		return gt_fail(err, answer == GT_REACH_NOTHING ? ENOENT : ENOTSUP,
		               "its memory is not known, at 0x%" PRIx64, address);
	*offset = address - reach->memory[*number].address;
	if (bytes > reach->memory[*number].size - *offset)
		return gt_fail(err, ENOTSUP, "it goes beyond the memory at 0x%" PRIx64, address);
	return 0;
}
