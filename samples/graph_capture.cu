/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA graph that several threads capture into one stream, one after the other, while work
 * forks into a second stream and comes back. Usage: graph_capture [THREADS [NODES [LAUNCHES]]]
 */
#include <thread>

#include "samples/check.h"

__global__ void captured(unsigned *count)
{
	atomicAdd(count, 1);
}

__global__ void aside(unsigned *count)
{
	atomicAdd(count, 1);
}

static cudaStream_t stream, side;
static unsigned *count; /* [0]: of captured, [1]: of aside */

static void capture(size_t nodes)
{
	for (size_t i = 0; i < nodes; i++)
		captured<<<1, 1, 0, stream>>>(count);
	CHECK(cudaGetLastError());
}

int main(int argc, char **argv)
{
	const size_t threads = argument(argc, argv, 1, 3);
	const size_t nodes = argument(argc, argv, 2, 4);
	const size_t launches = argument(argc, argv, 3, 10);
	unsigned result[2];
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaEvent_t forked, joined;

	CHECK(cudaMalloc((void **)&count, sizeof(result)));
	CHECK(cudaMemset(count, 0, sizeof(result)));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaStreamCreateWithFlags(&side, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&forked, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&joined, cudaEventDisableTiming));

	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	capture(nodes);
	CHECK(cudaEventRecord(forked, stream));
	CHECK(cudaStreamWaitEvent(side, forked, 0));
	aside<<<1, 1, 0, side>>>(count + 1);
	CHECK(cudaGetLastError());
	for (size_t i = 1; i < threads; i++)
		std::thread(capture, nodes).join();
	CHECK(cudaEventRecord(joined, side));
	CHECK(cudaStreamWaitEvent(stream, joined, 0));
	CHECK(cudaStreamEndCapture(stream, &graph));

	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (size_t i = 0; i < launches; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	captured<<<1, 1, 0, stream>>>(count); /* the same kernel alone */
	CHECK(cudaGetLastError());
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaMemcpy(result, count, sizeof(result), cudaMemcpyDeviceToHost));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	printf("threads=%zu\nnodes=%zu\nlaunches=%zu\ncaptured=%u\naside=%u\n", threads,
	       threads * nodes + 1, launches, result[0], result[1]);
	return result[0] != threads * nodes * launches + 1 || result[1] != launches;
}
