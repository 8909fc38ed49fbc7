/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Gets blocks of memory until there is none left, gives all of them back and ends well: what was
 * alive when the call failed, and how much, it says itself. Usage: oom [BYTES]
 */
#include <vector>

#include "samples/check.h"

int main(int argc, char **argv)
{
	const size_t bytes = argument(argc, argv, 1, (size_t)1 << 30);
	size_t total_bytes = 0;
	size_t left_bytes = 0;
	std::vector<void *> blocks;
	cudaError_t result;
	void *block = NULL;

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
	printf("block_bytes=%zu\nblocks=%zu\nalive_bytes=%zu\nleft_gb=%.3f\n", bytes, blocks.size(),
	       blocks.size() * bytes, (double)left_bytes / 1e9);
	return 0;
}
