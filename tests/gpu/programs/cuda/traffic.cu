/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that move a known number of bytes between the GPU and its memory, each for a millisecond
 * or more: traffic [GIBIBYTES] [LAUNCHES]. Prints a line of JSON with what one launch of each reads
 * and writes. Buffers are far larger than the L2 cache, so that what is asked for is what is moved,
 * but for the share of the cache in what was written last.
 */
#include <cstdint>
#include <cstdio>
#include <ctime>

#include "samples/check.h"

enum { ROUNDS = 8, THREADS = 256, BLOCKS = 4096 };

__global__ void copy_rounds(const uint4 *from, uint4 *to, size_t count)
{
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
		     i += (size_t)gridDim.x * blockDim.x)
			to[i] = from[i];
}

/* Read values are only written if they sum up to what they never do. */
__global__ void read_rounds(const uint4 *from, uint4 *to, size_t count)
{
	uint32_t sum = 0;

	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
		     i += (size_t)gridDim.x * blockDim.x) {
			const uint4 value = __ldcv(&from[i]);

			sum |= value.x | value.y | value.z | value.w;
		}
	if (sum == 0xdeadbeef)
		to[0].x = sum;
}

__global__ void write_rounds(uint4 *to, size_t count)
{
	for (int round = 0; round < ROUNDS; round++)
		for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
		     i += (size_t)gridDim.x * blockDim.x)
			to[i] = make_uint4(round, round, round, round);
}

/* Sampling begins some milliseconds after the context, and kernels are to have a gap between them. */
static void rest(long milliseconds)
{
	const struct timespec time = {milliseconds / 1000, milliseconds % 1000 * 1000000};

	CHECK(cudaDeviceSynchronize());
	nanosleep(&time, NULL);
}

int main(int argc, char **argv)
{
	const size_t bytes = argument(argc, argv, 1, 1) << 30;
	const size_t launches = argument(argc, argv, 2, 50);
	const size_t count = bytes / sizeof(uint4);
	const unsigned long long moved = (unsigned long long)bytes * ROUNDS;
	uint4 *from, *to;

	CHECK(cudaMalloc(&from, bytes));
	CHECK(cudaMalloc(&to, bytes));
	CHECK(cudaMemset(from, 0, bytes));
	rest(1000);
	for (size_t i = 0; i < launches; i++)
		copy_rounds<<<BLOCKS, THREADS>>>(from, to, count);
	rest(50);
	for (size_t i = 0; i < launches; i++)
		read_rounds<<<BLOCKS, THREADS>>>(from, to, count);
	rest(50);
	for (size_t i = 0; i < launches; i++)
		write_rounds<<<BLOCKS, THREADS>>>(to, count);
	CHECK(cudaGetLastError());
	rest(50);
	printf("{\"copy_rounds\": {\"read\": %llu, \"written\": %llu}, "
	       "\"read_rounds\": {\"read\": %llu, \"written\": 0}, "
	       "\"write_rounds\": {\"read\": 0, \"written\": %llu}}\n",
	       moved, moved, moved, moved);
	return 0;
}
