/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Steps that get a block of memory each and give it back, and under the NVTX range "leak" blocks
 * that nobody gives back. Usage: leak [BLOCKS] [BYTES]
 */
#include <nvtx3/nvToolsExt.h>

#include "samples/check.h"

int main(int argc, char **argv)
{
	const size_t blocks = argument(argc, argv, 1, 7);
	const size_t bytes = argument(argc, argv, 2, (size_t)3 << 20);
	size_t used = 0;

	for (size_t i = 0; i < 3 * blocks; i++) {
		const bool leaks = i % 3 == 1;
		void *block = NULL;

		nvtxRangePushA("step");
		if (leaks)
			nvtxRangePushA("leak");
		CHECK(cudaMalloc(&block, bytes));
		CHECK(cudaMemset(block, 1, bytes));
		if (leaks)
			nvtxRangePop();
		else
			CHECK(cudaFree(block));
		nvtxRangePop();
		used += bytes;
	}
	CHECK(cudaDeviceSynchronize());
	printf("blocks=%zu\nleaked=%zu\nleaked_bytes=%zu\nallocated=%zu\n", 3 * blocks, blocks,
	       blocks * bytes, used);
	return 0;
}
