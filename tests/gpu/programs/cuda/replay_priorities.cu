/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A step that the priority of a stream makes shorter: replay_priorities [STEPS] [first]. A kernel
 * of many blocks, and on another stream a chain of small ones, which come to the GPU when all
 * blocks of the large one have. With first the chain's stream has the highest priority: both run at
 * the same time. Each step is a range of NVTX that is called step. Prints how many kernels a step
 * has, how long the median step takes, and how many elements are wrong.
 */
#include <nvtx3/nvToolsExt.h>

#include <algorithm>
#include <chrono>
#include <cstring>
#include <vector>

#include "samples/check.h"

enum {
	THREADS = 32,
	SHARED_FLOATS =
		12 << 10,   /* the most that one block has without asking for more: few at once */
	BLOCKS_AT_ONCE = 4, /* of a multiprocessor, therefore; it may have fewer */
	WAVES = 20,
	CHAIN = 20,
	OPERATIONS = 25000
};

extern "C" {

static __device__ float computed(float number)
{
	for (int i = 0; i < OPERATIONS; i++)
		number = number * 0.5f + 1;
	return number;
}

__global__ void large(float *out)
{
	__shared__ float room[SHARED_FLOATS];
	const unsigned at = blockIdx.x * THREADS + threadIdx.x;

	room[(at * 7) % SHARED_FLOATS] = computed((float)at);
	__syncwarp();
	out[at] = room[(at * 7) % SHARED_FLOATS];
}

__global__ void small(float *values)
{
	const unsigned at = blockIdx.x * THREADS + threadIdx.x;

	values[at] = computed(values[at]) + 1;
}
}

struct state {
	cudaStream_t streams[2];
	cudaEvent_t begun, joined;
	float *out, *values;
	unsigned blocks, small_blocks;
};

static void run_step(const struct state *state)
{
	nvtxRangePushA("step");
	CHECK(cudaMemsetAsync(state->values, 0, state->small_blocks * THREADS * sizeof(float),
	                      state->streams[0]));
	CHECK(cudaEventRecord(state->begun, state->streams[0]));
	CHECK(cudaStreamWaitEvent(state->streams[1], state->begun, 0));
	large<<<state->blocks, THREADS, 0, state->streams[0]>>>(state->out);
	for (int i = 0; i < CHAIN; i++)
		small<<<state->small_blocks, THREADS, 0, state->streams[1]>>>(state->values);
	CHECK(cudaEventRecord(state->joined, state->streams[1]));
	CHECK(cudaStreamWaitEvent(state->streams[0], state->joined, 0));
	CHECK(cudaStreamSynchronize(state->streams[0]));
	nvtxRangePop();
}

/* Each of these computations ends at 2, whatever it began with. */
static size_t wrong_in(const float *memory, size_t count, float expected)
{
	std::vector<float> values(count);

	CHECK(cudaMemcpy(values.data(), memory, count * sizeof(float), cudaMemcpyDeviceToHost));
	return count - (size_t)std::count(values.begin(), values.end(), expected);
}

int main(int argc, char **argv)
{
	const size_t steps = argument(argc, argv, 1, 20);
	const bool first = argc > 2 && strcmp(argv[2], "first") == 0;
	std::vector<long long> taken;
	struct state state = {};
	cudaDeviceProp device;
	int least, most;
	size_t wrong;

	CHECK(cudaGetDeviceProperties(&device, 0));
	CHECK(cudaDeviceGetStreamPriorityRange(&least, &most));
	for (int i = 0; i < 2; i++)
		CHECK(cudaStreamCreateWithPriority(&state.streams[i], cudaStreamNonBlocking,
		                                   first && i == 1 ? most : least));
	CHECK(cudaEventCreateWithFlags(&state.begun, cudaEventDisableTiming));
	CHECK(cudaEventCreateWithFlags(&state.joined, cudaEventDisableTiming));
	state.blocks = (unsigned)device.multiProcessorCount * BLOCKS_AT_ONCE * WAVES;
	state.small_blocks = (unsigned)device.multiProcessorCount;
	CHECK(cudaMalloc((void **)&state.out, state.blocks * THREADS * sizeof(float)));
	CHECK(cudaMalloc((void **)&state.values, state.small_blocks * THREADS * sizeof(float)));
	for (size_t step = 0; step < steps; step++) {
		const auto begin = std::chrono::steady_clock::now();

		run_step(&state);
		taken.push_back((long long)std::chrono::duration_cast<std::chrono::nanoseconds>(
					std::chrono::steady_clock::now() - begin)
		                        .count());
	}
	wrong = wrong_in(state.out, state.blocks * THREADS, 2) +
	        wrong_in(state.values, state.small_blocks * THREADS, 3);
	std::nth_element(taken.begin(), taken.begin() + (long)(steps / 2), taken.end());
	printf("kernels=%d\nstep_ns=%lld\nwrong=%zu\n", CHAIN + 1, taken[steps / 2], wrong);
	return wrong != 0;
}
