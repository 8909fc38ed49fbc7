/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Dynamic parallelism: a kernel that launches another one, both of which write events. The inner
 * kernel has no activity record, so its events can be given to no launch. To be recorded with
 * `gputrace run --device-events`. Usage: device_nested [LAUNCHES]
 */
#include "include/gputrace/device.cuh"
#include "samples/check.h"

enum { BLOCKS = 4, CHILD_BLOCKS = 2 };

GPUTRACE_DEVICE_NAME(in_parent, "in the parent");
GPUTRACE_DEVICE_NAME(in_child, "in the child");

__global__ void child(unsigned long long *done)
{
	gputrace::writer events(gputrace::leader::block);
	gputrace::range range(events, in_child);

	if (threadIdx.x == 0)
		atomicAdd(done, 1ull);
}

__global__ void parent(unsigned long long *done)
{
	gputrace::writer events(gputrace::leader::block);
	gputrace::range range(events, in_parent);

	if (threadIdx.x == 0)
		child<<<CHILD_BLOCKS, 32>>>(done);
}

int main(int argc, char **argv)
{
	const size_t launches = argument(argc, argv, 1, 10);
	unsigned long long *done;
	unsigned long long result;

	CHECK(cudaMalloc((void **)&done, sizeof(*done)));
	CHECK(cudaMemset(done, 0, sizeof(*done)));
	for (size_t i = 0; i < launches; i++) {
		parent<<<BLOCKS, 32>>>(done);
		CHECK(cudaGetLastError());
		CHECK(cudaDeviceSynchronize());
	}
	CHECK(cudaMemcpy(&result, done, sizeof(result), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(done));
	printf("launches=%zu\nchildren=%llu\n", launches, result);
	printf("parent_rows=%zu\nchild_rows=%zu\n", launches * BLOCKS,
	       launches * BLOCKS * CHILD_BLOCKS);
	printf("events=%zu\n", 2 * launches * BLOCKS * (1 + CHILD_BLOCKS));
	return result != launches * BLOCKS * CHILD_BLOCKS;
}
