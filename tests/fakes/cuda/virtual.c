/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/state.h"

#include <stdlib.h>
#include <sys/mman.h>

/*
 * Addresses that are reserved, and physical memory that is mapped there. As on an H200: a wanted
 * address is kept to from 16 MiB on, where nothing else is mapped. Mapped memory can be used after
 * cuMemSetAccess alone; other use ends the process, or is a fault where a known kernel writes.
 */

#define PAGE        ((size_t)2 << 20)
#define KEPT_BYTES  ((size_t)16 << 20)
#define MOST_MAPPED 256

struct physical {
	size_t size;
	struct physical *next;
};

/* A piece of a reserved range that has memory. */
struct mapped {
	char *address;
	size_t size;
	int open; /* cuMemSetAccess was called */
};

static struct mapped mapped[MOST_MAPPED]; /* size 0: free; fake_cuda.lock */

static char *reserve_anywhere(size_t size)
{
	char *all = mmap(NULL, size + PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE,
	                 -1, 0);
	const size_t before = all == MAP_FAILED ? 0 : (PAGE - (uintptr_t)all % PAGE) % PAGE;

	if (all == MAP_FAILED)
		return NULL;
	if (before)
		(void)munmap(all, before);
	if (PAGE - before)
		(void)munmap(all + before + size, PAGE - before);
	return all + before;
}

static char *reserve_at(CUdeviceptr wanted, size_t size)
{
	void *at = MAP_FAILED;

	if (wanted && size >= KEPT_BYTES)
		at = mmap((void *)(uintptr_t)wanted, size, PROT_NONE,
		          MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE, -1, 0);
	return at == MAP_FAILED ? NULL : at;
}

CUresult cuMemAddressReserve(CUdeviceptr *address, size_t size, size_t alignment,
                             CUdeviceptr wanted, unsigned long long flags)
{
	CUresult result = size && size % PAGE == 0 ? fake_usable() : CUDA_ERROR_INVALID_VALUE;
	char *at = NULL;

	API_BEGIN(cuMemAddressReserve, address, size, alignment, wanted, flags);
	if (result == CUDA_SUCCESS) {
		at = reserve_at(wanted, size);
		at = at ? at : reserve_anywhere(size);
		result = at ? CUDA_SUCCESS : CUDA_ERROR_OUT_OF_MEMORY;
	}
	if (result == CUDA_SUCCESS)
		*address = (CUdeviceptr)(uintptr_t)at;
	API_END(result);
}

CUresult cuMemAddressFree(CUdeviceptr address, size_t size)
{
	API_BEGIN(cuMemAddressFree, address, size);
	(void)munmap((void *)(uintptr_t)address, size);
	API_END(fake_usable());
}

CUresult cuMemGetAllocationGranularity(size_t *granularity, const CUmemAllocationProp *properties,
                                       CUmemAllocationGranularity_flags option)
{
	API_BEGIN(cuMemGetAllocationGranularity, granularity, properties, option);
	*granularity = PAGE;
	API_END(fake_usable());
}

/* The handle is the address of its size. */
CUresult cuMemCreate(CUmemGenericAllocationHandle *handle, size_t size,
                     const CUmemAllocationProp *properties, unsigned long long flags)
{
	CUresult result = size && size % PAGE == 0 ? fake_usable_for(FAKE_CUDA_memory_alloc)
	                                           : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuMemCreate, handle, size, properties, flags);
	if (result == CUDA_SUCCESS &&
	    ((fake_cuda.script.most_bytes && size > fake_cuda.script.most_bytes) ||
	     size > FAKE_DEVICE_BYTES))
		result = CUDA_ERROR_OUT_OF_MEMORY;
	if (result == CUDA_SUCCESS) {
		struct physical *made = calloc(1, sizeof(*made));

		made->size = size;
		*handle = (CUmemGenericAllocationHandle)(uintptr_t)made;
	}
	API_END(result);
}

/* Memory that is mapped stays until it is unmapped. */
CUresult cuMemRelease(CUmemGenericAllocationHandle handle)
{
	API_BEGIN(cuMemRelease, handle);
	free((void *)(uintptr_t)handle);
	API_END(fake_usable());
}

static struct mapped *add_mapped(void)
{
	for (size_t i = 0; i < MOST_MAPPED; i++)
		if (mapped[i].size == 0)
			return &mapped[i];
	fake_die("more than %d pieces of memory are mapped", MOST_MAPPED);
}

CUresult cuMemMap(CUdeviceptr address, size_t size, size_t offset,
                  CUmemGenericAllocationHandle handle, unsigned long long flags)
{
	const struct physical *physical = (const void *)(uintptr_t)handle;
	CUresult result = fake_usable();

	API_BEGIN(cuMemMap, address, size, offset, handle, flags);
	if (address % PAGE || !physical || size != physical->size || offset)
		result = CUDA_ERROR_INVALID_VALUE;
	if (result == CUDA_SUCCESS) {
		(void)pthread_mutex_lock(&fake_cuda.lock);
		*add_mapped() =
			(struct mapped){.address = (char *)(uintptr_t)address, .size = size};
		(void)pthread_mutex_unlock(&fake_cuda.lock);
	}
	API_END(result);
}

/* A piece in the range that was not looked at yet; NULL: there is none. */
static struct mapped *next_in(CUdeviceptr address, size_t size, size_t *index)
{
	const char *first = (const char *)(uintptr_t)address;

	for (; *index < MOST_MAPPED; (*index)++)
		if (mapped[*index].size && mapped[*index].address >= first &&
		    mapped[*index].address < first + size)
			return &mapped[(*index)++];
	return NULL;
}

/* The handle is not to be used, only to be released. */
CUresult cuMemRetainAllocationHandle(CUmemGenericAllocationHandle *handle, void *address)
{
	CUresult result = CUDA_ERROR_INVALID_VALUE;
	const char *at = address;

	API_BEGIN(cuMemRetainAllocationHandle, handle, address);
	for (size_t i = 0; i < MOST_MAPPED; i++)
		if (mapped[i].size && at >= mapped[i].address &&
		    at < mapped[i].address + mapped[i].size)
			result = fake_usable();
	if (result == CUDA_SUCCESS)
		*handle =
			(CUmemGenericAllocationHandle)(uintptr_t)calloc(1, sizeof(struct physical));
	API_END(result);
}

CUresult cuMemSetAccess(CUdeviceptr address, size_t size, const CUmemAccessDesc *access,
                        size_t count)
{
	CUresult result = access && count ? CUDA_ERROR_INVALID_VALUE : CUDA_ERROR_INVALID_DEVICE;
	struct mapped *piece;
	size_t index = 0;

	API_BEGIN(cuMemSetAccess, address, size, access, count);
	while (result != CUDA_ERROR_INVALID_DEVICE &&
	       (piece = next_in(address, size, &index)) != NULL) {
		result = fake_usable();
		if (piece->open++)
			continue;
		(void)mprotect(piece->address, piece->size, PROT_READ | PROT_WRITE);
		fake_adopt(piece->address, piece->size, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
	}
	API_END(result);
}

CUresult cuMemUnmap(CUdeviceptr address, size_t size)
{
	struct mapped *piece;
	size_t index = 0;

	API_BEGIN(cuMemUnmap, address, size);
	while ((piece = next_in(address, size, &index)) != NULL) {
		(void)fake_disown(piece->address, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
		(void)madvise(piece->address, piece->size, MADV_DONTNEED);
		(void)mprotect(piece->address, piece->size, PROT_NONE);
		*piece = (struct mapped){0};
	}
	API_END(fake_usable());
}
