/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A program that says through NVTX what it is doing: steps with ranges in them, and in each the
 * launch of a graph that was captured before, in ranges of its own, by two threads. Usage: steps
 * [COUNT]
 */
#include <nvtx3/nvToolsExt.h>
#include <thread>
#include <time.h>

#include "samples/check.h"

enum { FORWARDS = 3, LAYERS = 4, EXTRAS = 2, DATA_NS = 2000000 };

__global__ void forward(unsigned long long *counter)
{
	++*counter;
}

__global__ void layer(unsigned long long *counter)
{
	++*counter;
}

__global__ void extra(unsigned long long *counter)
{
	++*counter;
}

static void launch(void (*kernel)(unsigned long long *), size_t times, cudaStream_t stream,
                   unsigned long long *counter)
{
	for (size_t i = 0; i < times; i++)
		kernel<<<1, 1, 0, stream>>>(counter);
	CHECK(cudaGetLastError());
}

/* The same as a thread of its own, in a range of its own. */
static void capture_extras(cudaStream_t stream, unsigned long long *counter)
{
	nvtxRangePushA("helper");
	launch(extra, EXTRAS, stream, counter);
	nvtxRangePop();
}

static cudaGraphExec_t capture(cudaStream_t stream, unsigned long long *counter)
{
	cudaGraphExec_t exec;
	cudaGraph_t graph;

	nvtxRangePushA("capture");
	CHECK(cudaStreamBeginCapture(stream, cudaStreamCaptureModeRelaxed));
	nvtxRangePushA("body");
	launch(layer, LAYERS, stream, counter);
	nvtxRangePop();
	std::thread(capture_extras, stream, counter).join();
	CHECK(cudaStreamEndCapture(stream, &graph));
	CHECK(cudaGraphInstantiate(&exec, graph, 0));
	CHECK(cudaGraphDestroy(graph));
	nvtxRangePop();
	return exec;
}

/* Whatever a program does while its GPU has nothing to do. */
static void read_data(void)
{
	const struct timespec pause = {0, DATA_NS};

	nvtxRangePushA("data");
	nanosleep(&pause, NULL);
	nvtxRangePop();
}

static void step(cudaStream_t stream, cudaGraphExec_t graph, unsigned long long *counter)
{
	nvtxRangePushA("step");
	nvtxRangePushA("forward");
	launch(forward, FORWARDS, stream, counter);
	nvtxRangePop();
	nvtxRangePushA("replay");
	CHECK(cudaGraphLaunch(graph, stream));
	nvtxRangePop();
	CHECK(cudaStreamSynchronize(stream));
	read_data();
	nvtxMarkA("done");
	nvtxRangePop();
}

int main(int argc, char **argv)
{
	const size_t steps = argument(argc, argv, 1, 20);
	const size_t each = FORWARDS + LAYERS + EXTRAS;
	unsigned long long counted = 0;
	unsigned long long *counter;
	cudaGraphExec_t graph;
	cudaStream_t stream;

	CHECK(cudaMalloc((void **)&counter, sizeof(*counter)));
	CHECK(cudaMemset(counter, 0, sizeof(*counter)));
	CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaDeviceSynchronize());
	graph = capture(stream, counter);
	nvtxRangePushA("train");
	for (size_t i = 0; i < steps; i++)
		step(stream, graph, counter);
	nvtxRangePop();
	CHECK(cudaMemcpy(&counted, counter, sizeof(counted), cudaMemcpyDeviceToHost));
	CHECK(cudaGraphExecDestroy(graph));
	CHECK(cudaStreamDestroy(stream));
	CHECK(cudaFree(counter));
	printf("steps=%zu\nforwards=%d\nlayers=%d\nextras=%d\ndata_ns=%d\nwrong=%d\n", steps,
	       FORWARDS, LAYERS, EXTRAS, DATA_NS, counted != steps * each);
	return counted != steps * each;
}
