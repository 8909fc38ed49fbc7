/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Marks of many warps at once, more than a small ring has room for: what of them is kept and what
 * the ledger has as lost are all of them together.
 *   device_full [MARKS]
 *
 * Prints how many marks were written in all. MARKS: of each warp in each launch.
 */
#include "include/gputrace/device.cuh"
#include "samples/check.h"

GPUTRACE_DEVICE_NAME(turn_name, "turn");

enum { THREADS = 256, WARPS = THREADS / 32, BLOCKS_AT_ONCE = 4, LAUNCHES = 3 };

__global__ void marks(unsigned count, float *out)
{
	gputrace::writer events(gputrace::leader::warp);
	float number = (float)threadIdx.x;

	for (unsigned i = 0; i < count; i++) {
		number = number * 0.5f + (float)i;
		events.mark(turn_name);
	}
	out[blockIdx.x * THREADS + threadIdx.x] = number;
}

int main(int argc, char **argv)
{
	const unsigned count = (unsigned)argument(argc, argv, 1, 1000);
	cudaDeviceProp device;
	unsigned blocks;
	float *out;

	CHECK(cudaGetDeviceProperties(&device, 0));
	blocks = (unsigned)device.multiProcessorCount * BLOCKS_AT_ONCE;
	CHECK(cudaMalloc((void **)&out, (size_t)blocks * THREADS * sizeof(*out)));
	for (int i = 0; i < LAUNCHES; i++) {
		marks<<<blocks, THREADS>>>(count, out);
		CHECK(cudaGetLastError());
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaFree(out));
	printf("marks=%llu\n", (unsigned long long)LAUNCHES * blocks * WARPS * count);
	return 0;
}
