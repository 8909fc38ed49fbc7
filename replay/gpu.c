/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/gpu.h"

#include <stdio.h>

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
	gt_array_release(&gpu->blocks);
	gt_array_release(&gpu->pinned);
}

void gt_gpu_close(struct gt_gpu *gpu)
{
	const struct gt_cuda *cuda = gpu->cuda;

	if (!gpu->context)
		return;
	(void)gt_gpu_select(gpu, NULL);
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
