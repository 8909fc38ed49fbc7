/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/kernels.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Launches. A kernel takes time; what it does, if anything, is in kernels.c. */

static int shape_fits(const struct fake_activity *kernel)
{
	const uint64_t threads = (uint64_t)kernel->block[0] * kernel->block[1] * kernel->block[2];

	return kernel->grid[0] && kernel->grid[1] && kernel->grid[2] && threads &&
	       threads <= 1024 && kernel->block[2] <= 64 && kernel->grid[1] <= 65535 &&
	       kernel->grid[2] <= 65535 &&
	       kernel->shared_dynamic_bytes + kernel->function->shared_static_bytes <= 232448;
}

/* Times of the launches of a function that no pattern is seen in; the same in each run. */
static uint64_t jitter_ns(uint64_t launch)
{
	const uint64_t most_ns = fake_cuda.script.jitter_ns;

	/* The golden ratio's bits: neighbours become numbers that lie far apart. */
	return most_ns ? (launch * UINT64_C(0x9e3779b97f4a7c15) >> 20) % (most_ns + 1) : 0;
}

void fake_run_kernel(CUstream stream, struct fake_activity *kernel)
{
	const uint64_t launch = atomic_fetch_add(&kernel->function->launches, 1);
	double kernel_ns;

	if (launch == 0)
		fake_function_load(kernel->function, stream->context);
	kernel->kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	kernel_ns = (double)fake_cuda.script.kernel_ns * fake_run_known(kernel);
	fake_queue(stream, fake_cuda.script.launch_ns, (uint64_t)kernel_ns + jitter_ns(launch),
	           kernel);
	fake_tell(kernel);
}

static CUresult launch(CUstream handle, struct fake_activity *kernel, void **arguments,
                       void **extra)
{
	const struct fake_capture *capture;
	CUstream stream = NULL;
	const CUresult result = fake_stream(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!kernel->function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (strcmp(kernel->function->name, "gputrace_device_time") == 0 &&
	    fake_usable_for(FAKE_CUDA_time_launch) != CUDA_SUCCESS)
		return CUDA_ERROR_UNKNOWN;
	if (!shape_fits(kernel) || !fake_take_parameters(kernel, arguments, extra))
		return CUDA_ERROR_INVALID_VALUE;
	fake_calls_words(kernel->parameters, sizeof(kernel->parameters));
	capture = fake_capture_of(stream);
	if (capture)
		fake_graph_capture(fake_capture_graph(capture), stream, kernel);
	else
		fake_run_kernel(stream, kernel);
	return CUDA_SUCCESS;
}

CUresult cuLaunchKernel(CUfunction function, unsigned int grid_x, unsigned int grid_y,
                        unsigned int grid_z, unsigned int block_x, unsigned int block_y,
                        unsigned int block_z, unsigned int shared_bytes, CUstream stream,
                        void **arguments, void **extra)
{
	cuLaunchKernel_params params = {function, grid_x,       grid_y, grid_z,    block_x, block_y,
	                                block_z,  shared_bytes, stream, arguments, extra};
	struct fake_activity kernel = {
		.function = fake_function(function),
		.grid = {grid_x, grid_y, grid_z},
		.block = {block_x, block_y, block_z},
		.shared_dynamic_bytes = shared_bytes,
	};
	struct fake_call call;
	CUresult result;

	fake_cuda_enter(&call, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
	                "cuLaunchKernel", &params, function ? kernel.function->name : NULL);
	FAKE_CALLS_LOG(&call, "cuLaunchKernel", function, grid_x, grid_y, grid_z, block_x, block_y,
	               block_z, shared_bytes, stream);
	result = launch(stream, &kernel, arguments, extra);
	if (result == CUDA_SUCCESS)
		fake_run_time_kernel(&kernel, arguments);
	API_END(result);
}

/* 0: the GPU cannot do one of them, or not together. */
static int attributes_fit(const CUlaunchConfig *config)
{
	const unsigned grid[3] = {config->gridDimX, config->gridDimY, config->gridDimZ};
	unsigned blocks = 1;

	for (unsigned i = 0; i < config->numAttrs; i++) {
		const CUlaunchAttribute *attribute = &config->attrs[i];
		const unsigned cluster[3] = {attribute->value.clusterDim.x,
		                             attribute->value.clusterDim.y,
		                             attribute->value.clusterDim.z};

		if (attribute->id != CU_LAUNCH_ATTRIBUTE_CLUSTER_DIMENSION)
			continue;
		for (size_t j = 0; j < 3; j++) {
			if (!cluster[j] || grid[j] % cluster[j])
				return 0;
			blocks *= cluster[j];
		}
	}
	return blocks <= 16;
}

CUresult cuLaunchKernelEx(const CUlaunchConfig *config, CUfunction function, void **arguments,
                          void **extra)
{
	cuLaunchKernelEx_params params = {config, function, arguments, extra};
	struct fake_activity kernel = {
		.function = fake_function(function),
		.grid = {config->gridDimX, config->gridDimY, config->gridDimZ},
		.block = {config->blockDimX, config->blockDimY, config->blockDimZ},
		.shared_dynamic_bytes = config->sharedMemBytes,
	};
	struct fake_call call;
	CUresult result = CUDA_ERROR_INVALID_VALUE;

	fake_cuda_enter(&call, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernelEx,
	                "cuLaunchKernelEx", &params, function ? kernel.function->name : NULL);
	FAKE_CALLS_LOG(&call, "cuLaunchKernelEx", config, function);
	if (attributes_fit(config))
		result = launch(config->hStream, &kernel, arguments, extra);
	API_END(result);
}
