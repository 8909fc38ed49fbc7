/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/calibrate/kernels/mma.cuh"

/* Tensor cores of Turing: FP16 alone. */

static __device__ __forceinline__ void m16n8k8_fp16(float *sums, const unsigned *a,
                                                    const unsigned *b)
{
	asm volatile("mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32"
	             " {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
	             : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
	             : "r"(a[0]), "r"(a[1]), "r"(b[0]));
}

MMA_KERNEL(gt_mma_m16n8k8_fp16, HALVES, 2, 1, m16n8k8_fp16)
