/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A CUDA graph with a conditional node: its body runs as long as a kernel in it says so.
 * Usage: graph_while [ITERATIONS [LAUNCHES]]
 */
#include "samples/check.h"

__global__ void before(unsigned *left, unsigned iterations)
{
	*left = iterations;
}

__global__ void body(unsigned *left, unsigned *count, cudaGraphConditionalHandle handle)
{
	++*count;
	cudaGraphSetConditional(handle, --*left > 0);
}

int main(int argc, char **argv)
{
	const unsigned iterations = (unsigned)argument(argc, argv, 1, 37);
	const size_t launches = argument(argc, argv, 2, 10);
	cudaGraphNodeParams loop = {};
	cudaKernelNodeParams params = {};
	cudaGraphConditionalHandle handle;
	cudaGraph_t graph;
	cudaGraphExec_t exec;
	cudaGraphNode_t first, second;
	cudaStream_t stream;
	unsigned *memory, *left, *count;
	unsigned result;

	CHECK(cudaMalloc((void **)&memory, 2 * sizeof(unsigned)));
	CHECK(cudaMemset(memory, 0, 2 * sizeof(unsigned)));
	left = memory;
	count = memory + 1;
	CHECK(cudaStreamCreate(&stream));
	CHECK(cudaGraphCreate(&graph, 0));
	CHECK(cudaGraphConditionalHandleCreate(&handle, graph, 1, cudaGraphCondAssignDefault));

	unsigned asked = iterations;
	void *before_arguments[] = {&left, &asked};
	void *body_arguments[] = {&left, &count, &handle};

	params.gridDim = params.blockDim = dim3(1);
	params.func = (void *)before;
	params.kernelParams = before_arguments;
	CHECK(cudaGraphAddKernelNode(&first, graph, NULL, 0, &params));
	loop.type = cudaGraphNodeTypeConditional;
	loop.conditional.handle = handle;
	loop.conditional.type = cudaGraphCondTypeWhile;
	loop.conditional.size = 1;
#if CUDART_VERSION >= 13000
	CHECK(cudaGraphAddNode(&second, graph, &first, NULL, 1, &loop));
#else
	CHECK(cudaGraphAddNode(&second, graph, &first, 1, &loop));
#endif
	params.func = (void *)body;
	params.kernelParams = body_arguments;
	CHECK(cudaGraphAddKernelNode(&second, loop.conditional.phGraph_out[0], NULL, 0, &params));

	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	for (size_t i = 0; i < launches; i++)
		CHECK(cudaGraphLaunch(exec, stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaMemcpy(&result, count, sizeof(result), cudaMemcpyDeviceToHost));
	CHECK(cudaGraphExecDestroy(exec));
	CHECK(cudaGraphDestroy(graph));
	printf("iterations=%u\nlaunches=%zu\nbodies=%u\n", iterations, launches, result);
	return result != iterations * launches;
}
