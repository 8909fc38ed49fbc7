/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that hangs until a line comes on its standard input: hangs
 * kernel|event|value|collective
 *
 * kernel: a kernel that spins, one behind it on its stream, and one on a stream of its own that
 * ends. event: a second stream waits for an event that was recorded behind the kernel that spins.
 * value: a stream waits for a value in memory that nobody writes, with a kernel behind the wait.
 * collective: a kernel of the name of NCCL's that spins, as if its second rank never came.
 * The main thread waits for the GPU in all of them, in a range "step".
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda.h>
#include <cuda_runtime.h>
#include <nvtx3/nvToolsExt.h>
#include <pthread.h>

static volatile unsigned *goes_on; /* memory of the host that the GPU sees */

static void must(cudaError_t error)
{
	if (error == cudaSuccess)
		return;
	fprintf(stderr, "hangs: %s\n", cudaGetErrorString(error));
	exit(1);
}

__global__ void spins(volatile unsigned *goes_on)
{
	while (*goes_on == 0)
		;
}

__global__ void ncclDevKernel_AllReduce_Sum_f32_RING_LL(volatile unsigned *goes_on)
{
	while (*goes_on == 0)
		;
}

__global__ void behind()
{
}

__global__ void ends()
{
}

static void *release(void *)
{
	char line[8];

	(void)!fgets(line, sizeof(line), stdin);
	*goes_on = 1;
	return NULL;
}

static cudaStream_t make_stream()
{
	cudaStream_t stream;

	must(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	return stream;
}

/* The runtime does not link against the driver's library: its function is asked for. */
static void wait_for_value(cudaStream_t stream, void *memory)
{
	decltype(&cuStreamWaitValue32) wait = NULL;
	cudaDriverEntryPointQueryResult found;

	must(cudaGetDriverEntryPointByVersion("cuStreamWaitValue32", (void **)&wait, 12000,
	                                      cudaEnableDefault, &found));
	if (!wait || wait(stream, (CUdeviceptr)memory, 1, CU_STREAM_WAIT_VALUE_GEQ) != CUDA_SUCCESS)
		exit(1);
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	cudaStream_t first, second;
	cudaEvent_t event;
	pthread_t thread;
	unsigned *memory;

	must(cudaHostAlloc((void **)&goes_on, sizeof(*goes_on), cudaHostAllocMapped));
	*goes_on = 0;
	must(cudaHostGetDevicePointer((void **)&memory, (void *)goes_on, 0));
	first = make_stream();
	second = make_stream();
	must(cudaEventCreate(&event));
	/* Lazily loaded kernels would wait for the one that spins. */
	ends<<<1, 1, 0, second>>>();
	behind<<<1, 1, 0, second>>>();
	must(cudaStreamSynchronize(second));
	pthread_create(&thread, NULL, release, NULL);
	nvtxRangePushA("step");
	if (strcmp(what, "collective") == 0)
		ncclDevKernel_AllReduce_Sum_f32_RING_LL<<<1, 1, 0, first>>>(memory);
	else if (strcmp(what, "value") == 0)
		wait_for_value(first, memory);
	else
		spins<<<1, 1, 0, first>>>(memory);
	if (strcmp(what, "event") == 0) {
		must(cudaEventRecord(event, first));
		must(cudaStreamWaitEvent(second, event, 0));
		behind<<<1, 1, 0, second>>>();
	} else {
		behind<<<1, 1, 0, first>>>();
		ends<<<1, 1, 0, second>>>();
	}
	must(cudaDeviceSynchronize());
	nvtxRangePop();
	pthread_join(thread, NULL);
	return 0;
}
