/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Managed memory that the GPU and the host write to in turns, so that it moves back and forth; then
 * it is advised and prefetched. Never more than a quarter of the GPU's free memory. Usage: managed
 * [BYTES] [TURNS]
 */
#include "samples/check.h"

__global__ void add_one(unsigned char *bytes, size_t count)
{
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
	     i += (size_t)gridDim.x * blockDim.x)
		bytes[i]++;
}

static void prefetch(unsigned char *memory, size_t bytes, int device, cudaStream_t stream)
{
#if CUDART_VERSION >= 13000
	cudaMemLocation location = {};

	location.type = device < 0 ? cudaMemLocationTypeHost : cudaMemLocationTypeDevice;
	location.id = device < 0 ? 0 : device;
	CHECK(cudaMemPrefetchAsync(memory, bytes, location, 0, stream));
#else
	CHECK(cudaMemPrefetchAsync(memory, bytes, device < 0 ? cudaCpuDeviceId : device, stream));
#endif
}

static void prefer(unsigned char *memory, size_t bytes, int device)
{
#if CUDART_VERSION >= 13000
	cudaMemLocation location = {};

	location.type = cudaMemLocationTypeDevice;
	location.id = device;
	CHECK(cudaMemAdvise(memory, bytes, cudaMemAdviseSetPreferredLocation, location));
#else
	CHECK(cudaMemAdvise(memory, bytes, cudaMemAdviseSetPreferredLocation, device));
#endif
}

int main(int argc, char **argv)
{
	size_t bytes = argument(argc, argv, 1, (size_t)16 << 20);
	const size_t turns = argument(argc, argv, 2, 4);
	unsigned char *memory = NULL;
	size_t free_bytes = 0;
	size_t total_bytes = 0;
	size_t wrong = 0;

	CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
	if (bytes > free_bytes / 4)
		bytes = free_bytes / 4;
	CHECK(cudaMallocManaged((void **)&memory, bytes));
	for (size_t i = 0; i < bytes; i++)
		memory[i] = 0;
	for (size_t turn = 0; turn < turns; turn++) {
		add_one<<<256, 256>>>(memory, bytes);
		CHECK(cudaGetLastError());
		CHECK(cudaDeviceSynchronize());
		for (size_t i = 0; i < bytes; i++)
			memory[i]++;
	}
	prefer(memory, bytes, 0);
	prefetch(memory, bytes, 0, 0);
	add_one<<<256, 256>>>(memory, bytes);
	CHECK(cudaGetLastError());
	prefetch(memory, bytes, -1, 0);
	CHECK(cudaDeviceSynchronize());
	for (size_t i = 0; i < bytes; i++)
		wrong += memory[i] != (unsigned char)(2 * turns + 1);
	CHECK(cudaFree(memory));
	printf("bytes=%zu\nturns=%zu\nprefetches=2\nwrong=%zu\n", bytes, turns, wrong);
	return wrong != 0;
}
