/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that works on a thread whose stack is as small as one can be: launches, copies, ranges
 * and a graph. Says in one line of JSON how often.
 */
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>

enum { LAUNCHES = 100, BYTES = 4096 };

static CUcontext context;
static CUfunction kernel;
static unsigned char host[BYTES];

static void must(int done, const char *what)
{
	if (done)
		return;
	(void)fprintf(stderr, "app_small_stack: %s\n", what);
	exit(99);
}

#define MUST(call, ...) must(call(__VA_ARGS__) == CUDA_SUCCESS, #call)

static void copy(CUdeviceptr memory)
{
	const CUDA_MEMCPY2D rows = {.srcMemoryType = CU_MEMORYTYPE_HOST,
	                            .srcHost = host,
	                            .srcPitch = 64,
	                            .dstMemoryType = CU_MEMORYTYPE_DEVICE,
	                            .dstDevice = memory,
	                            .dstPitch = 64,
	                            .WidthInBytes = 32,
	                            .Height = 8};

	MUST(cuMemcpyHtoD, memory, host, BYTES);
	MUST(cuMemcpy2D, &rows);
	MUST(cuMemcpyDtoH, host, memory, BYTES);
}

static void *work(void *unused)
{
	CUdeviceptr memory;

	(void)unused;
	MUST(cuCtxSetCurrent, context);
	MUST(cuMemAlloc, &memory, BYTES);
	nvtxRangePushA("on a small stack");
	for (int i = 0; i < LAUNCHES; i++)
		MUST(cuLaunchKernel, kernel, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL);
	copy(memory);
	MUST(cuCtxSynchronize, );
	nvtxRangePop();
	MUST(cuMemFree, memory);
	return NULL;
}

int main(void)
{
	pthread_attr_t small;
	CUmodule module;
	pthread_t thread;

	nvtxInitialize(NULL); /* which takes more of a stack by itself */
	MUST(cuInit, 0);
	MUST(cuCtxCreate, &context, NULL, 0, 0);
	MUST(cuModuleLoadData, &module, "fake image");
	MUST(cuModuleGetFunction, &kernel, module, "work");
	must(pthread_attr_init(&small) == 0, "pthread_attr_init");
	must(pthread_attr_setstacksize(&small, (size_t)PTHREAD_STACK_MIN) == 0, "a small stack");
	must(pthread_create(&thread, &small, work, NULL) == 0, "pthread_create");
	must(pthread_join(thread, NULL) == 0, "pthread_join");
	printf("{\"launches\": %d, \"copies\": 3, \"ranges\": 1}\n", LAUNCHES);
	return 0;
}
