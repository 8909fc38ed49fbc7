/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/calibrate/kernels/mma.cuh"

/* Tensor cores from Ada on. */

static __device__ __forceinline__ void m16n8k32_fp8(float *sums, const unsigned *a,
                                                    const unsigned *b)
{
	MMA_4_2("m16n8k32.row.col.f32.e4m3.e4m3.f32");
}

MMA_KERNEL(gt_mma_m16n8k32_fp8, EIGHTS, 4, 2, m16n8k32_fp8)
