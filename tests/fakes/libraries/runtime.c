/* SPDX-License-Identifier: Apache-2.0 */
#include "fakes/libraries/runtime.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>

#include "fakes/fake.h"

#define RUNTIME_BEGIN(function, version, ...)                                                      \
	function##_##version##_params params = {__VA_ARGS__};                                      \
	struct fake_call call;                                                                     \
	fake_cuda_enter(&call, CUPTI_CB_DOMAIN_RUNTIME_API,                                        \
	                CUPTI_RUNTIME_TRACE_CBID_##function##_##version, #function, &params, NULL)
#define RUNTIME_BEGIN_PLAIN(function, version)                                                     \
	struct fake_call call;                                                                     \
	fake_cuda_enter(&call, CUPTI_CB_DOMAIN_RUNTIME_API,                                        \
	                CUPTI_RUNTIME_TRACE_CBID_##function##_##version, #function, NULL, NULL)
#define RUNTIME_END(result) return (cudaError_t)fake_cuda_exit(&call, (int)(result))

static pthread_once_t once = PTHREAD_ONCE_INIT;
static CUresult begun;
static CUmodule module;
static CUcontext primary;
static _Thread_local cudaError_t last_error;

static void begin(void)
{
	begun = cuInit(0);
	if (begun == CUDA_SUCCESS)
		begun = cuDevicePrimaryCtxRetain(&primary, 0);
	if (begun == CUDA_SUCCESS)
		begun = cuCtxSetCurrent(primary);
	if (begun == CUDA_SUCCESS)
		begun = cuModuleLoadData(&module, "fake fatbin");
}

/* The runtime takes the primary context on the first call, on every thread. */
static CUresult ready(void)
{
	static _Thread_local int bound;

	(void)pthread_once(&once, begin);
	if (begun == CUDA_SUCCESS && !bound) {
		begun = cuCtxSetCurrent(primary);
		bound = 1;
	}
	return begun;
}

/* The values of CUresult are those of cudaError_t wherever both have a name for it. */
static cudaError_t keep(CUresult result)
{
	if (result != CUDA_SUCCESS)
		last_error = (cudaError_t)result;
	return (cudaError_t)result;
}

cudaError_t cudaSetDevice(int device)
{
	RUNTIME_BEGIN(cudaSetDevice, v3020, device);
	RUNTIME_END(keep(ready()));
}

cudaError_t cudaGetLastError(void)
{
	const cudaError_t error = last_error;

	RUNTIME_BEGIN_PLAIN(cudaGetLastError, v3020);
	last_error = cudaSuccess;
	RUNTIME_END(error);
}

cudaError_t cudaMalloc(void **address, size_t size)
{
	CUresult result;

	RUNTIME_BEGIN(cudaMalloc, v3020, address, size);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuMemAlloc((CUdeviceptr *)(void *)address, size);
	RUNTIME_END(keep(result));
}

cudaError_t cudaFree(void *address)
{
	CUresult result;

	RUNTIME_BEGIN(cudaFree, v3020, address);
	result = ready();
	if (result == CUDA_SUCCESS && address)
		result = cuMemFree((CUdeviceptr)(uintptr_t)address);
	RUNTIME_END(keep(result));
}

cudaError_t cudaMallocHost(void **address, size_t size)
{
	CUresult result;

	RUNTIME_BEGIN(cudaMallocHost, v3020, address, size);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuMemAllocHost(address, size);
	RUNTIME_END(keep(result));
}

cudaError_t cudaFreeHost(void *address)
{
	CUresult result;

	RUNTIME_BEGIN(cudaFreeHost, v3020, address);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuMemFreeHost(address);
	RUNTIME_END(keep(result));
}

static CUresult copy(void *target, const void *source, size_t size, enum cudaMemcpyKind kind,
                     cudaStream_t stream, int async)
{
	const CUdeviceptr to = (CUdeviceptr)(uintptr_t)target;
	const CUdeviceptr from = (CUdeviceptr)(uintptr_t)source;

	if (kind == cudaMemcpyHostToDevice)
		return async ? cuMemcpyHtoDAsync(to, source, size, stream)
		             : cuMemcpyHtoD(to, source, size);
	if (kind == cudaMemcpyDeviceToHost)
		return async ? cuMemcpyDtoHAsync(target, from, size, stream)
		             : cuMemcpyDtoH(target, from, size);
	if (kind == cudaMemcpyDeviceToDevice)
		return async ? cuMemcpyDtoDAsync(to, from, size, stream)
		             : cuMemcpyDtoD(to, from, size);
	return (CUresult)cudaErrorInvalidMemcpyDirection;
}

cudaError_t cudaMemcpy(void *target, const void *source, size_t size, enum cudaMemcpyKind kind)
{
	CUresult result;

	RUNTIME_BEGIN(cudaMemcpy, v3020, target, source, size, kind);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = copy(target, source, size, kind, NULL, 0);
	RUNTIME_END(keep(result));
}

cudaError_t cudaMemcpyAsync(void *target, const void *source, size_t size, enum cudaMemcpyKind kind,
                            cudaStream_t stream)
{
	CUresult result;

	RUNTIME_BEGIN(cudaMemcpyAsync, v3020, target, source, size, kind, stream);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = copy(target, source, size, kind, stream, 1);
	RUNTIME_END(keep(result));
}

/* 0: there is no such variable. */
static CUdeviceptr address_of(const void *symbol)
{
	const struct fake_symbol *variable = symbol;
	CUdeviceptr address = 0;
	size_t size;

	(void)cuModuleGetGlobal(&address, &size, variable->module, variable->name);
	return address;
}

cudaError_t cudaGetSymbolAddress(void **address, const void *symbol)
{
	CUresult result;

	RUNTIME_BEGIN(cudaGetSymbolAddress, v3020, address, symbol);
	result = ready();
	if (result == CUDA_SUCCESS)
		*address = (void *)(uintptr_t)address_of(symbol);
	RUNTIME_END(keep(result));
}

cudaError_t cudaMemcpyToSymbolAsync(const void *symbol, const void *source, size_t size,
                                    size_t offset, enum cudaMemcpyKind kind, cudaStream_t stream)
{
	CUresult result;

	RUNTIME_BEGIN(cudaMemcpyToSymbolAsync, v3020, symbol, source, size, offset, kind, stream);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = copy((char *)(uintptr_t)address_of(symbol) + offset, source, size, kind,
		              stream, 1);
	RUNTIME_END(keep(result));
}

cudaError_t cudaMemcpyFromSymbol(void *target, const void *symbol, size_t size, size_t offset,
                                 enum cudaMemcpyKind kind)
{
	CUresult result;

	RUNTIME_BEGIN(cudaMemcpyFromSymbol, v3020, target, symbol, size, offset, kind);
	result = ready();
	if (result == CUDA_SUCCESS && !((const struct fake_symbol *)symbol)->module)
		memset(target, 0, size);
	else if (result == CUDA_SUCCESS)
		result = copy(target, (const char *)(uintptr_t)address_of(symbol) + offset, size,
		              kind, NULL, 0);
	RUNTIME_END(keep(result));
}

cudaError_t cudaMemset(void *target, int value, size_t size)
{
	CUresult result;

	RUNTIME_BEGIN(cudaMemset, v3020, target, value, size);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuMemsetD8((CUdeviceptr)(uintptr_t)target, (unsigned char)value, size);
	RUNTIME_END(keep(result));
}

cudaError_t cudaMemset3DAsync(struct cudaPitchedPtr target, int value, struct cudaExtent extent,
                              cudaStream_t stream)
{
	const size_t slice = target.pitch * target.ysize;
	CUresult result;

	RUNTIME_BEGIN(cudaMemset3DAsync, v3020, target, value, extent, stream);
	result = ready();
	for (size_t i = 0; i < extent.depth && result == CUDA_SUCCESS; i++)
		result = cuMemsetD2D8Async((CUdeviceptr)(uintptr_t)target.ptr + i * slice,
		                           target.pitch, (unsigned char)value, extent.width,
		                           extent.height, stream);
	RUNTIME_END(keep(result));
}

cudaError_t cudaLaunchKernel(const void *name, dim3 grid, dim3 block, void **arguments,
                             size_t shared_bytes, cudaStream_t stream)
{
	cudaLaunchKernel_v7000_params params = {name, grid, block, arguments, shared_bytes, stream};
	CUfunction function = NULL;
	struct fake_call call;
	CUresult result;

	fake_cuda_enter(&call, CUPTI_CB_DOMAIN_RUNTIME_API,
	                CUPTI_RUNTIME_TRACE_CBID_cudaLaunchKernel_v7000, "cudaLaunchKernel",
	                &params, name);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuModuleGetFunction(&function, module, name);
	if (result == CUDA_SUCCESS)
		result = cuLaunchKernel(function, grid.x, grid.y, grid.z, block.x, block.y, block.z,
		                        (unsigned)shared_bytes, stream, arguments, NULL);
	if (function && result == CUDA_ERROR_INVALID_VALUE)
		result = (CUresult)cudaErrorInvalidConfiguration;
	RUNTIME_END(keep(result));
}

cudaError_t cudaDeviceSynchronize(void)
{
	CUresult result;

	RUNTIME_BEGIN_PLAIN(cudaDeviceSynchronize, v3020);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuCtxSynchronize();
	RUNTIME_END(keep(result));
}

cudaError_t cudaProfilerStart(void)
{
	CUresult result;

	RUNTIME_BEGIN_PLAIN(cudaProfilerStart, v4000);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuProfilerStart();
	RUNTIME_END(keep(result));
}

cudaError_t cudaProfilerStop(void)
{
	CUresult result;

	RUNTIME_BEGIN_PLAIN(cudaProfilerStop, v4000);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuProfilerStop();
	RUNTIME_END(keep(result));
}

cudaError_t cudaStreamCreate(cudaStream_t *stream)
{
	CUresult result;

	RUNTIME_BEGIN(cudaStreamCreate, v3020, stream);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuStreamCreate(stream, CU_STREAM_DEFAULT);
	RUNTIME_END(keep(result));
}

cudaError_t cudaStreamSynchronize(cudaStream_t stream)
{
	CUresult result;

	RUNTIME_BEGIN(cudaStreamSynchronize, v3020, stream);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuStreamSynchronize(stream);
	RUNTIME_END(keep(result));
}

cudaError_t cudaStreamDestroy(cudaStream_t stream)
{
	CUresult result;

	RUNTIME_BEGIN(cudaStreamDestroy, v5050, stream);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuStreamDestroy(stream);
	RUNTIME_END(keep(result));
}

cudaError_t cudaStreamCreateWithFlags(cudaStream_t *stream, unsigned int flags)
{
	CUresult result;

	RUNTIME_BEGIN(cudaStreamCreateWithFlags, v5000, stream, flags);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuStreamCreate(stream, flags);
	RUNTIME_END(keep(result));
}

/* That work is not done yet is an answer, not an error to keep. */
static cudaError_t keep_unless_busy(CUresult result)
{
	return result == CUDA_ERROR_NOT_READY ? cudaErrorNotReady : keep(result);
}

cudaError_t cudaStreamQuery(cudaStream_t stream)
{
	CUresult result;

	RUNTIME_BEGIN(cudaStreamQuery, v3020, stream);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuStreamQuery(stream);
	RUNTIME_END(keep_unless_busy(result));
}

cudaError_t cudaStreamWaitEvent(cudaStream_t stream, cudaEvent_t event, unsigned int flags)
{
	CUresult result;

	RUNTIME_BEGIN(cudaStreamWaitEvent, v3020, stream, event, flags);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuStreamWaitEvent(stream, event, flags);
	RUNTIME_END(keep(result));
}

cudaError_t cudaStreamBeginCapture(cudaStream_t stream, enum cudaStreamCaptureMode mode)
{
	CUresult result;

	RUNTIME_BEGIN(cudaStreamBeginCapture, v10000, stream, mode);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuStreamBeginCapture(stream, (CUstreamCaptureMode)mode);
	RUNTIME_END(keep(result));
}

cudaError_t cudaStreamEndCapture(cudaStream_t stream, cudaGraph_t *graph)
{
	CUresult result;

	RUNTIME_BEGIN(cudaStreamEndCapture, v10000, stream, graph);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuStreamEndCapture(stream, graph);
	RUNTIME_END(keep(result));
}

cudaError_t cudaGraphInstantiateWithFlags(cudaGraphExec_t *exec, cudaGraph_t graph,
                                          unsigned long long flags)
{
	CUresult result;

	RUNTIME_BEGIN(cudaGraphInstantiateWithFlags, v11040, exec, graph, flags);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuGraphInstantiateWithFlags(exec, graph, flags);
	RUNTIME_END(keep(result));
}

cudaError_t cudaGraphLaunch(cudaGraphExec_t exec, cudaStream_t stream)
{
	CUresult result;

	RUNTIME_BEGIN(cudaGraphLaunch, v10000, exec, stream);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuGraphLaunch(exec, stream);
	RUNTIME_END(keep(result));
}

cudaError_t cudaLaunchHostFunc(cudaStream_t stream, cudaHostFn_t function, void *data)
{
	CUresult result;

	RUNTIME_BEGIN(cudaLaunchHostFunc, v10000, stream, function, data);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuLaunchHostFunc(stream, function, data);
	RUNTIME_END(keep(result));
}

cudaError_t cudaEventCreate(cudaEvent_t *event)
{
	CUresult result;

	RUNTIME_BEGIN(cudaEventCreate, v3020, event);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuEventCreate(event, CU_EVENT_DEFAULT);
	RUNTIME_END(keep(result));
}

cudaError_t cudaEventCreateWithFlags(cudaEvent_t *event, unsigned int flags)
{
	CUresult result;

	RUNTIME_BEGIN(cudaEventCreateWithFlags, v3020, event, flags);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuEventCreate(event, flags);
	RUNTIME_END(keep(result));
}

cudaError_t cudaIpcGetEventHandle(cudaIpcEventHandle_t *handle, cudaEvent_t event)
{
	CUresult result;

	RUNTIME_BEGIN(cudaIpcGetEventHandle, v4010, handle, event);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuIpcGetEventHandle((CUipcEventHandle *)handle, event);
	RUNTIME_END(keep(result));
}

cudaError_t cudaIpcOpenEventHandle(cudaEvent_t *event, cudaIpcEventHandle_t handle)
{
	CUipcEventHandle given;
	CUresult result;

	RUNTIME_BEGIN(cudaIpcOpenEventHandle, v4010, event, handle);
	result = ready();
	memcpy(&given, &handle, sizeof(given));
	if (result == CUDA_SUCCESS)
		result = cuIpcOpenEventHandle(event, given);
	RUNTIME_END(keep(result));
}

cudaError_t cudaEventRecord(cudaEvent_t event, cudaStream_t stream)
{
	CUresult result;

	RUNTIME_BEGIN(cudaEventRecord, v3020, event, stream);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuEventRecord(event, stream);
	RUNTIME_END(keep(result));
}

cudaError_t cudaEventSynchronize(cudaEvent_t event)
{
	CUresult result;

	RUNTIME_BEGIN(cudaEventSynchronize, v3020, event);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuEventSynchronize(event);
	RUNTIME_END(keep(result));
}

cudaError_t cudaEventQuery(cudaEvent_t event)
{
	CUresult result;

	RUNTIME_BEGIN(cudaEventQuery, v3020, event);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuEventQuery(event);
	RUNTIME_END(keep_unless_busy(result));
}

cudaError_t cudaEventElapsedTime(float *milliseconds, cudaEvent_t start, cudaEvent_t end)
{
	CUresult result;

	RUNTIME_BEGIN(cudaEventElapsedTime, v12080, milliseconds, start, end);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuEventElapsedTime(milliseconds, start, end);
	RUNTIME_END(keep_unless_busy(result));
}

cudaError_t cudaEventDestroy(cudaEvent_t event)
{
	CUresult result;

	RUNTIME_BEGIN(cudaEventDestroy, v3020, event);
	result = ready();
	if (result == CUDA_SUCCESS)
		result = cuEventDestroy(event);
	RUNTIME_END(keep(result));
}
