/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Many launches of a kernel that takes next to no time: the host is the bottleneck, the GPU
 * waits for it. Usage: launches [COUNT]
 */
#include <time.h>

#include "samples/check.h"

__global__ void tick(unsigned long long *counter)
{
	++*counter; /* one thread, and launches of one stream never overlap */
}

static double now_us(void)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec * 1e6 + (double)now.tv_nsec / 1e3;
}

int main(int argc, char **argv)
{
	const size_t launches = argument(argc, argv, 1, 20000);
	unsigned long long *counter;
	unsigned long long counted = 0;

	CHECK(cudaMalloc((void **)&counter, sizeof(*counter)));
	CHECK(cudaMemset(counter, 0, sizeof(*counter)));

	const double start_us = now_us();

	for (size_t i = 0; i < launches; i++) {
		tick<<<1, 1>>>(counter);
		CHECK(cudaGetLastError());
	}

	const double launched_us = now_us();

	CHECK(cudaDeviceSynchronize());
	CHECK(cudaMemcpy(&counted, counter, sizeof(counted), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(counter));
	printf("launches=%zu\ncounted=%llu\nus_per_launch=%.3f\n", launches, counted,
	       (launched_us - start_us) / (double)launches);
	return counted != launches;
}
