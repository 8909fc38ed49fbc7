/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Uses of NVTX in a program: ranges pushed and popped, or started on one thread and ended
 * on another, marks, in two domains; categories, colors and numbers with them; texts of all kinds;
 * names of a thread, the device, the context, a stream and an event. Kernels are launched inside.
 * Usage: nvtx_ranges [STEPS]
 */
#include <cuda.h>
#include <dlfcn.h>
#include <nvtx3/nvToolsExt.h>
#include <nvtx3/nvToolsExtCuda.h>
#include <nvtx3/nvToolsExtCudaRt.h>
#include <pthread.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "samples/check.h"

static size_t calls; /* of NVTX, on one thread at a time */

#define CALL(...) (calls++, __VA_ARGS__)

__global__ void forward(float *values)
{
	values[threadIdx.x] += 1;
}

__global__ void backward(float *values)
{
	values[threadIdx.x] -= 1;
}

struct program {
	cudaStream_t stream;
	cudaEvent_t done;
	float *values;
	nvtxDomainHandle_t library;
	nvtxStringHandle_t backward;
	nvtxRangeId_t request;
};

static nvtxEventAttributes_t attributes(void)
{
	nvtxEventAttributes_t event = {};

	event.version = NVTX_VERSION;
	event.size = NVTX_EVENT_ATTRIB_STRUCT_SIZE;
	return event;
}

/* The driver's API is there, but the sample is not linked with it. */
static CUcontext current_context(void)
{
	CUresult (*get)(CUcontext *) = NULL;
	void *driver = dlopen("libcuda.so.1", RTLD_LAZY);
	CUcontext context = NULL;

	if (driver)
		*(void **)&get = dlsym(driver, "cuCtxGetCurrent");
	if (get)
		get(&context);
	return context;
}

static void give_names(struct program *program)
{
	int device;

	CHECK(cudaGetDevice(&device));
	CALL(nvtxNameOsThreadA((uint32_t)syscall(SYS_gettid), "steps"));
	CALL(nvtxNameCudaDeviceA(device, "the only one"));
	CALL(nvtxNameCuContextA(current_context(), "of the sample"));
	CALL(nvtxNameCudaStreamA(program->stream, "work"));
	CALL(nvtxNameCudaEventA(program->done, "step done"));
	CALL(nvtxNameCategoryA(7, "steps"));
	program->library = CALL(nvtxDomainCreateW(L"library"));
	program->backward = CALL(nvtxDomainRegisterStringA(program->library, "backward"));
	CALL(nvtxDomainNameCategoryW(program->library, 7, L"gradients"));
}

static void *end_request(void *context)
{
	CALL(nvtxRangeEnd(((struct program *)context)->request));
	return NULL;
}

static void step(struct program *program, size_t number)
{
	nvtxEventAttributes_t event = attributes();
	pthread_t thread;

	program->request = CALL(nvtxRangeStartA("request"));
	event.category = 7;
	event.colorType = NVTX_COLOR_ARGB;
	event.color = 0xff2080ff;
	event.payloadType = NVTX_PAYLOAD_TYPE_UNSIGNED_INT64;
	event.payload.ullValue = number;
	event.messageType = NVTX_MESSAGE_TYPE_ASCII;
	event.message.ascii = "step";
	CALL(nvtxRangePushEx(&event));
	CALL(nvtxRangePushW(L"forward"));
	forward<<<1, 32, 0, program->stream>>>(program->values);
	CALL(nvtxRangePop());
	event.messageType = NVTX_MESSAGE_TYPE_REGISTERED;
	event.message.registered = program->backward;
	CALL(nvtxDomainRangePushEx(program->library, &event));
	backward<<<1, 32, 0, program->stream>>>(program->values);
	CHECK(cudaEventRecord(program->done, program->stream));
	CALL(nvtxDomainRangePop(program->library));
	CALL(nvtxMarkA("launched"));
	CHECK(cudaEventSynchronize(program->done));
	CALL(nvtxRangePop());
	if (pthread_create(&thread, NULL, end_request, program) == 0)
		pthread_join(thread, NULL);
}

int main(int argc, char **argv)
{
	const size_t steps = argument(argc, argv, 1, 50);
	struct program program = {};

	CALL(nvtxRangePushA("before CUDA"));
	CHECK(cudaMalloc((void **)&program.values, 32 * sizeof(float)));
	CHECK(cudaStreamCreate(&program.stream));
	CHECK(cudaEventCreate(&program.done));
	CALL(nvtxRangePop());
	give_names(&program);
	for (size_t i = 0; i < steps; i++)
		step(&program, i);
	CHECK(cudaFree(program.values));
	printf("steps=%zu\ncalls=%zu\n", steps, calls);
	return 0;
}
