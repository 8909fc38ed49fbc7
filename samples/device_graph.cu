/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that write events as nodes of a CUDA graph, the same kernel twice in each launch with
 * another argument, and then on two streams at the same time. To be recorded with `gputrace run
 * --device-events`. Usage: device_graph [LAUNCHES]
 */
#include "include/gputrace/device.cuh"
#include "samples/check.h"
#include "samples/spend.cuh"

enum { BLOCKS = 4, THREADS = 64, WORK_NS = 20000 };

GPUTRACE_DEVICE_NAME(part, "part");
GPUTRACE_DEVICE_NAME(which, "which");

/* number: of the launch's kind, which each block tells. */
__global__ void numbered(long long number, unsigned long long *blocks_done)
{
	gputrace::writer events(gputrace::leader::block);

	events.value(which, number);
	{
		gputrace::range range(events, part);

		spend(WORK_NS);
	}
	if (threadIdx.x == 0)
		atomicAdd(blocks_done, 1ull);
}

int main(int argc, char **argv)
{
	const size_t launches = argument(argc, argv, 1, 20);
	unsigned long long *done;
	unsigned long long result;
	cudaStream_t streams[2];
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	CHECK(cudaMalloc((void **)&done, sizeof(*done)));
	CHECK(cudaMemset(done, 0, sizeof(*done)));
	for (int i = 0; i < 2; i++)
		CHECK(cudaStreamCreateWithFlags(&streams[i], cudaStreamNonBlocking));
	/* the first launch of the function is one that is captured */
	CHECK(cudaStreamBeginCapture(streams[0], cudaStreamCaptureModeGlobal));
	numbered<<<BLOCKS, THREADS, 0, streams[0]>>>(1, done);
	numbered<<<BLOCKS, THREADS, 0, streams[0]>>>(2, done);
	CHECK(cudaStreamEndCapture(streams[0], &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaDeviceSynchronize());
	for (size_t i = 0; i < launches; i++)
		CHECK(cudaGraphLaunch(exec, streams[0]));
	CHECK(cudaDeviceSynchronize());
	for (size_t i = 0; i < launches; i++)
		for (int stream = 0; stream < 2; stream++)
			numbered<<<BLOCKS, THREADS, 0, streams[stream]>>>(3 + stream, done);
	CHECK(cudaGetLastError());
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(&result, done, sizeof(result), cudaMemcpyDeviceToHost));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	for (int i = 0; i < 2; i++)
		CHECK(cudaStreamDestroy(streams[i]));
	CHECK(cudaFree(done));
	printf("launches=%zu\nkernels=%zu\nblocks=%d\nwork_ns=%d\n", launches, 4 * launches, BLOCKS,
	       WORK_NS);
	printf("rows=%zu\nevents=%zu\n", 4 * launches * BLOCKS * 2, 4 * launches * BLOCKS * 3);
	return result != 4 * launches * BLOCKS;
}
