/* SPDX-License-Identifier: Apache-2.0 */
/*
 * Kernels with textures and surfaces that the fake driver knows and really runs
 * (tests/fakes/cuda/kernels.c). textures_90.cubin is made of it in a folder /src:
 *   nvcc -cubin -arch=sm_90 -o textures_90.cubin /src/textures.cu
 */

/* Each element of the picture by the weight of its column. */
extern "C" __global__ void replay_blend(cudaTextureObject_t picture, cudaTextureObject_t weights,
                                        cudaSurfaceObject_t out, int width, int height)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	int x = i % width;
	int y = i / width;

	if (y < height)
		surf2Dwrite(tex2D<float>(picture, x, y) * tex1Dfetch<float>(weights, x), out, 4 * x,
		            y);
}

struct column {
	int unused;
	int column;
	cudaTextureObject_t picture;
};

/* A column of the picture, whose handle is inside of a parameter; the count may look like one. */
extern "C" __global__ void replay_pick_texel(column from, float *values, size_t count)
{
	size_t i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		values[i] = tex2D<float>(from.picture, from.column, i);
}

/* Handles in a table in memory, one after the other. */
extern "C" __global__ void replay_table(const cudaTextureObject_t *table, float *values, int tables,
                                        int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;

	if (i < count)
		values[i] = tex1Dfetch<float>(table[i % tables], i);
}
