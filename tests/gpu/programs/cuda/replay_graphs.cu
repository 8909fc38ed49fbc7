/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Launches of CUDA graphs that are captured and run again: replay_graphs [STEPS]. Each step is a
 * range of NVTX that is called step, and launches two graphs: one that was captured from two
 * streams, with a copy from pinned memory, kernels, a fill and a copy back, whose source is
 * destroyed at once; and one that was made by hand, with a graph inside of a node, of which each
 * step changes a kernel's parameters. Prints how many kernels a step has, how long one takes, and
 * how many elements are wrong.
 */
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cmath>
#include <vector>

#include "samples/check.h"

enum { COUNT = 1 << 20, THREADS = 256, BLOCKS = COUNT / THREADS, KERNELS = 7 };

extern "C" {

__global__ void scale(float *values, float by, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		values[i] *= by;
}

__global__ void add(const float *x, const float *y, float *sums, int count)
{
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		sums[i] = x[i] + y[i];
}
}

struct state {
	cudaStream_t streams[2];
	cudaEvent_t forked, joined;
	float *x, *y, *sums, *total; /* on the GPU */
	float *in, *out;             /* pinned */
	cudaGraph_t by_hand;
	cudaGraphNode_t changed;
	cudaGraphExec_t captured, made;
};

/* A kernel node and where its parameters are while the call that makes or changes it runs. */
struct scaling {
	float *values;
	float by;
	int count;
	void *arguments[3];
	cudaKernelNodeParams params;

	scaling(float *values, float by) : values(values), by(by), count(COUNT), params()
	{
		arguments[0] = &this->values;
		arguments[1] = &this->by;
		arguments[2] = &this->count;
		params.func = (void *)scale;
		params.gridDim = dim3(BLOCKS);
		params.blockDim = dim3(THREADS);
		params.kernelParams = arguments;
	}
};

/* sums = 2 in + 3 * 0, on two streams; out = sums */
static void capture(struct state *state)
{
	const size_t bytes = COUNT * sizeof(float);
	cudaGraph_t graph;

	CHECK(cudaStreamBeginCapture(state->streams[0], cudaStreamCaptureModeGlobal));
	CHECK(cudaEventRecord(state->forked, state->streams[0]));
	CHECK(cudaStreamWaitEvent(state->streams[1], state->forked, 0));
	CHECK(cudaMemcpyAsync(state->x, state->in, bytes, cudaMemcpyHostToDevice,
	                      state->streams[0]));
	scale<<<BLOCKS, THREADS, 0, state->streams[0]>>>(state->x, 2, COUNT);
	CHECK(cudaMemsetAsync(state->y, 0, bytes, state->streams[1]));
	scale<<<BLOCKS, THREADS, 0, state->streams[1]>>>(state->y, 3, COUNT);
	CHECK(cudaEventRecord(state->joined, state->streams[1]));
	CHECK(cudaStreamWaitEvent(state->streams[0], state->joined, 0));
	add<<<BLOCKS, THREADS, 0, state->streams[0]>>>(state->x, state->y, state->sums, COUNT);
	CHECK(cudaMemcpyAsync(state->out, state->sums, bytes, cudaMemcpyDeviceToHost,
	                      state->streams[0]));
	CHECK(cudaStreamEndCapture(state->streams[0], &graph));
	CHECK(cudaGraphInstantiate(&state->captured, graph, 0));
	CHECK(cudaGraphDestroy(graph));
}

/* total = by * sums after a graph of two kernels that wait for nothing of each other */
static void make(struct state *state)
{
	cudaMemcpy3DParms copy = {};
	scaling first(state->total, 1), left(state->x, 1), right(state->y, 1),
		last(state->total, 2);
	cudaGraphNode_t nodes[4];
	cudaGraph_t inside;

	copy.srcPtr = make_cudaPitchedPtr(state->sums, COUNT * sizeof(float), COUNT, 1);
	copy.dstPtr = make_cudaPitchedPtr(state->total, COUNT * sizeof(float), COUNT, 1);
	copy.extent = make_cudaExtent(COUNT * sizeof(float), 1, 1);
	copy.kind = cudaMemcpyDeviceToDevice;
	CHECK(cudaGraphCreate(&inside, 0));
	CHECK(cudaGraphAddKernelNode(&nodes[0], inside, NULL, 0, &left.params));
	CHECK(cudaGraphAddKernelNode(&nodes[0], inside, NULL, 0, &right.params));
	CHECK(cudaGraphCreate(&state->by_hand, 0));
	CHECK(cudaGraphAddMemcpyNode(&nodes[0], state->by_hand, NULL, 0, &copy));
	CHECK(cudaGraphAddKernelNode(&state->changed, state->by_hand, &nodes[0], 1, &first.params));
	CHECK(cudaGraphAddChildGraphNode(&nodes[2], state->by_hand, &state->changed, 1, inside));
	CHECK(cudaGraphAddKernelNode(&nodes[3], state->by_hand, &nodes[2], 1, &last.params));
	CHECK(cudaGraphInstantiate(&state->made, state->by_hand, 0));
	CHECK(cudaGraphDestroy(inside));
}

static void run_step(struct state *state, size_t step)
{
	scaling changed(state->total, (float)(step + 1));

	CHECK(cudaGraphExecKernelNodeSetParams(state->made, state->changed, &changed.params));
	nvtxRangePushA("step");
	CHECK(cudaGraphLaunch(state->captured, state->streams[0]));
	CHECK(cudaGraphLaunch(state->made, state->streams[0]));
	CHECK(cudaStreamSynchronize(state->streams[0]));
	nvtxRangePop();
}

static size_t wrong_in(const struct state *state, const std::vector<float> &total, size_t step)
{
	size_t wrong = 0;

	for (size_t i = 0; i < COUNT; i++) {
		const float sum = 2 * state->in[i];

		wrong += !(std::fabs(state->out[i] - sum) <= 1e-3f) ||
		         !(std::fabs(total[i] - 2 * (float)(step + 1) * sum) <= 1e-2f);
	}
	return wrong;
}

int main(int argc, char **argv)
{
	const size_t steps = argument(argc, argv, 1, 20);
	std::chrono::nanoseconds taken(0);
	std::vector<float> total(COUNT);
	struct state state = {};
	size_t wrong = 0;

	for (cudaStream_t &stream : state.streams)
		CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&state.forked, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&state.joined, cudaEventDisableTiming));
	for (float **memory : {&state.x, &state.y, &state.sums, &state.total})
		CHECK(cudaMalloc(memory, COUNT * sizeof(float)));
	CHECK(cudaMallocHost(&state.in, COUNT * sizeof(float)));
	CHECK(cudaMallocHost(&state.out, COUNT * sizeof(float)));
	capture(&state);
	make(&state);
	for (size_t step = 0; step < steps; step++) {
		for (size_t i = 0; i < COUNT; i++)
			state.in[i] = (float)((i + step) % 1000);
		const auto begin = std::chrono::steady_clock::now();

		run_step(&state, step);
		taken += std::chrono::steady_clock::now() - begin;
		CHECK(cudaMemcpy(total.data(), state.total, COUNT * sizeof(float),
		                 cudaMemcpyDeviceToHost));
		wrong += wrong_in(&state, total, step);
	}
	printf("kernels=%d\nstep_ns=%lld\nwrong=%zu\n", KERNELS,
	       (long long)(taken.count() / (long long)steps), wrong);
	return wrong != 0;
}
