/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda_state.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

/* Modules, functions and launches. A kernel takes time and does nothing. */

struct CUmod_st {
	uint32_t id;
	CUfunction functions;
};

static _Atomic uint32_t last_module;

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	const CUresult result = image ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuModuleLoadData, module, image);
	if (result == CUDA_SUCCESS) {
		CUpti_ModuleResourceData data = {
			.moduleId = atomic_fetch_add(&last_module, 1) + 1,
			.cubinSize = strlen(image),
			.pCubin = image,
		};

		*module = calloc(1, sizeof(**module));
		(*module)->id = data.moduleId;
		fake_tell_resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, fake_context(), NULL, &data);
	}
	API_END(result);
}

CUresult cuModuleUnload(CUmodule module)
{
	const CUresult result = module ? fake_usable() : CUDA_ERROR_INVALID_HANDLE;

	API_BEGIN(cuModuleUnload, module);
	if (result == CUDA_SUCCESS) {
		CUpti_ModuleResourceData data = {.moduleId = module->id};

		fake_tell_resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, fake_context(), NULL,
		                   &data);
	}
	API_END(result);
}

static CUfunction add_function(CUmodule module, const char *name)
{
	CUfunction function = calloc(1, sizeof(*function));

	function->module = module;
	function->name = strdup(name);
	function->registers = (uint32_t)(16 + 8 * (strlen(name) % 8));
	function->shared_static_bytes = (uint32_t)(1024 * (strlen(name) % 4));
	function->next = module->functions;
	module->functions = function;
	return function;
}

/* Every name is there: the program decides what its module holds. */
CUresult cuModuleGetFunction(CUfunction *function, CUmodule module, const char *name)
{
	const CUresult result = module && name && *name ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuModuleGetFunction, function, module, name);
	if (result == CUDA_SUCCESS) {
		(void)pthread_mutex_lock(&fake_cuda.lock);
		*function = module->functions;
		while (*function && strcmp((*function)->name, name) != 0)
			*function = (*function)->next;
		if (!*function)
			*function = add_function(module, name);
		(void)pthread_mutex_unlock(&fake_cuda.lock);
	}
	API_END(result);
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
	CUresult result = function ? fake_usable() : CUDA_ERROR_INVALID_HANDLE;

	API_BEGIN(cuFuncGetAttribute, value, attribute, function);
	if (result == CUDA_SUCCESS && attribute == CU_FUNC_ATTRIBUTE_NUM_REGS)
		*value = (int)function->registers;
	else if (result == CUDA_SUCCESS && attribute == CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES)
		*value = (int)function->shared_static_bytes;
	else if (result == CUDA_SUCCESS)
		result = CUDA_ERROR_INVALID_VALUE;
	API_END(result);
}

static int shape_fits(const struct fake_activity *kernel)
{
	const uint64_t threads = (uint64_t)kernel->block[0] * kernel->block[1] * kernel->block[2];

	return kernel->grid[0] && kernel->grid[1] && kernel->grid[2] && threads &&
	       threads <= 1024 && kernel->block[2] <= 64 && kernel->grid[1] <= 65535 &&
	       kernel->grid[2] <= 65535 &&
	       kernel->shared_dynamic_bytes + kernel->function->shared_static_bytes <= 232448;
}

static void tell_loading(CUfunction function, CUcontext context)
{
	struct fake_activity overhead = {
		.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
		.subkind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING,
		.context = context,
		.start_ns = fake_realtime_ns(),
	};

	(void)function;
	overhead.end_ns = fake_realtime_ns() + 1;
	fake_tell(&overhead);
}

void fake_run_kernel(CUstream stream, struct fake_activity *kernel)
{
	if (atomic_fetch_add(&kernel->function->launches, 1) == 0)
		tell_loading(kernel->function, stream->context);
	kernel->kind = CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL;
	fake_queue(stream, fake_cuda.script.launch_ns, fake_cuda.script.kernel_ns, kernel);
	fake_tell(kernel);
}

static CUresult launch(CUstream handle, struct fake_activity *kernel)
{
	const struct fake_capture *capture;
	CUstream stream = NULL;
	const CUresult result = fake_stream(handle, &stream);

	if (result != CUDA_SUCCESS)
		return result;
	if (!kernel->function)
		return CUDA_ERROR_INVALID_HANDLE;
	if (!shape_fits(kernel))
		return CUDA_ERROR_INVALID_VALUE;
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
		.function = function,
		.grid = {grid_x, grid_y, grid_z},
		.block = {block_x, block_y, block_z},
		.shared_dynamic_bytes = shared_bytes,
	};
	struct fake_call call;

	fake_cuda_enter(&call, CUPTI_CB_DOMAIN_DRIVER_API, CUPTI_DRIVER_TRACE_CBID_cuLaunchKernel,
	                "cuLaunchKernel", &params, function ? function->name : NULL);
	API_END(launch(stream, &kernel));
}
