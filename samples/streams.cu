/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Work on several streams: each copies its part in, computes on it and copies it out. Copies
 * of one stream run beside kernels of another, and small kernels beside each other.
 * Usage: streams [STREAMS] [ROUNDS] [ELEMENTS]
 */
#include <vector>

#include "samples/check.h"

/* Busy for a while on few multiprocessors, so that there is room for others. */
__global__ void step(float *values, size_t count, int turns)
{
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count;
	     i += (size_t)gridDim.x * blockDim.x) {
		float value = values[i];

		for (int turn = 0; turn < turns; turn++)
			value = value * 0.5f + 1.0f; /* 2 stays 2 */
		values[i] = value;
	}
}

int main(int argc, char **argv)
{
	const size_t stream_count = argument(argc, argv, 1, 4);
	const size_t rounds = argument(argc, argv, 2, 8);
	const size_t elements = argument(argc, argv, 3, (size_t)1 << 20);
	const size_t bytes = elements * sizeof(float);
	std::vector<cudaStream_t> streams(stream_count);
	std::vector<float *> host(stream_count), device(stream_count);
	size_t wrong = 0;

	for (size_t s = 0; s < stream_count; s++) {
		CHECK(cudaStreamCreateWithFlags(&streams[s], cudaStreamNonBlocking));
		CHECK(cudaMallocHost((void **)&host[s], bytes));
		CHECK(cudaMalloc((void **)&device[s], bytes));
		for (size_t i = 0; i < elements; i++)
			host[s][i] = 2.0f;
	}
	for (size_t round = 0; round < rounds; round++)
		for (size_t s = 0; s < stream_count; s++) {
			CHECK(cudaMemcpyAsync(device[s], host[s], bytes, cudaMemcpyHostToDevice,
			                      streams[s]));
			step<<<8, 256, 0, streams[s]>>>(device[s], elements, 200);
			CHECK(cudaGetLastError());
			CHECK(cudaMemcpyAsync(host[s], device[s], bytes, cudaMemcpyDeviceToHost,
			                      streams[s]));
		}
	for (size_t s = 0; s < stream_count; s++) {
		CHECK(cudaStreamSynchronize(streams[s]));
		for (size_t i = 0; i < elements; i++)
			wrong += host[s][i] != 2.0f;
		CHECK(cudaFree(device[s]));
		CHECK(cudaFreeHost(host[s]));
		CHECK(cudaStreamDestroy(streams[s]));
	}
	printf("streams=%zu\nlaunches=%zu\nbytes_each_way=%zu\nwrong=%zu\n", stream_count,
	       stream_count * rounds, stream_count * rounds * bytes, wrong);
	return wrong != 0;
}
