/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches a graph of empty kernels over and over; prints, as one line of JSON, how long a launch
 * of it takes, the kernels' run included.
 *   graph_launch [--kernels N] [--width N] [--seconds SECONDS] [--mode base]
 *
 * It measures as blocks.cuh says. An iteration is a launch of the graph: N kernels, in as many
 * chains side by side as it is wide.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "blocks.cuh"

enum { MAX_KERNELS = 1000000 };

__global__ void empty()
{
}

static cudaGraphExec_t make_graph(int kernels, int width)
{
	std::vector<cudaGraphNode_t> nodes((size_t)kernels);
	cudaKernelNodeParams params = {};
	cudaGraphExec_t ready;
	cudaGraph_t graph;

	params.func = (void *)empty;
	params.gridDim = params.blockDim = dim3(1, 1, 1);
	MUST(cudaGraphCreate(&graph, 0));
	for (int i = 0; i < kernels; i++)
		MUST(cudaGraphAddKernelNode(&nodes[(size_t)i], graph,
		                            i < width ? NULL : &nodes[(size_t)(i - width)],
		                            i < width ? 0 : 1, &params));
	MUST(cudaGraphInstantiate(&ready, graph, 0));
	MUST(cudaGraphDestroy(graph));
	return ready;
}

static struct block run_block(cudaGraphExec_t graph, cudaStream_t stream, double ns)
{
	struct block block = {};
	const double begin = now_ns();

	while (now_ns() - begin < ns) {
		MUST(cudaGraphLaunch(graph, stream));
		block.launches++;
	}
	MUST(cudaStreamSynchronize(stream));
	block.wall_ns = now_ns() - begin;
	return block;
}

static int usage()
{
	fprintf(stderr, "usage: graph_launch [--kernels N] [--width N] [--seconds SECONDS] "
	                "[--mode base]\n");
	return 2;
}

int main(int argc, char **argv)
{
	static struct block blocks[MAX_BLOCKS];
	double seconds = 1;
	int kernels = 1000;
	int width = 1;
	cudaStream_t stream;

	for (int i = 1; i < argc; i += 2) {
		const char *value = i + 1 < argc ? argv[i + 1] : "";
		if (strcmp(argv[i], "--kernels") == 0)
			kernels = atoi(value);
		else if (strcmp(argv[i], "--width") == 0)
			width = atoi(value);
		else if (strcmp(argv[i], "--seconds") == 0)
			seconds = atof(value);
		else if (strcmp(argv[i], "--mode") != 0 || strcmp(value, "base") != 0)
			return usage();
	}
	const int count = blocks_in(seconds);
	if (kernels < 1 || kernels > MAX_KERNELS || width < 1 || count < 1)
		return usage();

	MUST(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	const cudaGraphExec_t graph = make_graph(kernels, width);
	const long warm_up = run_block(graph, stream, WARM_UP_NS).launches;
	for (int i = 0; i < count; i++)
		blocks[i] = run_block(graph, stream, BLOCK_NS);
	print_blocks(blocks, count, warm_up, 1, kernels);
	return 0;
}
