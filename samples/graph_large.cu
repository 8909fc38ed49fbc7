/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA graph of many kernels in a row, launched often. Usage: graph_large [NODES [LAUNCHES]]
 */
#include "samples/check.h"

__global__ void node(unsigned *count)
{
	++*count;
}

int main(int argc, char **argv)
{
	const size_t nodes = argument(argc, argv, 1, 1000);
	const size_t launches = argument(argc, argv, 2, 1000);
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaStream_t stream;
	cudaEvent_t start, stop;
	unsigned *count;
	unsigned result;
	float ms = 0;

	CHECK(cudaMalloc((void **)&count, sizeof(*count)));
	CHECK(cudaMemset(count, 0, sizeof(*count)));
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaEventCreate(&start));
	CHECK(cudaEventCreate(&stop));
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (size_t i = 0; i < nodes; i++)
		node<<<1, 1, 0, stream>>>(count);
	CHECK(cudaGetLastError());
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphUpload(exec, stream));
	CHECK(cudaEventRecord(start, stream));
	for (size_t i = 0; i < launches; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaEventRecord(stop, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaEventElapsedTime(&ms, start, stop));
	CHECK(cudaMemcpy(&result, count, sizeof(result), cudaMemcpyDeviceToHost));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	printf("nodes=%zu\nlaunches=%zu\nkernels=%u\nus_per_launch=%.3f us\n", nodes, launches,
	       result, (double)ms * 1e3 / (double)launches);
	return result != nodes * launches;
}
