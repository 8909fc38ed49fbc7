/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda_state.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/*
 * Memory that is not simply allocated: in the order of a stream, from a pool, physical and mapped,
 * registered, of another process; and arrays. Handles are structs, or numbers that nobody has had.
 */

struct CUmemPoolHandle_st {
	uint64_t release_threshold;
};

struct CUarray_st {
	size_t bytes;
};

static _Atomic uint64_t last_handle = 0x100;

static CUresult pooled(CUdeviceptr *address, size_t size)
{
	void *memory = NULL;
	const CUresult result = fake_allocate(size, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, &memory);

	if (result == CUDA_SUCCESS)
		*address = (CUdeviceptr)(uintptr_t)memory;
	return result;
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream)
{
	API_BEGIN(cuMemAllocAsync, address, size, stream);
	API_END(pooled(address, size));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, CUmemoryPool pool,
                                 CUstream stream)
{
	API_BEGIN(cuMemAllocFromPoolAsync, address, size, pool, stream);
	API_END(pool ? pooled(address, size) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
	API_BEGIN(cuMemFreeAsync, address, stream);
	API_END(fake_release((const void *)(uintptr_t)address, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE));
}

CUresult cuMemPoolCreate(CUmemoryPool *pool, const CUmemPoolProps *properties)
{
	API_BEGIN(cuMemPoolCreate, pool, properties);
	*pool = calloc(1, sizeof(**pool));
	API_END(fake_usable());
}

CUresult cuMemPoolDestroy(CUmemoryPool pool)
{
	API_BEGIN(cuMemPoolDestroy, pool);
	free(pool);
	API_END(fake_usable());
}

CUresult cuMemPoolSetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	API_BEGIN(cuMemPoolSetAttribute, pool, attribute, value);
	if (attribute == CU_MEMPOOL_ATTR_RELEASE_THRESHOLD)
		memcpy(&pool->release_threshold, value, sizeof(pool->release_threshold));
	API_END(fake_usable());
}

CUresult cuMemPoolTrimTo(CUmemoryPool pool, size_t bytes)
{
	API_BEGIN(cuMemPoolTrimTo, pool, bytes);
	API_END(fake_usable());
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment,
                             CUdeviceptr wanted, unsigned long long flags)
{
	API_BEGIN(cuMemAddressReserve, address, size, alignment, wanted, flags);
	*address = (CUdeviceptr)(uintptr_t)aligned_alloc(2 << 20, size);
	API_END(fake_usable());
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size)
{
	API_BEGIN(cuMemAddressFree, address, size);
	free((void *)(uintptr_t)address);
	API_END(fake_usable());
}

CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                     const CUmemAllocationProp *properties, unsigned long long flags)
{
	API_BEGIN(cuMemCreate, handle, size, properties, flags);
	*handle = atomic_fetch_add(&last_handle, 1);
	API_END(fake_usable());
}

CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	API_BEGIN(cuMemRelease, handle);
	API_END(fake_usable());
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	API_BEGIN(cuMemMap, address, size, offset, handle, flags);
	API_END(fake_usable());
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size)
{
	API_BEGIN(cuMemUnmap, address, size);
	API_END(fake_usable());
}

CUresult cuMemHostRegister_v2(void *address, size_t size, unsigned flags)
{
	API_BEGIN(cuMemHostRegister_v2, address, size, flags);
	API_END(fake_usable());
}

CUresult cuMemHostUnregister(void *address)
{
	API_BEGIN(cuMemHostUnregister, address);
	API_END(fake_usable());
}

CUresult cuArrayCreate_v2(CUarray *array, const CUDA_ARRAY_DESCRIPTOR *descriptor)
{
	API_BEGIN(cuArrayCreate_v2, array, descriptor);
	*array = calloc(1, sizeof(**array));
	API_END(fake_usable());
}

CUresult cuArrayDestroy(CUarray array)
{
	API_BEGIN(cuArrayDestroy, array);
	free(array);
	API_END(fake_usable());
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags)
{
	API_BEGIN(cuIpcOpenMemHandle_v2, address, handle, flags);
	*address = atomic_fetch_add(&last_handle, 1) << 21;
	API_END(fake_usable());
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
	API_BEGIN(cuIpcCloseMemHandle, address);
	API_END(fake_usable());
}
