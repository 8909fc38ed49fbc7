/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches for a long time, counts what it launched and says so in one line of JSON; for
 * bench/soak.
 *   soak_launch loop SECONDS            an empty kernel over and over
 *   soak_launch graph SECONDS [KERNELS] a graph of so many empty kernels (1000) over and over
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "blocks.cuh"

enum { LAUNCHES_BETWEEN_LOOKS = 256 };

__global__ void empty()
{
}

static cudaGraphExec_t make_graph(cudaStream_t stream, long kernels)
{
	cudaGraph_t graph;
	cudaGraphExec_t ready;

	MUST(cudaStreamBeginCapture(stream, cudaStreamCaptureModeThreadLocal));
	for (long i = 0; i < kernels; i++)
		empty<<<1, 32, 0, stream>>>();
	MUST(cudaStreamEndCapture(stream, &graph));
	MUST(cudaGraphInstantiate(&ready, graph, 0));
	return ready;
}

static long launch_loop(cudaStream_t stream, double until_ns)
{
	long launches = 0;

	while (now_ns() < until_ns) {
		for (int i = 0; i < LAUNCHES_BETWEEN_LOOKS; i++)
			empty<<<1, 32, 0, stream>>>();
		launches += LAUNCHES_BETWEEN_LOOKS;
	}
	return launches;
}

static long replay_graph(cudaStream_t stream, cudaGraphExec_t graph, double until_ns)
{
	long replays = 0;

	for (; now_ns() < until_ns; replays++)
		MUST(cudaGraphLaunch(graph, stream));
	return replays;
}

int main(int argc, char **argv)
{
	const bool is_graph = argc > 1 && strcmp(argv[1], "graph") == 0;
	const double seconds = argc > 2 ? atof(argv[2]) : 0;
	const long kernels = argc > 3 ? atol(argv[3]) : 1000;
	cudaStream_t stream;
	long launches = 0;
	long replays = 0;

	if ((!is_graph && (argc < 2 || strcmp(argv[1], "loop") != 0)) || seconds <= 0 ||
	    kernels < 1) {
		fprintf(stderr, "usage: soak_launch loop|graph SECONDS [KERNELS]\n");
		return 2;
	}
	MUST(cudaStreamCreate(&stream));
	const cudaGraphExec_t graph = is_graph ? make_graph(stream, kernels) : NULL;
	const double begin = now_ns();
	if (is_graph)
		replays = replay_graph(stream, graph, begin + 1e9 * seconds);
	else
		launches = launch_loop(stream, begin + 1e9 * seconds);
	MUST(cudaStreamSynchronize(stream));
	const double end = now_ns();
	MUST(cudaGetLastError());
	printf("{\"launches\": %ld, \"graph_launches\": %ld, \"kernel_count\": %ld, "
	       "\"seconds\": %.3f}\n",
	       launches, replays, launches + replays * kernels, (end - begin) / 1e9);
	return 0;
}
