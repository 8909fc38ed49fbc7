/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Source of the cubins beside it, in a folder /src, so that no other path is in them:
 *   nvcc -cubin -arch=sm_90 -lineinfo -o sample_90.cubin /src/sample.cu
 *   nvcc -cubin -arch=sm_75 -o sample_75.cubin /src/sample.cu
 * driver_90a.cubin is what the driver of an H200 (580.159.04) made of the PTX in samples/modules.cu.
 *
 * ptxas says of sm_90 (--resource-usage): scale<float> 11 registers, 1024 bytes smem; scale<double>
 * 14 and 2048; stack 38 and 256 bytes cumulative stack size; plain 10.
 */
__constant__ float table[64];

template <typename T> __device__ T twice(T value)
{
	return value + value;
}

template <typename T> __global__ void __launch_bounds__(256) scale(T *values, T by, int count)
{
	__shared__ T tile[256];
	const int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i >= count)
		return;
	tile[threadIdx.x] = twice(values[i]) * by;
	__syncthreads();
	values[i] = tile[255 - threadIdx.x] + table[i & 63];
}

template __global__ void scale<float>(float *, float, int);
template __global__ void scale<double>(double *, double, int);

__device__ __noinline__ float helper(const float *from, int count)
{
	volatile float kept[64];
	float sum = 0;

	for (int i = 0; i < count; i++)
		kept[i & 63] = from[i];
	for (int i = 0; i < 64; i++)
		sum += kept[i * 7 & 63];
	return sum;
}

__global__ void stack(float *values, int count)
{
	values[0] = helper(values, count);
}

extern "C" __global__ void plain(float *values)
{
	values[threadIdx.x] = 1;
}
