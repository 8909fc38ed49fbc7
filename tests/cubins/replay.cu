/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels that the fake driver knows and really runs (tests/fakes/cuda/kernels.c), for launches that
 * are captured and replayed. replay_90.cubin is made of it in a folder /src:
 *   nvcc -cubin -arch=sm_90 -o replay_90.cubin /src/replay.cu
 */
__constant__ float replay_weights[4];
__device__ unsigned replay_launches;

extern "C" __global__ void replay_scale(float *values, float by, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		values[i] *= by;
}

/* Through a table of pointers in memory. */
extern "C" __global__ void replay_gather(const float *const *rows, float *sums, int row_count,
                                         int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;

	if (i >= count)
		return;
	for (int row = 0; row < row_count; row++)
		sum += rows[row][i];
	sums[i] = sum;
}

/* With variables of the module, one of which it changes. */
extern "C" __global__ void replay_weigh(const float *values, float *weighed, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		weighed[i] = values[i] * replay_weights[i % 4];
	if (i == 0)
		replay_launches++;
}

/* Writes one element too many. */
extern "C" __global__ void replay_spill(float *values, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i <= count)
		values[i] = 1.5f;
}

/* Leaves every second element as it was. */
extern "C" __global__ void replay_half(float *values, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count && i % 2 == 0)
		values[i] = 2.5f;
}

/* Other bytes in every run. */
extern "C" __global__ void replay_vary(float *values, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		values[i] = (float)(clock64() % 1000);
}

/* An infinity of each 0. */
extern "C" __global__ void replay_reciprocal(float *values, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		values[i] = 1.0f / values[i];
}

/* Writes to no memory of the GPU's. */
extern "C" __global__ void replay_fault(void)
{
	*(volatile int *)16 = 1;
}
