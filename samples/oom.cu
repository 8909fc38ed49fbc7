/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gets blocks of memory until there is none left, gives all of them back and ends well: what was
 * alive when the call failed, and how much, it says itself. Usage: oom [BYTES]
 */
#include <vector>

#include "samples/check.h"

int main(int argc, char **argv)
{
	size_t free_bytes = 0;
	size_t total_bytes = 0;
	size_t left_bytes = 0;
	std::vector<void *> blocks;
	cudaError_t result;
	void *block = NULL;

	CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
	/* Some forty blocks, whatever is free. */
	const size_t bytes =
		argument(argc, argv, 1, free_bytes / 40 / (2 << 20) * (2 << 20) + (2 << 20));

	while ((result = cudaMalloc(&block, bytes)) == cudaSuccess && blocks.size() < 100000)
		blocks.push_back(block);
	CHECK(cudaMemGetInfo(&left_bytes, &total_bytes));
	for (void *each : blocks)
		CHECK(cudaFree(each));
	if (result != cudaErrorMemoryAllocation) {
		fprintf(stderr, "oom: memory did not run out: %s\n", cudaGetErrorString(result));
		return 1;
	}
	(void)cudaGetLastError();
	printf("block_bytes=%zu\nblocks=%zu\nalive_bytes=%zu\nleft_bytes=%zu\n", bytes,
	       blocks.size(), blocks.size() * bytes, left_bytes);
	return 0;
}
