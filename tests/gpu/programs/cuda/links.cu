/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Moves a known number of bytes one way over one link, by copies or by a kernel:
 *   to_device, to_host      copies between pinned memory and GPU 0
 *   read_host, write_host   a kernel on GPU 0 that reads, or writes, pinned memory
 *   peer_copy               copies from GPU 0 to GPU 1
 *   peer_read, peer_write   a kernel on GPU 0 that reads, or writes, memory of GPU 1
 * Usage: links WAY [BYTES] [REPEATS]
 */
#include <string.h>

#include "samples/check.h"

static __global__ void move(const uint4 *from, uint4 *to, size_t count)
{
	const size_t step = (size_t)gridDim.x * blockDim.x;

	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += step)
		to[i] = from[i];
}

static void *take(int device, size_t bytes)
{
	void *memory;

	CHECK(cudaSetDevice(device));
	CHECK(cudaMalloc(&memory, bytes));
	CHECK(cudaMemset(memory, 1, bytes));
	return memory;
}

static void *take_pinned(size_t bytes)
{
	void *memory;

	CHECK(cudaMallocHost(&memory, bytes));
	memset(memory, 2, bytes);
	return memory;
}

static void reach(int device, int peer)
{
	int can = 0;

	CHECK(cudaDeviceCanAccessPeer(&can, device, peer));
	printf("can_access_peer=%d\n", can);
	CHECK(cudaSetDevice(device));
	if (can)
		CHECK(cudaDeviceEnablePeerAccess(peer, 0));
}

int main(int argc, char **argv)
{
	const char *way = argc > 1 ? argv[1] : "";
	const size_t bytes = argument(argc, argv, 2, (size_t)256 << 20);
	const size_t repeats = argument(argc, argv, 3, 40);
	const bool peer = strncmp(way, "peer", 4) == 0;
	const bool by_kernel = strstr(way, "read") || strstr(way, "write");
	void *near = take(0, bytes);
	void *far = peer ? take(1, bytes) : take_pinned(bytes);
	const bool inwards = strcmp(way, "to_device") == 0 || strstr(way, "read");
	void *to = inwards ? near : far;
	void *from = inwards ? far : near;
	cudaEvent_t start, stop;

	if (!*way) {
		fprintf(stderr, "usage: links WAY [BYTES] [REPEATS]\n");
		return 2;
	}
	if (peer)
		reach(0, 1);
	CHECK(cudaSetDevice(0));
	CHECK(cudaDeviceSynchronize());
	CHECK(cudaEventCreate(&start));
	CHECK(cudaEventCreate(&stop));
	CHECK(cudaEventRecord(start));
	for (size_t i = 0; i < repeats; i++) {
		if (by_kernel)
			move<<<1024, 256>>>((const uint4 *)from, (uint4 *)to,
			                    bytes / sizeof(uint4));
		else if (peer)
			CHECK(cudaMemcpyPeerAsync(to, 1, from, 0, bytes, 0));
		else
			CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDefault, 0));
	}
	CHECK(cudaEventRecord(stop));
	CHECK(cudaEventSynchronize(stop));
	printf("way=%s\nbytes=%zu\ngbps=%.2f\n", way, bytes * repeats,
	       gigabytes_per_second(bytes * repeats, start, stop));
	return 0;
}
