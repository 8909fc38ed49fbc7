/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/gpu/gpu.h"

#include <errno.h>
#include <stdio.h>
#include <time.h>

#include "base/error.h"

int gt_gpu_select(const struct gt_gpu *gpu, struct gt_error *err)
{
	return gt_cuda_check(gpu->cuda, gpu->cuda->context_set(gpu->context), err,
	                     "the GPU's context cannot be used");
}

static int make(struct gt_gpu *gpu, struct gt_error *err)
{
	const struct gt_cuda *cuda = gpu->cuda;
	CUresult code = cuda->device_get(&gpu->device, gpu->ordinal);
	int result;

	if (code == CUDA_SUCCESS)
		code = cuda->context_retain(&gpu->context, gpu->device);
	result = gt_cuda_check(cuda, code, err, "the GPU cannot be used");
	if (result == 0)
		result = gt_gpu_select(gpu, err);
	if (result < 0)
		return result;
	code = cuda->stream_create(&gpu->stream, CU_STREAM_NON_BLOCKING);
	if (code == CUDA_SUCCESS)
		code = cuda->event_create(&gpu->begin, CU_EVENT_DEFAULT);
	if (code == CUDA_SUCCESS)
		code = cuda->event_create(&gpu->end, CU_EVENT_DEFAULT);
	return gt_cuda_check(cuda, code, err, "no stream can be made on the GPU");
}

int gt_gpu_open(struct gt_gpu *gpu, const struct gt_cuda *cuda, int ordinal, struct gt_error *err)
{
	int result;

	*gpu = (struct gt_gpu){.cuda = cuda, .ordinal = ordinal};
	result = make(gpu, err);
	if (result < 0)
		gt_gpu_close(gpu);
	return result;
}

void gt_gpu_free_all(struct gt_gpu *gpu)
{
	gt_array_each(CUdeviceptr, address, &gpu->blocks)
		(void)gpu->cuda->memory_free(*address);
	gt_array_each(void *, address, &gpu->pinned)
		(void)gpu->cuda->host_free(*address);
	gt_array_each(void *, address, &gpu->registered)
		(void)gpu->cuda->host_unregister(*address);
	gt_array_each(struct gt_gpu_range, range, &gpu->mapped)
		(void)gpu->cuda->memory_unmap(range->address, range->bytes);
	gt_array_each(struct gt_gpu_range, range, &gpu->reserved)
		(void)gpu->cuda->address_free(range->address, range->bytes);
	gt_array_release(&gpu->blocks);
	gt_array_release(&gpu->pinned);
	gt_array_release(&gpu->registered);
	gt_array_release(&gpu->mapped);
	gt_array_release(&gpu->reserved);
}

static void close_streams(struct gt_gpu *gpu)
{
	gt_array_each(CUevent, event, &gpu->events)
		(void)gpu->cuda->event_destroy(*event);
	gt_array_each(CUstream, stream, &gpu->streams)
		(void)gpu->cuda->stream_destroy(*stream);
	gt_array_release(&gpu->events);
	gt_array_release(&gpu->spare);
	gt_array_release(&gpu->streams);
}

void gt_gpu_close(struct gt_gpu *gpu)
{
	const struct gt_cuda *cuda = gpu->cuda;

	if (!gpu->context)
		return;
	(void)gt_gpu_select(gpu, NULL);
	close_streams(gpu);
	gt_gpu_free_all(gpu);
	gt_array_each(CUmodule, module, &gpu->modules)
		(void)cuda->module_unload(*module);
	gt_array_release(&gpu->modules);
	if (gpu->begin)
		(void)cuda->event_destroy(gpu->begin);
	if (gpu->end)
		(void)cuda->event_destroy(gpu->end);
	if (gpu->stream)
		(void)cuda->stream_destroy(gpu->stream);
	(void)cuda->context_release(gpu->device);
	gpu->context = NULL;
}

int gt_gpu_attribute(const struct gt_gpu *gpu, CUdevice_attribute attribute)
{
	int value = 0;

	if (gpu->cuda->device_attribute(&value, attribute, gpu->device) != CUDA_SUCCESS)
		return 0;
	return value;
}

/* The bytes in groups of 4-2-2-2-6. */
void gt_gpu_uuid(const struct gt_gpu *gpu, char text[GT_GPU_UUID_BYTES])
{
	size_t used = (size_t)snprintf(text, GT_GPU_UUID_BYTES, "GPU-");
	CUuuid uuid;

	if (gpu->cuda->device_uuid(&uuid, gpu->device) != CUDA_SUCCESS) {
		text[0] = '\0';
		return;
	}
	for (int i = 0; i < 16; i++)
		used += (size_t)snprintf(text + used, GT_GPU_UUID_BYTES - used, "%s%02x",
		                         i == 4 || i == 6 || i == 8 || i == 10 ? "-" : "",
		                         (unsigned char)uuid.bytes[i]);
}

int gt_gpu_alloc(struct gt_gpu *gpu, size_t bytes, CUdeviceptr *address, struct gt_error *err)
{
	CUdeviceptr made = 0;
	const int result = gt_cuda_check(gpu->cuda, gpu->cuda->memory_alloc(&made, bytes), err,
	                                 "memory of the GPU cannot be had");

	if (result == 0)
		*address = *gt_array_push(&gpu->blocks) = made;
	return result;
}

int gt_gpu_alloc_pinned(struct gt_gpu *gpu, size_t bytes, void **address, struct gt_error *err)
{
	void *made = NULL;
	const int result =
		gt_cuda_check(gpu->cuda,
	                      gpu->cuda->host_alloc(&made, bytes, CU_MEMHOSTALLOC_DEVICEMAP), err,
	                      "pinned memory cannot be had");

	if (result == 0)
		*address = *gt_array_push(&gpu->pinned) = made;
	return result;
}

static CUmemAllocationProp properties_of(const struct gt_gpu *gpu)
{
	return (CUmemAllocationProp){
		.type = CU_MEM_ALLOCATION_TYPE_PINNED,
		.location = {.type = CU_MEM_LOCATION_TYPE_DEVICE, .id = gpu->device},
	};
}

size_t gt_gpu_granularity(const struct gt_gpu *gpu)
{
	const CUmemAllocationProp properties = properties_of(gpu);
	size_t bytes = 0;

	if (gpu->cuda->granularity(&bytes, &properties, CU_MEM_ALLOC_GRANULARITY_MINIMUM) !=
	    CUDA_SUCCESS)
		return 0;
	return bytes;
}

int gt_gpu_reserve(struct gt_gpu *gpu, CUdeviceptr wanted, size_t bytes, CUdeviceptr *address,
                   struct gt_error *err)
{
	CUdeviceptr got = 0;
	const int result =
		gt_cuda_check(gpu->cuda, gpu->cuda->address_reserve(&got, bytes, 0, wanted, 0), err,
	                      "addresses of the GPU cannot be reserved");

	if (result < 0)
		return result;
	if (wanted && got != wanted) {
		(void)gpu->cuda->address_free(got, bytes);
		return gt_fail(err, EADDRINUSE,
		               "the addresses from 0x%llx on are taken in this process",
		               (unsigned long long)wanted);
	}
	*gt_array_push(&gpu->reserved) = (struct gt_gpu_range){got, bytes};
	*address = got;
	return 0;
}

int gt_gpu_map(struct gt_gpu *gpu, CUdeviceptr address, size_t bytes, struct gt_error *err)
{
	const struct gt_cuda *cuda = gpu->cuda;
	const CUmemAllocationProp properties = properties_of(gpu);
	const CUmemAccessDesc access = {
		.location = properties.location,
		.flags = CU_MEM_ACCESS_FLAGS_PROT_READWRITE,
	};
	CUmemGenericAllocationHandle handle = 0;
	CUresult code = cuda->physical_create(&handle, bytes, &properties, 0);

	if (code != CUDA_SUCCESS)
		return gt_cuda_check(cuda, code, err, "memory of the GPU cannot be had");
	code = cuda->memory_map(address, bytes, 0, handle, 0);
	/* Mapped memory lives on without its handle. */
	(void)cuda->physical_release(handle);
	if (code == CUDA_SUCCESS)
		*gt_array_push(&gpu->mapped) = (struct gt_gpu_range){address, bytes};
	if (code == CUDA_SUCCESS)
		code = cuda->memory_access(address, bytes, &access, 1);
	return gt_cuda_check(cuda, code, err, "memory of the GPU cannot be mapped");
}

int gt_gpu_register(struct gt_gpu *gpu, void *address, size_t bytes, struct gt_error *err)
{
	const int result = gt_cuda_check(
		gpu->cuda, gpu->cuda->host_register(address, bytes, CU_MEMHOSTREGISTER_DEVICEMAP),
		err, "memory of the host cannot be pinned");

	if (result == 0)
		*gt_array_push(&gpu->registered) = address;
	return result;
}

int gt_gpu_add_stream(struct gt_gpu *gpu, int priority, CUstream *stream, struct gt_error *err)
{
	CUstream made = NULL;
	const int result = gt_cuda_check(
		gpu->cuda, gpu->cuda->stream_create_prior(&made, CU_STREAM_NON_BLOCKING, priority),
		err, "no stream can be made on the GPU");

	if (result == 0)
		*stream = *gt_array_push(&gpu->streams) = made;
	return result;
}

int gt_gpu_take_event(struct gt_gpu *gpu, CUevent *event, struct gt_error *err)
{
	CUevent made = NULL;
	int result;

	if (gpu->spare.count > 0) {
		*event = gpu->spare.rows[--gpu->spare.count];
		return 0;
	}
	result = gt_cuda_check(gpu->cuda, gpu->cuda->event_create(&made, CU_EVENT_DEFAULT), err,
	                       "no event can be made on the GPU");
	if (result == 0)
		*event = *gt_array_push(&gpu->events) = made;
	return result;
}

void gt_gpu_give_event(struct gt_gpu *gpu, CUevent event)
{
	if (event)
		*gt_array_push(&gpu->spare) = event;
}

/* The event may be recorded anew at once: the stream waits for what it was at that call. */
int gt_gpu_order(struct gt_gpu *gpu, CUstream other, CUstream stream, struct gt_error *err)
{
	const struct gt_cuda *cuda = gpu->cuda;
	CUevent event = NULL;
	CUresult code;
	int result;

	if (other == stream)
		return 0;
	result = gt_gpu_take_event(gpu, &event, err);
	if (result < 0)
		return result;
	code = cuda->event_record(event, other);
	if (code == CUDA_SUCCESS)
		code = cuda->stream_wait_event(stream, event, 0);
	gt_gpu_give_event(gpu, event);
	return gt_cuda_check(cuda, code, err, "a stream cannot wait for another one");
}

int gt_gpu_load_with(struct gt_gpu *gpu, const void *image, unsigned max_registers,
                     const char *what, CUmodule *module, struct gt_error *err)
{
	CUjit_option option = CU_JIT_MAX_REGISTERS;
	void *value = (void *)(uintptr_t)max_registers; // NOLINT(performance-no-int-to-ptr)
	CUmodule loaded = NULL;
	const int result = gt_cuda_check(
		gpu->cuda,
		gpu->cuda->module_load_with(&loaded, image, max_registers ? 1 : 0, &option, &value),
		err, what);

	if (result == 0)
		*module = *gt_array_push(&gpu->modules) = loaded;
	return result;
}

int gt_gpu_load(struct gt_gpu *gpu, const void *image, const char *what, CUmodule *module,
                struct gt_error *err)
{
	CUmodule loaded = NULL;
	const int result =
		gt_cuda_check(gpu->cuda, gpu->cuda->module_load(&loaded, image), err, what);

	if (result == 0)
		*module = *gt_array_push(&gpu->modules) = loaded;
	return result;
}

int gt_gpu_start_timer(const struct gt_gpu *gpu, struct gt_error *err)
{
	return gt_cuda_check(gpu->cuda, gpu->cuda->event_record(gpu->begin, gpu->stream), err,
	                     "an event cannot be recorded");
}

int gt_gpu_stop_timer(const struct gt_gpu *gpu, double *ns, struct gt_error *err)
{
	const struct gt_cuda *cuda = gpu->cuda;
	float milliseconds = 0;
	CUresult code = cuda->event_record(gpu->end, gpu->stream);
	int result;

	if (code == CUDA_SUCCESS)
		code = cuda->event_wait(gpu->end);
	if (code == CUDA_SUCCESS)
		code = cuda->event_elapsed(&milliseconds, gpu->begin, gpu->end);
	result = gt_cuda_check(cuda, code, err, "the GPU's work failed");
	if (result == 0)
		*ns = (double)milliseconds * 1e6;
	return result;
}

int gt_gpu_wait(const struct gt_gpu *gpu, struct gt_error *err)
{
	return gt_cuda_check(gpu->cuda, gpu->cuda->stream_wait(gpu->stream), err,
	                     "the GPU's work failed");
}

int64_t gt_gpu_now_ns(void)
{
	struct timespec now;

	(void)clock_gettime(CLOCK_MONOTONIC, &now);
	return (int64_t)now.tv_sec * 1000000000 + now.tv_nsec;
}

int gt_gpu_wait_for(const struct gt_gpu *gpu, int64_t most_ns, struct gt_error *err)
{
	const int64_t begun_ns = gt_gpu_now_ns();
	CUresult code;

	do
		code = gpu->cuda->stream_query(gpu->stream);
	while (code == CUDA_ERROR_NOT_READY && gt_gpu_now_ns() - begun_ns < most_ns);
	if (code == CUDA_ERROR_NOT_READY)
		return gt_fail(err, ETIMEDOUT, "the GPU's work has not ended in %.1f s",
		               (double)most_ns / 1e9);
	return gt_cuda_check(gpu->cuda, code, err, "the GPU's work failed");
}

void gt_gpu_abandon(struct gt_gpu *gpu)
{
	gt_array_release(&gpu->modules);
	gt_array_release(&gpu->blocks);
	gt_array_release(&gpu->pinned);
	gt_array_release(&gpu->registered);
	gt_array_release(&gpu->reserved);
	gt_array_release(&gpu->mapped);
	gt_array_release(&gpu->streams);
	gt_array_release(&gpu->events);
	gt_array_release(&gpu->spare);
	gpu->context = NULL;
}
