/* SPDX-License-Identifier: Apache-2.0 */
#include <stddef.h>

#include <cuda.h>
#include <nvtx3/nvToolsExt.h>

/*
 * The stub of PyTorch in tests/python loads this to call NVTX and to launch kernels in earnest,
 * without CUDA's runtime. One thread at a time.
 */

int nvtx_torch_push(const char *text);
int nvtx_torch_pop(void);
unsigned long long nvtx_torch_start(const char *text);
void nvtx_torch_end(unsigned long long range);
int nvtx_torch_launch(const char *kernel);

int nvtx_torch_push(const char *text)
{
	return nvtxRangePushA(text);
}

int nvtx_torch_pop(void)
{
	return nvtxRangePop();
}

unsigned long long nvtx_torch_start(const char *text)
{
	return nvtxRangeStartA(text);
}

void nvtx_torch_end(unsigned long long range)
{
	nvtxRangeEnd(range);
}

/* Starts CUDA the first time; the context becomes that of the thread. */
int nvtx_torch_launch(const char *kernel)
{
	static CUcontext context;
	static CUmodule module;
	CUfunction function;
	int failed = 0;

	if (!context)
		failed = cuInit(0) || cuCtxCreate(&context, NULL, 0, 0) ||
		         cuModuleLoadData(&module, "fake image");
	failed = failed || cuCtxSetCurrent(context) ||
	         cuModuleGetFunction(&function, module, kernel) ||
	         cuLaunchKernel(function, 1, 1, 1, 32, 1, 1, 0, NULL, NULL, NULL) ||
	         cuCtxSynchronize();
	return failed ? -1 : 0;
}
