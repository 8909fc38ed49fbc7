/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Fills memory of a pool with blocks and frees every second one, so that half of it is free and no
 * larger block fits in between. The pool keeps what it has. Usage: fragment [BLOCKS] [BYTES]
 */
#include <vector>

#include "samples/check.h"

int main(int argc, char **argv)
{
	const size_t count = argument(argc, argv, 1, 64);
	const size_t bytes = argument(argc, argv, 2, (size_t)2 << 20);
	std::vector<void *> blocks(count);
	cudaMemPoolProps properties = {};
	unsigned long long keep = ~0ull;
	unsigned long long used = 0;
	unsigned long long reserved = 0;
	size_t freed = 0;
	cudaStream_t stream;
	cudaMemPool_t pool;

	CHECK(cudaStreamCreate(&stream));
	properties.allocType = cudaMemAllocationTypePinned;
	properties.location.type = cudaMemLocationTypeDevice;
	properties.location.id = 0;
	CHECK(cudaMemPoolCreate(&pool, &properties));
	CHECK(cudaMemPoolSetAttribute(pool, cudaMemPoolAttrReleaseThreshold, &keep));
	for (size_t i = 0; i < count; i++)
		CHECK(cudaMallocFromPoolAsync(&blocks[i], bytes, pool, stream));
	for (size_t i = 1; i < count; i += 2, freed++)
		CHECK(cudaFreeAsync(blocks[i], stream));
	CHECK(cudaStreamSynchronize(stream));
	CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrUsedMemCurrent, &used));
	CHECK(cudaMemPoolGetAttribute(pool, cudaMemPoolAttrReservedMemCurrent, &reserved));
	printf("blocks=%zu\nfreed=%zu\nleft=%zu\nleft_bytes=%zu\nallocated=%zu\nused=%llu\nreserved=%llu\n",
	       count, freed, count - freed, (count - freed) * bytes, count * bytes, used, reserved);
	return 0;
}
