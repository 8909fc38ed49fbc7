/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/state.h"

/* The driver's answers about an address. */

CUresult cuMemGetAddressRange_v2(CUdeviceptr *base, size_t *size, CUdeviceptr address)
{
	struct fake_memory found;

	API_BEGIN(cuMemGetAddressRange_v2, base, size, address);
	if (!fake_find_memory(address, &found))
		API_END(CUDA_ERROR_NOT_FOUND);
	if (base)
		*base = found.address;
	if (size)
		*size = found.size;
	API_END(fake_usable());
}

/* As the real one: of what is no memory of CUDA's it tells zeroes, and that it succeeded. */
static CUresult tell(CUpointer_attribute attribute, void *data, CUdeviceptr address,
                     const struct fake_memory *found)
{
	const int is_host = found->kind == CUPTI_ACTIVITY_MEMORY_KIND_PINNED;

	switch (attribute) {
	case CU_POINTER_ATTRIBUTE_MEMORY_TYPE:
		*(unsigned *)data = CU_MEMORYTYPE_DEVICE;
		if (!found->address)
			*(unsigned *)data = 0;
		else if (is_host)
			*(unsigned *)data = CU_MEMORYTYPE_HOST;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_IS_MANAGED:
		*(int *)data = found->managed;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_DEVICE_ORDINAL:
		*(int *)data = found->address ? found->device : -2;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_HOST_POINTER:
		*(uint64_t *)data = is_host ? address : 0;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_MEMPOOL_HANDLE:
		*(CUmemoryPool *)data = fake_pool_of(found->address);
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_START_ADDR:
		*(CUdeviceptr *)data = found->address;
		return CUDA_SUCCESS;
	case CU_POINTER_ATTRIBUTE_RANGE_SIZE:
		*(size_t *)data = found->size;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult cuPointerGetAttributes(unsigned count, CUpointer_attribute *attributes, void **data,
                                CUdeviceptr address)
{
	CUresult result = fake_usable();
	struct fake_memory found;

	API_BEGIN(cuPointerGetAttributes, count, attributes, data, address);
	(void)fake_find_memory(address, &found);
	for (unsigned i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = tell(attributes[i], data[i], address, &found);
	API_END(result);
}
