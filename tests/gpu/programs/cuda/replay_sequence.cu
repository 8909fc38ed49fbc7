/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step that is captured as a sequence and run again: replay_sequence [STEPS]. Each step is a
 * range of NVTX that is called step: on two streams that wait for each other through events, a copy
 * from pinned and one from pageable memory, a fill, a copy on the GPU, kernels, waits of the host
 * and copies back. Its input from the host is another in each step. Prints how many kernels a
 * step has, how long a step takes, and how many elements are wrong.
 */
#include <nvtx3/nvToolsExt.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <vector>

#include "samples/check.h"

enum { COUNT = 1 << 20, THREADS = 256, BLOCKS = COUNT / THREADS, KERNELS = 4 };

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
	float *x, *y, *sums; /* on the GPU */
	float *pinned;
	std::vector<float> pageable, out;
};

static float value_of(size_t i, size_t step)
{
	return (float)(i % 1000) + (float)step;
}

static float expected(size_t i, size_t step)
{
	const float x = 2 * value_of(i, step);
	const float y = i < COUNT / 2 ? x : 0; /* a copy of x over a fill */

	return x + 3 * y + (float)(i % 10) / 2;
}

static void run_step(struct state *state)
{
	const size_t bytes = COUNT * sizeof(float);

	nvtxRangePushA("step");
	CHECK(cudaMemcpyAsync(state->x, state->pinned, bytes, cudaMemcpyHostToDevice,
	                      state->streams[0]));
	scale<<<BLOCKS, THREADS, 0, state->streams[0]>>>(state->x, 2, COUNT);
	CHECK(cudaEventRecord(state->forked, state->streams[0]));
	CHECK(cudaStreamWaitEvent(state->streams[1], state->forked, 0));
	CHECK(cudaMemsetAsync(state->y, 0, bytes, state->streams[1]));
	CHECK(cudaMemcpyAsync(state->y, state->x, bytes / 2, cudaMemcpyDeviceToDevice,
	                      state->streams[1]));
	nvtxRangePushA("inner");
	scale<<<BLOCKS, THREADS, 0, state->streams[1]>>>(state->y, 3, COUNT);
	nvtxRangePop();
	CHECK(cudaEventRecord(state->joined, state->streams[1]));
	CHECK(cudaStreamWaitEvent(state->streams[0], state->joined, 0));
	add<<<BLOCKS, THREADS, 0, state->streams[0]>>>(state->x, state->y, state->sums, COUNT);
	CHECK(cudaStreamSynchronize(state->streams[0]));
	/* On the stream: cudaMemcpy may return before the GPU has it, and no stream waits for that.
	 */
	CHECK(cudaMemcpyAsync(state->y, state->pageable.data(), bytes, cudaMemcpyHostToDevice,
	                      state->streams[0]));
	add<<<BLOCKS, THREADS, 0, state->streams[0]>>>(state->sums, state->y, state->sums, COUNT);
	CHECK(cudaEventRecord(state->joined, state->streams[0]));
	CHECK(cudaEventSynchronize(state->joined));
	CHECK(cudaMemcpy(state->out.data(), state->sums, bytes, cudaMemcpyDeviceToHost));
	CHECK(cudaDeviceSynchronize());
	nvtxRangePop();
}

static size_t wrong_in(const struct state *state, size_t step)
{
	size_t wrong = 0;

	for (size_t i = 0; i < COUNT; i++)
		wrong += !(std::fabs(state->out[i] - expected(i, step)) <= 1e-2f);
	return wrong;
}

int main(int argc, char **argv)
{
	const size_t steps = argument(argc, argv, 1, 20);
	std::chrono::nanoseconds taken(0);
	struct state state = {};
	size_t wrong = 0;

	for (cudaStream_t &stream : state.streams)
		CHECK(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking));
	CHECK(cudaEventCreateWithFlags(&state.forked, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&state.joined, cudaEventDisableTiming));
	for (float **memory : {&state.x, &state.y, &state.sums})
		CHECK(cudaMalloc(memory, COUNT * sizeof(float)));
	CHECK(cudaMallocHost(&state.pinned, COUNT * sizeof(float)));
	state.out.resize(COUNT);
	for (size_t i = 0; i < COUNT; i++)
		state.pageable.push_back((float)(i % 10) / 2);
	for (size_t step = 0; step < steps; step++) {
		for (size_t i = 0; i < COUNT; i++)
			state.pinned[i] = value_of(i, step);
		const auto begin = std::chrono::steady_clock::now();

		run_step(&state);
		taken += std::chrono::steady_clock::now() - begin;
		wrong += wrong_in(&state, step);
	}
	printf("kernels=%d\nstep_ns=%lld\nwrong=%zu\n", KERNELS,
	       (long long)(taken.count() / (long long)steps), wrong);
	return wrong != 0;
}
