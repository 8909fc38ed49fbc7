/* SPDX-License-Identifier: Apache-2.0 */
/*
 * A kernel whose last block works much longer than the others, so that all but one multiprocessor
 * wait at its end; every warp tells how long it worked. To be recorded with `gputrace run
 * --device-events`. Usage: device_imbalanced [LAUNCHES] [BLOCKS] [TIMES AS LONG]
 */
#include "include/gputrace/device.cuh"
#include "samples/check.h"
#include "samples/spend.cuh"

enum { THREADS = 128, WORK_NS = 50000 };

GPUTRACE_DEVICE_NAME(share, "share");
GPUTRACE_DEVICE_NAME(finished, "finished");

__global__ void imbalanced(unsigned times, unsigned long long *blocks_done)
{
	gputrace::writer events(gputrace::leader::warp);
	const unsigned long long ns =
		blockIdx.x == gridDim.x - 1 ? (unsigned long long)times * WORK_NS : WORK_NS;

	events.begin(share);
	spend(ns);
	events.end(share);
	events.mark(finished);
	if (threadIdx.x == 0)
		atomicAdd(blocks_done, 1ull);
}

int main(int argc, char **argv)
{
	const size_t launches = argument(argc, argv, 1, 10);
	const size_t blocks = argument(argc, argv, 2, 512);
	const size_t times = argument(argc, argv, 3, 20);
	const size_t warps = blocks * THREADS / 32;
	unsigned long long *done;
	unsigned long long result;

	CHECK(cudaMalloc((void **)&done, sizeof(*done)));
	CHECK(cudaMemset(done, 0, sizeof(*done)));
	for (size_t i = 0; i < launches; i++) {
		imbalanced<<<(unsigned)blocks, THREADS>>>((unsigned)times, done);
		CHECK(cudaGetLastError());
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(&result, done, sizeof(result), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(done));
	printf("launches=%zu\nblocks=%zu\nwarps=%zu\nwork_ns=%d\ntimes=%zu\n", launches, blocks,
	       warps, WORK_NS, times);
	printf("rows=%zu\nevents=%zu\n", launches * warps * 2, launches * warps * 3);
	return result != launches * blocks;
}
