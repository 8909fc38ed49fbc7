/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/calibrate/kernels/mma.cuh"

/* Tensor cores from Ampere on. */

static __device__ __forceinline__ void m16n8k16_fp16(float *sums, const unsigned *a,
                                                     const unsigned *b)
{
	MMA_4_2("m16n8k16.row.col.f32.f16.f16.f32");
}

static __device__ __forceinline__ void m16n8k16_bf16(float *sums, const unsigned *a,
                                                     const unsigned *b)
{
	MMA_4_2("m16n8k16.row.col.f32.bf16.bf16.f32");
}

static __device__ __forceinline__ void m16n8k8_tf32(float *sums, const unsigned *a,
                                                    const unsigned *b)
{
	MMA_4_2("m16n8k8.row.col.f32.tf32.tf32.f32");
}

MMA_KERNEL(gt_mma_m16n8k16_fp16, HALVES, 4, 2, m16n8k16_fp16)
MMA_KERNEL(gt_mma_m16n8k16_bf16, BHALVES, 4, 2, m16n8k16_bf16)
MMA_KERNEL(gt_mma_m16n8k8_tf32, TF32S, 4, 2, m16n8k8_tf32)

static __device__ __forceinline__ void m8n8k4_fp64(double *sums, double a, double b)
{
	asm volatile(
		"mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};"
		: "+d"(sums[0]), "+d"(sums[1])
		: "d"(a), "d"(b));
}

KERNEL(gt_mma_m8n8k4_fp64)
{
	const struct spent begun = begin();
	const double a = 0.5 + 1e-10 * scrambled(threadIdx.x);
	unsigned number = threadIdx.x;
	double b[TILES];
	double sums[TILES][2] = {};
	double sum = 0;

	for (int i = 0; i < TILES; i++)
		b[i] = 0.5 + 1e-10 * scrambled(threadIdx.x * TILES + i);
	for (unsigned round = 0; round < rounds; round++)
#pragma unroll
		for (int turn = 0; turn < TURNS; turn++) {
			number = number * 1664525u + 1013904223u;
#pragma unroll
			for (int i = 0; i < TILES; i++)
				m8n8k4_fp64(sums[i], a, changed(b[i], number));
		}
	for (int i = 0; i < TILES; i++)
		sum += sums[i][0] + sums[i][1];
	keep((unsigned)__double2loint(sum), to);
	end(begun, spent);
}
