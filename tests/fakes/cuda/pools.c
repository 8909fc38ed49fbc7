/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/state.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/*
 * Memory that is not simply allocated: in the order of a stream, from a pool, registered, of
 * another process. Handles are structs, or numbers that nobody has had.
 */

/* Its memory is the host's; what is reserved stays reserved until it is trimmed. */
struct CUmemPoolHandle_st {
	uint64_t release_threshold;
	uint64_t used;
	uint64_t used_high;
	uint64_t reserved;
	uint64_t reserved_high;
};

/* Memory with the pool that it came from, and addresses that belong to nodes of graphs. */
struct piece {
	CUdeviceptr address;
	size_t size;
	CUmemoryPool pool; /* NULL: of a graph */
	struct piece *next;
};

#define RESERVE_BYTES ((uint64_t)2 << 20)

static _Atomic uint64_t last_handle = 0x100;
static struct CUmemPoolHandle_st default_pool; /* all of fake_cuda.lock */
static struct CUmemPoolHandle_st graph_pool;
static struct piece *pieces;

static void take(CUmemoryPool pool, size_t size)
{
	pool->used += size;
	if (pool->used > pool->used_high)
		pool->used_high = pool->used;
	while (pool->reserved < pool->used)
		pool->reserved += RESERVE_BYTES;
	if (pool->reserved > pool->reserved_high)
		pool->reserved_high = pool->reserved;
}

static void add_piece(CUdeviceptr address, size_t size, CUmemoryPool pool)
{
	struct piece *piece = malloc(sizeof(*piece));

	(void)pthread_mutex_lock(&fake_cuda.lock);
	*piece = (struct piece){address, size, pool, pieces};
	pieces = piece;
	take(pool ? pool : &graph_pool, size);
	(void)pthread_mutex_unlock(&fake_cuda.lock);
}

void fake_pool_take_back(const void *address)
{
	struct piece **link = &pieces;
	struct piece *found = NULL;

	(void)pthread_mutex_lock(&fake_cuda.lock);
	while (*link && (*link)->address != (CUdeviceptr)(uintptr_t)address)
		link = &(*link)->next;
	found = *link;
	if (found && found->pool) {
		*link = found->next;
		found->pool->used -= found->size;
		free(found);
	}
	(void)pthread_mutex_unlock(&fake_cuda.lock);
}

CUmemoryPool fake_pool_of(CUdeviceptr address)
{
	CUmemoryPool pool = NULL;

	(void)pthread_mutex_lock(&fake_cuda.lock);
	for (const struct piece *it = pieces; it; it = it->next)
		if (it->address == address)
			pool = it->pool;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	return pool;
}

static int is_of_graph(CUdeviceptr address)
{
	int found = 0;

	(void)pthread_mutex_lock(&fake_cuda.lock);
	for (const struct piece *it = pieces; it; it = it->next)
		found |= it->address == address && !it->pool;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	return found;
}

CUdeviceptr fake_graph_address(size_t size)
{
	const CUdeviceptr address = (CUdeviceptr)atomic_fetch_add(&last_handle, 1) << 21;

	add_piece(address, size, NULL);
	return address;
}

static CUresult pooled(CUdeviceptr *address, size_t size, CUmemoryPool pool, CUstream handle)
{
	const struct fake_capture *capture = NULL;
	CUstream stream = NULL;
	void *memory = NULL;
	CUresult result = fake_stream(handle, &stream);

	if (result == CUDA_SUCCESS)
		capture = fake_capture_of(stream);
	if (capture) {
		fake_graph_capture_memory(fake_capture_graph(capture), stream,
		                          CU_GRAPH_NODE_TYPE_MEM_ALLOC);
		*address = fake_graph_address(size);
		return CUDA_SUCCESS;
	}
	if (result == CUDA_SUCCESS)
		result = fake_allocate(size, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, &memory);
	if (result != CUDA_SUCCESS)
		return result;
	*address = (CUdeviceptr)(uintptr_t)memory;
	add_piece(*address, size, pool);
	return CUDA_SUCCESS;
}

CUresult cuMemAllocAsync(CUdeviceptr *address, size_t size, CUstream stream)
{
	API_BEGIN(cuMemAllocAsync, address, size, stream);
	API_END(pooled(address, size, &default_pool, stream));
}

CUresult cuMemAllocFromPoolAsync(CUdeviceptr *address, size_t size, CUmemoryPool pool,
                                 CUstream stream)
{
	API_BEGIN(cuMemAllocFromPoolAsync, address, size, pool, stream);
	API_END(pool ? pooled(address, size, pool, stream) : CUDA_ERROR_INVALID_VALUE);
}

static CUresult give_back(CUdeviceptr address, CUstream handle)
{
	CUstream stream = NULL;
	const CUresult result = fake_stream(handle, &stream);
	const struct fake_capture *capture =
		result == CUDA_SUCCESS ? fake_capture_of(stream) : NULL;

	if (capture) {
		fake_graph_capture_memory(fake_capture_graph(capture), stream,
		                          CU_GRAPH_NODE_TYPE_MEM_FREE);
		return CUDA_SUCCESS;
	}
	if (is_of_graph(address))
		return CUDA_SUCCESS;
	fake_pool_take_back((const void *)(uintptr_t)address);
	return fake_release((void *)(uintptr_t)address, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE);
}

CUresult cuMemFreeAsync(CUdeviceptr address, CUstream stream)
{
	API_BEGIN(cuMemFreeAsync, address, stream);
	API_END(give_back(address, stream));
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
	memset(pool, 0xdd, sizeof(*pool)); /* who still asks it gets nonsense */
	free(pool);
	API_END(fake_usable());
}

CUresult cuDeviceGetDefaultMemPool(CUmemoryPool *pool, CUdevice device)
{
	API_BEGIN(cuDeviceGetDefaultMemPool, pool, device);
	*pool = &default_pool;
	API_END(fake_usable());
}

static uint64_t *attribute_of(CUmemoryPool pool, CUmemPool_attribute attribute)
{
	switch ((int)attribute) {
	case CU_MEMPOOL_ATTR_RELEASE_THRESHOLD:
		return &pool->release_threshold;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_CURRENT:
		return &pool->reserved;
	case CU_MEMPOOL_ATTR_RESERVED_MEM_HIGH:
		return &pool->reserved_high;
	case CU_MEMPOOL_ATTR_USED_MEM_CURRENT:
		return &pool->used;
	case CU_MEMPOOL_ATTR_USED_MEM_HIGH:
		return &pool->used_high;
	default:
		return NULL;
	}
}

CUresult cuMemPoolGetAttribute(CUmemoryPool pool, CUmemPool_attribute attribute, void *value)
{
	const uint64_t *at = attribute_of(pool, attribute);

	API_BEGIN(cuMemPoolGetAttribute, pool, attribute, value);
	(void)pthread_mutex_lock(&fake_cuda.lock);
	if (at)
		memcpy(value, at, sizeof(*at));
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	API_END(at ? fake_usable() : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuDeviceGetGraphMemAttribute(CUdevice device, CUgraphMem_attribute attribute, void *value)
{
	const uint64_t *const values[] = {
		[CU_GRAPH_MEM_ATTR_USED_MEM_CURRENT] = &graph_pool.used,
		[CU_GRAPH_MEM_ATTR_USED_MEM_HIGH] = &graph_pool.used_high,
		[CU_GRAPH_MEM_ATTR_RESERVED_MEM_CURRENT] = &graph_pool.reserved,
		[CU_GRAPH_MEM_ATTR_RESERVED_MEM_HIGH] = &graph_pool.reserved_high,
	};

	API_BEGIN(cuDeviceGetGraphMemAttribute, device, attribute, value);
	(void)pthread_mutex_lock(&fake_cuda.lock);
	memcpy(value, values[attribute], sizeof(*values[attribute]));
	(void)pthread_mutex_unlock(&fake_cuda.lock);
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
	(void)pthread_mutex_lock(&fake_cuda.lock);
	if (pool->reserved > bytes)
		pool->reserved = pool->used > bytes ? pool->used : bytes;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	API_END(fake_usable());
}

/* All of it moves, as if it had been used on the other side, where the first page faults. */
static void migrate(CUdeviceptr address, size_t size, int to_device)
{
	struct fake_activity moved = {
		.kind = CUPTI_ACTIVITY_KIND_UNIFIED_MEMORY_COUNTER,
		.subkind = to_device
	                           ? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_HTOD
	                           : CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_BYTES_TRANSFER_DTOH,
		.bytes = size,
		.value = CUPTI_ACTIVITY_UNIFIED_MEMORY_MIGRATION_CAUSE_USER,
		.graph_node = address,
		.start_ns = fake_realtime_ns(),
	};
	struct fake_activity fault = moved;

	moved.end_ns = moved.start_ns + size / 50;
	fake_tell(&moved);
	fault.subkind = to_device ? CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_GPU_PAGE_FAULT
	                          : CUPTI_ACTIVITY_UNIFIED_MEMORY_COUNTER_KIND_CPU_PAGE_FAULT_COUNT;
	/* CUPTI tells where the program was for the host's faults. */
	fault.bytes = to_device ? 1 : (uint64_t)(uintptr_t)&migrate;
	fault.value = CUPTI_ACTIVITY_UNIFIED_MEMORY_ACCESS_TYPE_WRITE;
	fake_tell(&fault);
}

CUresult cuMemPrefetchAsync_v2(CUdeviceptr address, size_t size, CUmemLocation location,
                               unsigned flags, CUstream stream)
{
	API_BEGIN(cuMemPrefetchAsync_v2, address, size, location, flags, stream);
	migrate(address, size, location.type == CU_MEM_LOCATION_TYPE_DEVICE);
	API_END(fake_usable());
}

CUresult cuMemAdvise_v2(CUdeviceptr address, size_t size, CUmem_advise advice,
                        CUmemLocation location)
{
	API_BEGIN(cuMemAdvise_v2, address, size, advice, location);
	API_END(fake_usable());
}

CUresult cuMemHostRegister_v2(void *address, size_t size, unsigned flags)
{
	API_BEGIN(cuMemHostRegister_v2, address, size, flags);
	fake_adopt(address, size, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
	API_END(fake_usable());
}

CUresult cuMemHostUnregister(void *address)
{
	API_BEGIN(cuMemHostUnregister, address);
	(void)fake_disown(address, CUPTI_ACTIVITY_MEMORY_KIND_PINNED);
	API_END(fake_usable());
}

CUresult cuIpcOpenMemHandle_v2(CUdeviceptr *address, CUipcMemHandle handle, unsigned flags)
{
	enum { BYTES = 1 << 16 };
	void *memory = NULL;
	CUresult result;

	API_BEGIN(cuIpcOpenMemHandle_v2, address, handle, flags);
	result = fake_allocate(BYTES, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, &memory);
	if (result == CUDA_SUCCESS)
		*address = (CUdeviceptr)(uintptr_t)memory;
	API_END(result);
}

CUresult cuIpcCloseMemHandle(CUdeviceptr address)
{
	API_BEGIN(cuIpcCloseMemHandle, address);
	API_END(fake_release((void *)(uintptr_t)address, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE));
}
