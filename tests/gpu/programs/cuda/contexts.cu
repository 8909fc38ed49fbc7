/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that uses several contexts of one GPU: the primary one, through the runtime, on the
 * main thread, and two of the driver API, each on a thread of its own. Every context launches the
 * same kernel another number of times, on a stream of its own and on its default stream. Prints
 * key=value lines of what it did.
 */
#include <cstdio>
#include <cstdlib>
#include <thread>

#include <cuda.h>
#include <cuda_runtime.h>
#include <dlfcn.h>

static __global__ void add_one(int *numbers, int count)
{
	for (int i = (int)(blockIdx.x * blockDim.x + threadIdx.x); i < count;
	     i += (int)(gridDim.x * blockDim.x))
		numbers[i] += 1;
}

#define MUST(call)                                                                                 \
	do {                                                                                       \
		const int result = (int)(call);                                                    \
		if (result != 0) {                                                                 \
			fprintf(stderr, "%s: error %d\n", #call, result);                          \
			exit(1);                                                                   \
		}                                                                                  \
	} while (0)

enum { COUNT = 1 << 20 };

/* The machine that builds this need not have a driver. */
template <typename Function> static Function *driver_function(const char *name)
{
	static void *const driver = dlopen("libcuda.so.1", RTLD_NOW);
	void *const found = driver ? dlsym(driver, name) : NULL;

	if (!found) {
		fprintf(stderr, "the driver has no %s\n", name);
		exit(1);
	}
	return (Function *)found;
}

/* In the context that is current on this thread; returns how often the numbers were added to. */
static int work(int launches)
{
	int *numbers = NULL;
	int seen = 0;
	cudaStream_t stream;

	MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	MUST(cudaMalloc(&numbers, COUNT * sizeof(*numbers)));
	MUST(cudaMemset(numbers, 0, COUNT * sizeof(*numbers)));
	MUST(cudaDeviceSynchronize());
	for (int i = 0; i < launches; i++)
		add_one<<<64, 256, 0, stream>>>(numbers, COUNT);
	MUST(cudaStreamSynchronize(stream));
	add_one<<<64, 256>>>(numbers, COUNT);
	MUST(cudaMemcpy(&seen, numbers, sizeof(seen), cudaMemcpyDeviceToHost));
	MUST(cudaFree(numbers));
	MUST(cudaStreamDestroy(stream));
	return seen;
}

static void work_in_context(int launches, int *seen)
{
	CUcontext context;

	MUST(driver_function<CUresult(CUcontext *, unsigned, CUdevice)>("cuCtxCreate_v2")(&context,
	                                                                                  0, 0));
	*seen = work(launches);
	MUST(driver_function<CUresult(CUcontext)>("cuCtxDestroy_v2")(context));
}

int main()
{
	int seen[3] = {0};

	MUST(driver_function<CUresult(unsigned)>("cuInit")(0));
	std::thread first(work_in_context, 10, &seen[1]);
	std::thread second(work_in_context, 20, &seen[2]);

	seen[0] = work(40);
	first.join();
	second.join();
	MUST(cudaDeviceReset());
	printf("contexts=3\nkernels=%d\ncopies=3\nfills=3\nright=%d\n", 10 + 20 + 40 + 3,
	       seen[0] == 41 && seen[1] == 11 && seen[2] == 21);
	return 0;
}
