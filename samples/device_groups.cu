/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Cooperative groups: a grid that meets between its steps, where the waits of early blocks show,
 * and tiles of 16 threads whose first ones write, which are neither leaders of blocks nor of warps.
 * To be recorded with `gputrace run --device-events`. Usage: device_groups [LAUNCHES] [STEPS]
 */
#include <cooperative_groups.h>

#include "include/gputrace/device.cuh"
#include "samples/check.h"
#include "samples/spend.cuh"

namespace groups = cooperative_groups;

enum { THREADS = 64, TILE = 16, WORK_NS = 5000 };

GPUTRACE_DEVICE_NAME(step_name, "step");
GPUTRACE_DEVICE_NAME(meet, "meet");
GPUTRACE_DEVICE_NAME(tile_sum, "sum of the tile");

__global__ void meeting(unsigned steps, unsigned long long *met)
{
	const groups::grid_group grid = groups::this_grid();
	const groups::thread_block_tile<TILE> tile =
		groups::tiled_partition<TILE>(groups::this_thread_block());
	gputrace::writer events(tile.thread_rank() == 0);

	for (unsigned step = 0; step < steps; step++) {
		float sum = (float)threadIdx.x;

		{
			gputrace::range doing(events, step_name);

			/* another block is the last one in each step */
			spend((blockIdx.x + step) % gridDim.x == 0 ? 4 * WORK_NS : WORK_NS);
			for (unsigned offset = TILE / 2; offset > 0; offset /= 2)
				sum += tile.shfl_down(sum, offset);
			events.value(tile_sum, sum);
		}
		gputrace::range waiting(events, meet);

		grid.sync();
	}
	if (grid.thread_rank() == 0)
		atomicAdd(met, steps);
}

int main(int argc, char **argv)
{
	size_t launches = argument(argc, argv, 1, 10);
	unsigned steps = (unsigned)argument(argc, argv, 2, 8);
	unsigned long long *met;
	unsigned long long result;
	int multiprocessors;
	size_t tiles;

	CHECK(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, 0));
	tiles = (size_t)multiprocessors * THREADS / TILE;
	CHECK(cudaMalloc((void **)&met, sizeof(*met)));
	CHECK(cudaMemset(met, 0, sizeof(*met)));
	for (size_t i = 0; i < launches; i++) {
		void *arguments[] = {&steps, &met};

		CHECK(cudaLaunchCooperativeKernel((const void *)meeting,
		                                  dim3((unsigned)multiprocessors), dim3(THREADS),
		                                  arguments, 0, NULL));
	}
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(&result, met, sizeof(result), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(met));
	printf("launches=%zu\nsteps=%u\nblocks=%d\ntiles=%zu\n", launches, steps, multiprocessors,
	       tiles);
	/* of each tile and step two ranges and a value */
	printf("rows=%zu\nevents=%zu\n", launches * tiles * steps * 3,
	       launches * tiles * steps * 5);
	return result != launches * steps;
}
