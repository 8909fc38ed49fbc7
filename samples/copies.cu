/* SPDX-License-Identifier: Apache-2.0 */
/*
 * The same bytes copied in and out of the GPU from pageable and from pinned memory, and within
 * the GPU. Pageable memory is slower: the driver copies it through a pinned buffer of its own.
 * Usage: copies [BYTES] [REPEATS]
 */
#include <string.h>

#include <vector>

#include "samples/check.h"

static cudaEvent_t start, stop;

/* Returns the speed of so many copies in a row. */
static double copy(void *target, const void *source, size_t bytes, cudaMemcpyKind kind,
                   size_t repeats)
{
	CHECK(cudaEventRecord(start));
	for (size_t i = 0; i < repeats; i++)
		CHECK(cudaMemcpyAsync(target, source, bytes, kind));
	CHECK(cudaEventRecord(stop));
	CHECK(cudaEventSynchronize(stop));
	return gigabytes_per_second(bytes * repeats, start, stop);
}

int main(int argc, char **argv)
{
	const size_t bytes = argument(argc, argv, 1, (size_t)256 << 20);
	const size_t repeats = argument(argc, argv, 2, 5);
	std::vector<unsigned char> pageable(bytes, 0x5a);
	unsigned char *pinned;
	void *first, *second;

	CHECK(cudaEventCreate(&start));
	CHECK(cudaEventCreate(&stop));
	CHECK(cudaMallocHost((void **)&pinned, bytes));
	CHECK(cudaMalloc(&first, bytes));
	CHECK(cudaMalloc(&second, bytes));
	memset(pinned, 0x33, bytes);

	const double pageable_in =
		copy(first, pageable.data(), bytes, cudaMemcpyHostToDevice, repeats);
	const double inside = copy(second, first, bytes, cudaMemcpyDeviceToDevice, repeats);
	const double pinned_out = copy(pinned, second, bytes, cudaMemcpyDeviceToHost, repeats);
	const bool came_back = memcmp(pinned, pageable.data(), bytes) == 0;

	memset(pinned, 0x33, bytes);
	const double pinned_in = copy(first, pinned, bytes, cudaMemcpyHostToDevice, repeats);
	const double pageable_out =
		copy(pageable.data(), first, bytes, cudaMemcpyDeviceToHost, repeats);
	const bool went_back = memcmp(pinned, pageable.data(), bytes) == 0;

	printf("copies=%zu\nbytes_each_way=%zu\nright=%d\n", repeats, bytes * repeats,
	       came_back && went_back);
	printf("pageable_in_gbps=%.2f\npageable_out_gbps=%.2f\n", pageable_in, pageable_out);
	printf("pinned_in_gbps=%.2f\npinned_out_gbps=%.2f\n", pinned_in, pinned_out);
	printf("inside_gbps=%.2f\n", inside);
	CHECK(cudaFree(second));
	CHECK(cudaFree(first));
	CHECK(cudaFreeHost(pinned));
	CHECK(cudaEventDestroy(stop));
	CHECK(cudaEventDestroy(start));
	return !(came_back && went_back);
}
