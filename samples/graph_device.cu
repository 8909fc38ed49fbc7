/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA graph that a kernel in another graph launches, without the host. Usage: graph_device
 * [LAUNCHES]
 */
#include "samples/check.h"

__global__ void launched(unsigned *count)
{
	atomicAdd(count, 1);
}

__global__ void launcher(cudaGraphExec_t exec)
{
	cudaGraphLaunch(exec, cudaStreamGraphFireAndForget);
}

static cudaStream_t stream;

/* The graph of what is captured meanwhile. */
static cudaGraph_t end_capture(void)
{
	cudaGraph_t graph;

	CHECK(cudaGetLastError());
	CHECK(cudaStreamEndCapture(stream, &graph));
	return graph;
}

int main(int argc, char **argv)
{
	const size_t launches = argument(argc, argv, 1, 10);
	cudaGraphExec_t inner, outer;
	cudaGraph_t graph;
	unsigned *count;
	unsigned result;

	CHECK(cudaMalloc((void **)&count, sizeof(*count)));
	CHECK(cudaMemset(count, 0, sizeof(*count)));
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	launched<<<1, 1, 0, stream>>>(count);
	graph = end_capture();
	CHECK(cudaGraphInstantiate(&inner, graph, cudaGraphInstantiateFlagDeviceLaunch));
	CHECK(cudaGraphUpload(inner, stream));
	CHECK(cudaGraphDestroy(graph));
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	launcher<<<1, 1, 0, stream>>>(inner);
	graph = end_capture();
	CHECK(cudaGraphInstantiate(&outer, graph, 0));
	for (size_t i = 0; i < launches; i++) {
		CHECK(cudaGraphLaunch(outer, stream));
		CHECK(cudaStreamSynchronize(stream)); /* one of a graph runs at a time */
	}
	CHECK(cudaMemcpy(&result, count, sizeof(result), cudaMemcpyDeviceToHost));
	CHECK(cudaGraphExecDestroy(outer));
	CHECK(cudaGraphExecDestroy(inner));
	CHECK(cudaGraphDestroy(graph));
	printf("launches=%zu\nlaunched=%u\n", launches, result);
	return result != launches;
}
