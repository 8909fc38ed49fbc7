/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/cuda/kernels.h"

#include <elf.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/*
 * Modules and their functions. An image is a cubin; or PTX, which becomes the cubin that
 * FAKE_JIT_CUBIN names after some time; or any text, which is handed on as it is.
 */

struct CUmod_st {
	uint32_t id;
	const char *image; /* what libcupti is handed; never freed */
	size_t size;
	CUcontext context;
	void *variable;     /* of device events, where the image is a text that names it */
	_Atomic int loaded; /* libcupti was told */
	CUfunction functions;
};

#define VARIABLE    "gputrace_device_ring_1"
#define TIME_KERNEL "gputrace_device_time"

static _Atomic uint32_t last_module;

static int is_cubin(const char *image)
{
	return memcmp(image, ELFMAG, SELFMAG) == 0;
}

/* A cubin ends with its headers, whichever of them stand last. */
static size_t size_of(const char *image)
{
	Elf64_Ehdr header;
	size_t sections;
	size_t segments;

	if (!is_cubin(image))
		return strlen(image);
	memcpy(&header, image, sizeof(header));
	sections = header.e_shoff + (size_t)header.e_shnum * header.e_shentsize;
	segments = header.e_phoff + (size_t)header.e_phnum * header.e_phentsize;
	return sections > segments ? sections : segments;
}

const char *fake_module_image(CUmodule module)
{
	return module->image;
}

static void take_time(uint64_t ns)
{
	if (ns)
		fake_wait_until(fake_realtime_ns() + ns);
}

static void tell_jit(CUcontext context, uint64_t start_ns)
{
	struct fake_activity jit = {
		.kind = CUPTI_ACTIVITY_KIND_JIT,
		.subkind = CUPTI_ACTIVITY_JIT_OPERATION_COMPILE,
		.value = CUPTI_ACTIVITY_JIT_ENTRY_PTX_TO_CUBIN,
		.bytes = 268435456,
		.context = context,
		.start_ns = start_ns,
		.end_ns = fake_realtime_ns(),
	};

	fake_tell(&jit);
}

static void compile(CUmodule module)
{
	const char *name = getenv("FAKE_JIT_CUBIN");
	const uint64_t start_ns = fake_realtime_ns();
	FILE *file = name ? fopen(name, "rb") : NULL;
	enum { MOST = 1 << 20 };
	char *made = calloc(1, MOST);

	if (!file)
		fake_die("FAKE_JIT_CUBIN names no cubin, and there is PTX to compile");
	module->size = fread(made, 1, MOST, file);
	module->image = made;
	(void)fclose(file);
	take_time(fake_cuda.script.jit_ns);
	tell_jit(module->context, start_ns);
}

static void load(CUmodule module)
{
	CUpti_ModuleResourceData data = {.moduleId = module->id};

	if (atomic_exchange(&module->loaded, 1))
		return;
	if (strncmp(module->image, ".version", 8) == 0 && !strstr(module->image, TIME_KERNEL))
		compile(module);
	take_time(fake_cuda.script.load_ns);
	data.pCubin = module->image;
	data.cubinSize = module->size;
	fake_tell_resource(CUPTI_CBID_RESOURCE_MODULE_LOADED, module->context, NULL, &data);
}

/* As on an H200: the record is of what comes after the module is there. */
void fake_function_load(CUfunction function, CUcontext context)
{
	struct fake_activity overhead = {
		.kind = CUPTI_ACTIVITY_KIND_OVERHEAD,
		.subkind = CUPTI_ACTIVITY_OVERHEAD_LAZY_FUNCTION_LOADING,
		.context = context,
	};

	load(function->module);
	overhead.start_ns = fake_realtime_ns();
	overhead.end_ns = fake_realtime_ns() + 1;
	fake_tell(&overhead);
}

/* Where the variable of a module was that is gone: that of the next one lies there again. */
static _Atomic(void *) left_variable;

static void make_variable(CUmodule module)
{
	module->variable = atomic_exchange(&left_variable, NULL);
	if (!module->variable)
		(void)fake_allocate(sizeof(uint64_t), CUPTI_ACTIVITY_MEMORY_KIND_DEVICE,
		                    &module->variable);
	if (module->variable)
		memset(module->variable, 0, sizeof(uint64_t));
}

static CUresult load_data(CUmodule *module, const void *image)
{
	CUresult result = image ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	if (result == CUDA_SUCCESS && !is_cubin(image) && strstr(image, TIME_KERNEL))
		result = fake_usable_for(FAKE_CUDA_time_module);
	if (result == CUDA_SUCCESS) {
		CUmodule made = calloc(1, sizeof(*made));

		made->id = atomic_fetch_add(&last_module, 1) + 1;
		made->context = fake_context();
		made->size = size_of(image);
		/* The program may free it: what is loaded later is a copy. */
		made->image = memcpy(calloc(1, made->size + 1), image, made->size);
		if (!is_cubin(made->image) && strstr(made->image, VARIABLE))
			make_variable(made);
		*module = made;
		if (!fake_cuda.script.lazy)
			load(made);
	}
	return result;
}

static void log_image(const void *image)
{
	if (image && fake_calls_on())
		fake_calls_bytes(image, size_of(image));
}

CUresult cuModuleLoadData(CUmodule *module, const void *image)
{
	API_BEGIN(cuModuleLoadData, module, image);
	log_image(image);
	API_END(load_data(module, image));
}

/* Options for the compiler change nothing. */
CUresult cuModuleLoadDataEx(CUmodule *module, const void *image, unsigned int count,
                            CUjit_option *options, void **values)
{
	API_BEGIN(cuModuleLoadDataEx, module, image, count, options, values);
	log_image(image);
	fake_calls_options(count, options, values);
	API_END(load_data(module, image));
}

CUresult cuModuleUnload(CUmodule module)
{
	const CUresult result = module ? fake_usable() : CUDA_ERROR_INVALID_HANDLE;

	API_BEGIN(cuModuleUnload, module);
	if (result == CUDA_SUCCESS && atomic_load(&module->loaded)) {
		CUpti_ModuleResourceData data = {.moduleId = module->id};

		fake_tell_resource(CUPTI_CBID_RESOURCE_MODULE_UNLOAD_STARTING, module->context,
		                   NULL, &data);
	}
	if (result == CUDA_SUCCESS) {
		fake_variables_drop(module);
		if (module->variable)
			atomic_store(&left_variable, module->variable);
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

CUfunction fake_function(CUfunction handle)
{
	return (CUfunction)((uintptr_t)handle & ~(uintptr_t)1);
}

CUresult cuKernelGetFunction(CUfunction *function, CUkernel kernel)
{
	API_BEGIN(cuKernelGetFunction, function, kernel);
	if (!((uintptr_t)kernel & 1))
		API_END(CUDA_ERROR_INVALID_HANDLE);
	*function = fake_function((CUfunction)kernel);
	API_END(fake_usable());
}

CUresult cuFuncGetModule(CUmodule *module, CUfunction function)
{
	API_BEGIN(cuFuncGetModule, module, function);
	if ((uintptr_t)function & 1)
		API_END(CUDA_ERROR_INVALID_HANDLE);
	*module = function->module;
	API_END(fake_usable_for(FAKE_CUDA_function_module));
}

static CUresult find_global(CUmodule module, const char *name, CUdeviceptr *address, size_t *bytes)
{
	size_t size = sizeof(uint64_t);
	void *found = module->variable && strcmp(name, VARIABLE) == 0
	                      ? module->variable
	                      : fake_variable(module, name, &size);

	if (!found)
		return CUDA_ERROR_NOT_FOUND;
	if (address)
		*address = (CUdeviceptr)(uintptr_t)found;
	if (bytes)
		*bytes = size;
	return CUDA_SUCCESS;
}

CUresult cuModuleGetGlobal_v2(CUdeviceptr *address, size_t *bytes, CUmodule module,
                              const char *name)
{
	CUresult result = fake_usable_for(FAKE_CUDA_module_global);

	API_BEGIN(cuModuleGetGlobal_v2, address, bytes, module, name);
	if (result == CUDA_SUCCESS)
		result = find_global(module, name, address, bytes);
	API_END(result);
}

/* As it would run: it reads the clock a little after it began and a little before it ended. */
void fake_run_time_kernel(const struct fake_activity *kernel, void **arguments)
{
	enum { WITHIN_NS = 400, STEP_NS = 32 };
	uint64_t *left;

	if (strcmp(kernel->function->name, TIME_KERNEL) != 0 || !arguments)
		return;
	left = *(uint64_t **)arguments[0];
	left[0] = (kernel->start_ns + WITHIN_NS + fake_cuda.script.gpu_clock) / STEP_NS * STEP_NS;
	left[1] = (kernel->end_ns - WITHIN_NS + fake_cuda.script.gpu_clock) / STEP_NS * STEP_NS;
	left[2] = STEP_NS;
}

CUresult cuOccupancyMaxActiveBlocksPerMultiprocessor(int *blocks, CUfunction function, int threads,
                                                     size_t shared_bytes)
{
	CUresult result = function && threads > 0 ? fake_usable() : CUDA_ERROR_INVALID_VALUE;

	API_BEGIN(cuOccupancyMaxActiveBlocksPerMultiprocessor, blocks, function, threads,
	          shared_bytes);
	if (result == CUDA_SUCCESS)
		*blocks = 2048 / threads;
	API_END(result);
}

/* Values of an H200, and of a function that nobody has changed. */
static CUresult tell_attribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
	switch (attribute) {
	case CU_FUNC_ATTRIBUTE_NUM_REGS:
		*value = (int)function->registers;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_SHARED_SIZE_BYTES:
		*value = (int)function->shared_static_bytes;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_MAX_THREADS_PER_BLOCK:
		*value = 1024;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES:
		*value = 49152 - (int)function->shared_static_bytes;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_PREFERRED_SHARED_MEMORY_CARVEOUT:
		*value = -1;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_BINARY_VERSION:
		*value = 90;
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES:
		*value = (int)(fake_cuda.script.local_bytes / (strlen(function->name) % 2 ? 4 : 1));
		return CUDA_SUCCESS;
	case CU_FUNC_ATTRIBUTE_CONST_SIZE_BYTES:
	case CU_FUNC_ATTRIBUTE_CLUSTER_SIZE_MUST_BE_SET:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_WIDTH:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_HEIGHT:
	case CU_FUNC_ATTRIBUTE_REQUIRED_CLUSTER_DEPTH:
	case CU_FUNC_ATTRIBUTE_NON_PORTABLE_CLUSTER_SIZE_ALLOWED:
		*value = 0;
		return CUDA_SUCCESS;
	default:
		return CUDA_ERROR_INVALID_VALUE;
	}
}

CUresult cuFuncGetAttribute(int *value, CUfunction_attribute attribute, CUfunction function)
{
	CUresult result =
		function && !((uintptr_t)function & 1) ? fake_usable() : CUDA_ERROR_INVALID_HANDLE;

	API_BEGIN(cuFuncGetAttribute, value, attribute, function);
	if (result == CUDA_SUCCESS && fake_cuda.script.lazy)
		load(function->module);
	if (result == CUDA_SUCCESS)
		result = tell_attribute(value, attribute, function);
	API_END(result);
}

CUresult cuFuncSetAttribute(CUfunction function, CUfunction_attribute attribute, int value)
{
	CUresult result = function ? fake_usable() : CUDA_ERROR_INVALID_HANDLE;

	API_BEGIN(cuFuncSetAttribute, function, attribute, value);
	if (result == CUDA_SUCCESS &&
	    attribute == CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES &&
	    (value < 0 || (uint32_t)value + function->shared_static_bytes > 232448))
		result = CUDA_ERROR_INVALID_VALUE;
	API_END(result);
}
