/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/state.h"

#include <stdlib.h>
#include <string.h>

#include "fakes/cuda/arrays.h"

/* Memory, copies and fills. Device memory is the host's, so copies really copy. */

struct allocation {
	char *address;
	size_t size;
	CUpti_ActivityMemoryKind kind; /* DEVICE, also of what is managed, or PINNED */
	int managed;
	CUdevice device; /* of the context that asked for it */
	unsigned number; /* in the order in which all were made */
	struct allocation *next;
};

static struct allocation *allocations; /* fake_cuda.lock */

/* Costs of a copy on the pretended links: 50 GB/s to the host, 2 TB/s on the device. */
enum { COPY_DELAY_NS = 2000, COPY_LEAST_NS = 1000 };

void fake_adopt(void *address, size_t size, CUpti_ActivityMemoryKind kind)
{
	static unsigned made; /* fake_cuda.lock */
	struct allocation *allocation = calloc(1, sizeof(*allocation));

	allocation->address = address;
	allocation->size = size;
	allocation->kind = kind;
	allocation->device = fake_context() ? fake_context()->device : 0;
	(void)pthread_mutex_lock(&fake_cuda.lock);
	allocation->number = ++made;
	allocation->next = allocations;
	allocations = allocation;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
}

int fake_disown(const void *address, CUpti_ActivityMemoryKind kind)
{
	struct allocation **link = &allocations;
	struct allocation *found;

	(void)pthread_mutex_lock(&fake_cuda.lock);
	while (*link && ((*link)->address != address || (*link)->kind != kind))
		link = &(*link)->next;
	found = *link;
	if (found)
		*link = found->next;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	free(found);
	return found != NULL;
}

CUresult fake_allocate(size_t size, CUpti_ActivityMemoryKind kind, void **address)
{
	const CUresult result = fake_usable();

	if (result != CUDA_SUCCESS)
		return result;
	if (!size || !address)
		return CUDA_ERROR_INVALID_VALUE;
	if (size > FAKE_DEVICE_BYTES)
		return CUDA_ERROR_OUT_OF_MEMORY;
	*address = aligned_alloc(512, (size + 511) / 512 * 512);
	if (!*address)
		return CUDA_ERROR_OUT_OF_MEMORY;
	fake_adopt(*address, size, kind);
	return CUDA_SUCCESS;
}

CUresult fake_release(void *address, CUpti_ActivityMemoryKind kind)
{
	if (fake_usable() != CUDA_SUCCESS)
		return fake_usable();
	if (!address)
		return CUDA_SUCCESS;
	if (!fake_disown(address, kind))
		return CUDA_ERROR_INVALID_VALUE;
	free(address);
	return CUDA_SUCCESS;
}

/* As the real one: memory goes when the work of the context is done. */
static CUresult wait_and_release(void *address, CUpti_ActivityMemoryKind kind)
{
	CUresult result;

	fake_pool_take_back(address);
	result = fake_release(address, kind);
	if (result == CUDA_SUCCESS && address)
		fake_wait_for_context();
	return result;
}

CUpti_ActivityMemoryKind fake_kind_of(const void *address, size_t size)
{
	CUpti_ActivityMemoryKind kind = CUPTI_ACTIVITY_MEMORY_KIND_PAGEABLE;
	const char *first = address;

	(void)pthread_mutex_lock(&fake_cuda.lock);
	for (const struct allocation *it = allocations; it; it = it->next) {
		if (first < it->address || first >= it->address + it->size)
			continue;
		kind = size <= (size_t)(it->address + it->size - first)
		               ? it->kind
		               : CUPTI_ACTIVITY_MEMORY_KIND_UNKNOWN;
	}
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	return kind;
}

int fake_find_memory(CUdeviceptr address, struct fake_memory *found)
{
	const char *at = (const char *)(uintptr_t)address;

	*found = (struct fake_memory){.address = 0};
	(void)pthread_mutex_lock(&fake_cuda.lock);
	for (const struct allocation *it = allocations; it; it = it->next)
		if (at >= it->address && at < it->address + it->size)
			*found = (struct fake_memory){(CUdeviceptr)(uintptr_t)it->address,
			                              it->size,
			                              it->kind,
			                              it->managed,
			                              it->device,
			                              it->number};
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	return found->address != 0;
}

static void mark_managed(const void *address)
{
	(void)pthread_mutex_lock(&fake_cuda.lock);
	for (struct allocation *it = allocations; it; it = it->next)
		if (it->address == address)
			it->managed = 1;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
}

CUresult cuMemAlloc_v2(CUdeviceptr *address, size_t size)
{
	void *memory = NULL;
	CUresult result;

	API_BEGIN(cuMemAlloc_v2, address, size);
	result = fake_usable_for(FAKE_CUDA_memory_alloc);
	if (result == CUDA_SUCCESS && fake_cuda.script.most_bytes &&
	    size > fake_cuda.script.most_bytes)
		result = CUDA_ERROR_OUT_OF_MEMORY;
	if (result == CUDA_SUCCESS)
		result = fake_allocate(size, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, &memory);
	if (result == CUDA_SUCCESS)
		*address = (CUdeviceptr)(uintptr_t)memory;
	API_END(result);
}

/* Rows are padded to 512 bytes. */
CUresult cuMemAllocPitch_v2(CUdeviceptr *address, size_t *pitch, size_t width, size_t height,
                            unsigned element_bytes)
{
	void *memory = NULL;
	CUresult result;

	API_BEGIN(cuMemAllocPitch_v2, address, pitch, width, height, element_bytes);
	*pitch = (width + 511) / 512 * 512;
	result = fake_allocate(*pitch * height, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, &memory);
	if (result == CUDA_SUCCESS)
		*address = (CUdeviceptr)(uintptr_t)memory;
	API_END(result);
}

CUresult cuMemAllocManaged(CUdeviceptr *address, size_t size, unsigned flags)
{
	void *memory = NULL;
	CUresult result;

	API_BEGIN(cuMemAllocManaged, address, size, flags);
	result = fake_allocate(size, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE, &memory);
	if (result == CUDA_SUCCESS) {
		mark_managed(memory);
		*address = (CUdeviceptr)(uintptr_t)memory;
	}
	API_END(result);
}

CUresult cuMemFree_v2(CUdeviceptr address)
{
	API_BEGIN(cuMemFree_v2, address);
	API_END(wait_and_release((void *)(uintptr_t)address, CUPTI_ACTIVITY_MEMORY_KIND_DEVICE));
}

CUresult cuMemHostAlloc(void **address, size_t size, unsigned int flags)
{
	const CUresult usable = fake_usable_for(FAKE_CUDA_host_alloc);

	API_BEGIN(cuMemHostAlloc, address, size, flags);
	API_END(usable == CUDA_SUCCESS
	                ? fake_allocate(size, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, address)
	                : usable);
}

/* The same: all addresses are the host's. */
CUresult cuMemHostGetDevicePointer_v2(CUdeviceptr *address, void *host, unsigned int flags)
{
	API_BEGIN(cuMemHostGetDevicePointer_v2, address, host, flags);
	*address = (CUdeviceptr)(uintptr_t)host;
	API_END(fake_usable_for(FAKE_CUDA_host_address));
}

CUresult cuMemAllocHost_v2(void **address, size_t size)
{
	API_BEGIN(cuMemAllocHost_v2, address, size);
	API_END(fake_allocate(size, CUPTI_ACTIVITY_MEMORY_KIND_PINNED, address));
}

CUresult cuMemFreeHost(void *address)
{
	API_BEGIN(cuMemFreeHost, address);
	API_END(wait_and_release(address, CUPTI_ACTIVITY_MEMORY_KIND_PINNED));
}

CUresult cuMemGetInfo_v2(size_t *free_bytes, size_t *total_bytes)
{
	size_t used = 0;

	API_BEGIN(cuMemGetInfo_v2, free_bytes, total_bytes);
	(void)pthread_mutex_lock(&fake_cuda.lock);
	for (const struct allocation *it = allocations; it; it = it->next)
		if (it->kind == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE)
			used += it->size;
	(void)pthread_mutex_unlock(&fake_cuda.lock);
	*free_bytes = FAKE_DEVICE_BYTES - used;
	*total_bytes = FAKE_DEVICE_BYTES;
	API_END(fake_usable());
}

struct copy {
	CUpti_ActivityMemcpyKind kind;
	void *target;
	const void *source;
	size_t size;
	CUstream stream;
	int async;
	struct fake_rows rows;
};

/* From the first byte to the last. */
static size_t span(size_t size, const struct fake_rows *rows, size_t pitch, size_t slice_pitch)
{
	return rows->rows ? size / rows->rows / rows->slices + (rows->rows - 1) * pitch +
	                            (rows->slices - 1) * slice_pitch
	                  : size;
}

static CUpti_ActivityMemoryKind target_kind_of(const struct copy *copy)
{
	const struct fake_rows *rows = &copy->rows;

	return fake_kind_of(copy->target,
	                    span(copy->size, rows, rows->target_pitch, rows->target_slice_pitch));
}

static CUpti_ActivityMemoryKind source_kind_of(const struct copy *copy)
{
	const struct fake_rows *rows = &copy->rows;

	return fake_kind_of(copy->source,
	                    span(copy->size, rows, rows->source_pitch, rows->source_slice_pitch));
}

uint64_t fake_copy_ns(const struct fake_activity *copy)
{
	const uint64_t bytes_per_us =
		copy->copy_kind == CUPTI_ACTIVITY_MEMCPY_KIND_DTOD ? 2000000 : 50000;

	if (copy->kind == CUPTI_ACTIVITY_KIND_MEMSET)
		return COPY_LEAST_NS + copy->bytes / 2000;
	return COPY_LEAST_NS + copy->bytes * 1000 / bytes_per_us;
}

/* Slices of rows; where there are no rows it is all one. */
void fake_make(const struct fake_activity *work)
{
	const struct fake_rows *rows = &work->rows;
	const size_t count = rows->rows ? rows->rows * rows->slices : 1;
	const size_t bytes = work->bytes / count;

	for (size_t i = 0; i < count; i++) {
		const size_t slice = rows->rows ? i / rows->rows : 0;
		const size_t row = rows->rows ? i % rows->rows : 0;
		char *target = (char *)work->target + slice * rows->target_slice_pitch +
		               row * rows->target_pitch;

		if (work->kind == CUPTI_ACTIVITY_KIND_MEMSET)
			memset(target, (int)work->value, bytes);
		else
			memmove(target,
			        (const char *)work->source + slice * rows->source_slice_pitch +
			                row * rows->source_pitch,
			        bytes);
	}
}

/* In a stream that is captured, a node; else made at once, though its time is later. */
static void add_work(CUstream stream, struct fake_activity *work, CUgraphNodeType type)
{
	const struct fake_capture *capture = fake_capture_of(stream);

	if (capture) {
		fake_graph_capture_work(fake_capture_graph(capture), stream, type, work);
		return;
	}
	fake_make(work);
	fake_queue(stream, COPY_DELAY_NS, fake_copy_ns(work), work);
	fake_tell(work);
	if (!work->async && work->kind == CUPTI_ACTIVITY_KIND_MEMCPY)
		fake_wait_until(work->end_ns);
}

static CUresult make_copy(const struct copy *copy)
{
	const CUpti_ActivityMemoryKind target_kind = target_kind_of(copy);
	const CUpti_ActivityMemoryKind source_kind = source_kind_of(copy);
	const int within_host = copy->kind == CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
	const int to_device = copy->kind != CUPTI_ACTIVITY_MEMCPY_KIND_DTOH && !within_host;
	const int from_device = copy->kind != CUPTI_ACTIVITY_MEMCPY_KIND_HTOD && !within_host;
	struct fake_activity activity = {
		.kind = CUPTI_ACTIVITY_KIND_MEMCPY,
		.copy_kind = (uint8_t)copy->kind,
		.src_kind = (uint8_t)source_kind,
		.dst_kind = (uint8_t)target_kind,
		.bytes = copy->size,
		.async = (uint8_t)copy->async,
		.target = copy->target,
		.source = copy->source,
		.rows = copy->rows,
	};
	CUstream stream = NULL;
	CUresult result = fake_stream(copy->stream, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if ((to_device && target_kind != CUPTI_ACTIVITY_MEMORY_KIND_DEVICE) ||
	    (from_device && source_kind != CUPTI_ACTIVITY_MEMORY_KIND_DEVICE))
		return CUDA_ERROR_INVALID_VALUE;
	if (copy->size)
		add_work(stream, &activity, CU_GRAPH_NODE_TYPE_MEMCPY);
	return CUDA_SUCCESS;
}

static CUresult copy_in(CUdeviceptr target, const void *source, size_t size, CUstream stream,
                        int async)
{
	return make_copy(&(struct copy){.kind = CUPTI_ACTIVITY_MEMCPY_KIND_HTOD,
	                                .target = (void *)(uintptr_t)target,
	                                .source = source,
	                                .size = size,
	                                .stream = stream,
	                                .async = async});
}

static CUresult copy_out(void *target, CUdeviceptr source, size_t size, CUstream stream, int async)
{
	return make_copy(&(struct copy){.kind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOH,
	                                .target = target,
	                                .source = (const void *)(uintptr_t)source,
	                                .size = size,
	                                .stream = stream,
	                                .async = async});
}

/* Copies within a device do not make the host wait. */
static CUresult copy_inside(CUdeviceptr target, CUdeviceptr source, size_t size, CUstream stream)
{
	return make_copy(&(struct copy){.kind = CUPTI_ACTIVITY_MEMCPY_KIND_DTOD,
	                                .target = (void *)(uintptr_t)target,
	                                .source = (const void *)(uintptr_t)source,
	                                .size = size,
	                                .stream = stream,
	                                .async = 1});
}

CUresult cuMemcpyHtoD_v2(CUdeviceptr target, const void *source, size_t size)
{
	API_BEGIN(cuMemcpyHtoD_v2, target, source, size);
	API_END(copy_in(target, source, size, NULL, 0));
}

CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void *source, size_t size, CUstream stream)
{
	const CUresult usable = fake_usable_for(FAKE_CUDA_copy_in);

	API_BEGIN(cuMemcpyHtoDAsync_v2, target, source, size, stream);
	API_END(usable == CUDA_SUCCESS ? copy_in(target, source, size, stream, 1) : usable);
}

CUresult cuMemcpyDtoH_v2(void *target, CUdeviceptr source, size_t size)
{
	API_BEGIN(cuMemcpyDtoH_v2, target, source, size);
	API_END(copy_out(target, source, size, NULL, 0));
}

CUresult cuMemcpyDtoHAsync_v2(void *target, CUdeviceptr source, size_t size, CUstream stream)
{
	const CUresult usable = fake_usable_for(FAKE_CUDA_copy_out);

	API_BEGIN(cuMemcpyDtoHAsync_v2, target, source, size, stream);
	API_END(usable == CUDA_SUCCESS ? copy_out(target, source, size, stream, 1) : usable);
}

CUresult cuMemcpyDtoD_v2(CUdeviceptr target, CUdeviceptr source, size_t size)
{
	API_BEGIN(cuMemcpyDtoD_v2, target, source, size);
	API_END(copy_inside(target, source, size, NULL));
}

CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t size, CUstream stream)
{
	API_BEGIN(cuMemcpyDtoDAsync_v2, target, source, size, stream);
	API_END(copy_inside(target, source, size, stream));
}

/* Which way it goes is told by what the addresses are of. */
static CUresult copy_told(struct copy *copy)
{
	const int to_device = target_kind_of(copy) == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;
	const int from_device = source_kind_of(copy) == CUPTI_ACTIVITY_MEMORY_KIND_DEVICE;

	if (to_device)
		copy->kind = from_device ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOD
		                         : CUPTI_ACTIVITY_MEMCPY_KIND_HTOD;
	else
		copy->kind = from_device ? CUPTI_ACTIVITY_MEMCPY_KIND_DTOH
		                         : CUPTI_ACTIVITY_MEMCPY_KIND_HTOH;
	return make_copy(copy);
}

static CUresult copy_any(CUdeviceptr target, CUdeviceptr source, size_t size, CUstream stream)
{
	struct copy copy = {.target = (void *)(uintptr_t)target,
	                    .source = (const void *)(uintptr_t)source,
	                    .size = size,
	                    .stream = stream,
	                    .async = 1};

	return copy_told(&copy);
}

CUresult cuMemcpy(CUdeviceptr target, CUdeviceptr source, size_t size)
{
	API_BEGIN(cuMemcpy, target, source, size);
	memcpy((void *)(uintptr_t)target, (const void *)(uintptr_t)source, size);
	API_END(fake_usable());
}

CUresult cuMemcpyAsync(CUdeviceptr target, CUdeviceptr source, size_t size, CUstream stream)
{
	API_BEGIN(cuMemcpyAsync, target, source, size, stream);
	fake_calls_bytes((const void *)(uintptr_t)source, size);
	API_END(copy_any(target, source, size, stream));
}

CUresult cuMemcpyPeerAsync(CUdeviceptr target, CUcontext target_context, CUdeviceptr source,
                           CUcontext source_context, size_t size, CUstream stream)
{
	API_BEGIN(cuMemcpyPeerAsync, target, target_context, source, source_context, size, stream);
	API_END(copy_inside(target, source, size, stream));
}

/* One after the other, though the real one promises no order; a record for each. */
static CUresult copy_all(const CUdeviceptr *targets, const CUdeviceptr *sources,
                         const size_t *sizes, size_t count, CUstream stream)
{
	CUresult result = CUDA_SUCCESS;

	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = copy_any(targets[i], sources[i], sizes[i], stream);
	return result;
}

CUresult cuMemcpyBatchAsync_v2(CUdeviceptr *targets, CUdeviceptr *sources, size_t *sizes,
                               size_t count, CUmemcpyAttributes *attributes, size_t *firsts,
                               size_t attribute_count, CUstream stream)
{
	API_BEGIN(cuMemcpyBatchAsync_v2, targets, sources, sizes, count, attributes, firsts,
	          attribute_count, stream);
	API_END(copy_all(targets, sources, sizes, count, stream));
}

CUdeviceptr fake_side_of(CUmemorytype type, const void *host, CUdeviceptr device)
{
	return type == CU_MEMORYTYPE_HOST ? (CUdeviceptr)(uintptr_t)host : device;
}

/* Copies slices of rows, from and to pointers; one record. */
static CUresult copy_box(const CUDA_MEMCPY3D *box, CUstream stream, int async)
{
	const size_t source_slice = box->srcPitch * box->srcHeight;
	const size_t target_slice = box->dstPitch * box->dstHeight;
	const CUdeviceptr source = fake_side_of(box->srcMemoryType, box->srcHost, box->srcDevice);
	const CUdeviceptr target = fake_side_of(box->dstMemoryType, box->dstHost, box->dstDevice);
	struct copy copy = {
		.target = (void *)(uintptr_t)(target + box->dstZ * target_slice +
	                                      box->dstY * box->dstPitch + box->dstXInBytes),
		.source = (const void *)(uintptr_t)(source + box->srcZ * source_slice +
	                                            box->srcY * box->srcPitch + box->srcXInBytes),
		.size = box->WidthInBytes * box->Height * box->Depth,
		.stream = stream,
		.async = async,
		.rows = {box->Height, box->Depth, box->dstPitch, box->srcPitch, target_slice,
	                 source_slice},
	};

	if (box->srcMemoryType == CU_MEMORYTYPE_ARRAY ||
	    box->dstMemoryType == CU_MEMORYTYPE_ARRAY || copy.size == 0)
		return CUDA_ERROR_INVALID_VALUE;
	return copy_told(&copy);
}

CUresult cuMemcpy3DAsync_v2(const CUDA_MEMCPY3D *box, CUstream stream)
{
	API_BEGIN(cuMemcpy3DAsync_v2, box, stream);
	const bool arrays = box && (box->srcMemoryType == CU_MEMORYTYPE_ARRAY ||
	                            box->dstMemoryType == CU_MEMORYTYPE_ARRAY);

	API_END(!box     ? CUDA_ERROR_INVALID_VALUE
	        : arrays ? fake_copy_arrays(box)
	                 : copy_box(box, stream, 1));
}

/* Between pointers, whose elements are bytes; the fake of the runtime has no such call. */
static CUresult copy_operation(const CUDA_MEMCPY3D_BATCH_OP *operation, CUstream stream)
{
	const CUDA_MEMCPY3D box = {
		.srcMemoryType = CU_MEMORYTYPE_UNIFIED,
		.srcDevice = operation->src.op.ptr.ptr,
		.srcPitch = operation->src.op.ptr.rowLength,
		.srcHeight = operation->src.op.ptr.layerHeight,
		.dstMemoryType = CU_MEMORYTYPE_UNIFIED,
		.dstDevice = operation->dst.op.ptr.ptr,
		.dstPitch = operation->dst.op.ptr.rowLength,
		.dstHeight = operation->dst.op.ptr.layerHeight,
		.WidthInBytes = operation->extent.width,
		.Height = operation->extent.height,
		.Depth = operation->extent.depth,
	};

	return operation->src.type == CU_MEMCPY_OPERAND_TYPE_POINTER &&
	                       operation->dst.type == CU_MEMCPY_OPERAND_TYPE_POINTER
	               ? copy_box(&box, stream, 1)
	               : CUDA_ERROR_INVALID_VALUE;
}

CUresult cuMemcpy3DBatchAsync_v2(size_t count, CUDA_MEMCPY3D_BATCH_OP *list,
                                 unsigned long long flags, CUstream stream)
{
	CUresult result = list ? CUDA_SUCCESS : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuMemcpy3DBatchAsync_v2, count, list, flags, stream);
	for (size_t i = 0; i < count && result == CUDA_SUCCESS; i++)
		result = copy_operation(&list[i], stream);
	API_END(result);
}

static CUresult copy_rows(const CUDA_MEMCPY2D *rows, CUstream stream, int async)
{
	const CUDA_MEMCPY3D box = {
		.srcXInBytes = rows->srcXInBytes,
		.srcY = rows->srcY,
		.srcMemoryType = rows->srcMemoryType,
		.srcHost = rows->srcHost,
		.srcDevice = rows->srcDevice,
		.srcPitch = rows->srcPitch,
		.dstXInBytes = rows->dstXInBytes,
		.dstY = rows->dstY,
		.dstMemoryType = rows->dstMemoryType,
		.dstHost = rows->dstHost,
		.dstDevice = rows->dstDevice,
		.dstPitch = rows->dstPitch,
		.WidthInBytes = rows->WidthInBytes,
		.Height = rows->Height,
		.Depth = 1,
	};

	return copy_box(&box, stream, async);
}

CUresult cuMemcpy2D_v2(const CUDA_MEMCPY2D *rows)
{
	API_BEGIN(cuMemcpy2D_v2, rows);
	API_END(rows ? copy_rows(rows, NULL, 0) : CUDA_ERROR_INVALID_VALUE);
}

CUresult cuMemcpy2DAsync_v2(const CUDA_MEMCPY2D *rows, CUstream stream)
{
	API_BEGIN(cuMemcpy2DAsync_v2, rows, stream);
	API_END(rows ? copy_rows(rows, stream, 1) : CUDA_ERROR_INVALID_VALUE);
}

static CUresult make_fill(struct fake_activity *fill, CUstream handle)
{
	const struct fake_rows *rows = &fill->rows;
	CUstream stream = NULL;
	CUresult result = fake_stream(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (fake_kind_of(fill->target, span(fill->bytes, rows, rows->target_pitch, 0)) !=
	    CUPTI_ACTIVITY_MEMORY_KIND_DEVICE)
		return CUDA_ERROR_INVALID_VALUE;
	if (fill->bytes)
		add_work(stream, fill, CU_GRAPH_NODE_TYPE_MEMSET);
	return CUDA_SUCCESS;
}

static CUresult fill(CUdeviceptr target, unsigned char value, size_t size, CUstream stream,
                     int async)
{
	struct fake_activity activity = {
		.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		.dst_kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
		.bytes = size,
		.value = value,
		.async = (uint8_t)async,
		.target = (void *)(uintptr_t)target,
	};

	return make_fill(&activity, stream);
}

static CUresult fill_rows(CUdeviceptr target, size_t pitch, unsigned char value, size_t width,
                          size_t height, CUstream stream)
{
	struct fake_activity activity = {
		.kind = CUPTI_ACTIVITY_KIND_MEMSET,
		.dst_kind = CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
		.bytes = width * height,
		.value = value,
		.async = 1,
		.target = (void *)(uintptr_t)target,
		.rows = {.rows = height, .slices = 1, .target_pitch = pitch},
	};

	return height ? make_fill(&activity, stream) : CUDA_SUCCESS;
}

CUresult cuMemsetD8_v2(CUdeviceptr target, unsigned char value, size_t size)
{
	API_BEGIN(cuMemsetD8_v2, target, value, size);
	API_END(fill(target, value, size, NULL, 0));
}

CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t size, CUstream stream)
{
	const CUresult usable = fake_usable_for(FAKE_CUDA_set_bytes);

	API_BEGIN(cuMemsetD8Async, target, value, size, stream);
	API_END(usable == CUDA_SUCCESS ? fill(target, value, size, stream, 1) : usable);
}
/* Fills with the lowest byte of the word. */
CUresult cuMemsetD32Async(CUdeviceptr target, unsigned int value, size_t count, CUstream stream)
{
	API_BEGIN(cuMemsetD32Async, target, value, count, stream);
	API_END(fill(target, (unsigned char)value, count * 4, stream, 1));
}

/* The same. */
CUresult cuMemsetD16Async(CUdeviceptr target, unsigned short value, size_t count, CUstream stream)
{
	API_BEGIN(cuMemsetD16Async, target, value, count, stream);
	API_END(fill(target, (unsigned char)value, count * 2, stream, 1));
}

CUresult cuMemsetD2D8Async(CUdeviceptr target, size_t pitch, unsigned char value, size_t width,
                           size_t height, CUstream stream)
{
	API_BEGIN(cuMemsetD2D8Async, target, pitch, value, width, height, stream);
	API_END(fill_rows(target, pitch, value, width, height, stream));
}

CUresult cuMemsetD2D16Async(CUdeviceptr target, size_t pitch, unsigned short value, size_t width,
                            size_t height, CUstream stream)
{
	API_BEGIN(cuMemsetD2D16Async, target, pitch, value, width, height, stream);
	API_END(fill_rows(target, pitch, (unsigned char)value, width * 2, height, stream));
}

CUresult cuMemsetD2D32Async(CUdeviceptr target, size_t pitch, unsigned value, size_t width,
                            size_t height, CUstream stream)
{
	API_BEGIN(cuMemsetD2D32Async, target, pitch, value, width, height, stream);
	API_END(fill_rows(target, pitch, (unsigned char)value, width * 4, height, stream));
}
