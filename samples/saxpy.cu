/* SPDX-License-Identifier: Apache-2.0 */
/*
 * y = a x + y on long vectors: a kernel that does nothing but move memory, so its speed should
 * come close to what the memory can do. Measures itself with CUDA events, to compare with what
 * gputrace says. Usage: saxpy [ELEMENTS] [LAUNCHES]
 */
#include <vector>

#include "samples/check.h"

__global__ void fill(float *target, float value, size_t count)
{
	const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		target[i] = value;
}

__global__ void saxpy(float a, const float *x, float *y, size_t count)
{
	const size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		y[i] = a * x[i] + y[i];
}

int main(int argc, char **argv)
{
	const size_t elements = argument(argc, argv, 1, (size_t)1 << 27);
	const size_t launches = argument(argc, argv, 2, 20);
	const unsigned threads = 256;
	const unsigned blocks = (unsigned)((elements + threads - 1) / threads);
	/* Each element of x is read, each of y is read and written. */
	const size_t bytes_per_launch = 3 * elements * sizeof(float);
	std::vector<float> result(elements);
	cudaEvent_t start, stop;
	float *x, *y;
	size_t wrong = 0;

	CHECK(cudaMalloc(&x, elements * sizeof(float)));
	CHECK(cudaMalloc(&y, elements * sizeof(float)));
	CHECK(cudaEventCreate(&start));
	CHECK(cudaEventCreate(&stop));
	fill<<<blocks, threads>>>(x, 1.0f, elements);
	CHECK(cudaGetLastError());
	fill<<<blocks, threads>>>(y, 2.0f, elements);
	CHECK(cudaGetLastError());

	CHECK(cudaEventRecord(start));
	for (size_t i = 0; i < launches; i++) {
		saxpy<<<blocks, threads>>>(0.5f, x, y, elements);
		CHECK(cudaGetLastError());
	}
	CHECK(cudaEventRecord(stop));
	CHECK(cudaEventSynchronize(stop));
	CHECK(cudaMemcpy(result.data(), y, elements * sizeof(float), cudaMemcpyDeviceToHost));

	/* Small multiples of one half: exact in a float up to 2^23 launches. */
	for (size_t i = 0; i < elements; i++)
		wrong += result[i] != 2.0f + 0.5f * (float)launches;
	printf("elements=%zu\nlaunches=%zu\nbytes_per_launch=%zu\n", elements, launches,
	       bytes_per_launch);
	printf("result_bytes=%zu\nwrong=%zu\n", elements * sizeof(float), wrong);
	printf("gbps=%.2f\n", gigabytes_per_second(bytes_per_launch * launches, start, stop));
	CHECK(cudaEventDestroy(stop));
	CHECK(cudaEventDestroy(start));
	CHECK(cudaFree(y));
	CHECK(cudaFree(x));
	return wrong != 0;
}
