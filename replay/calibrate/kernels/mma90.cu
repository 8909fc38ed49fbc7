/* SPDX-License-Identifier: Apache-2.0 */
#include "replay/calibrate/kernels/mma.cuh"

/* Tensor cores from Hopper on: FP64 in larger tiles. */

static __device__ __forceinline__ void m16n8k16_fp64(double *sums, const double *a, const double *b)
{
	asm volatile("mma.sync.aligned.m16n8k16.row.col.f64.f64.f64.f64 {%0, %1, %2, %3},"
	             " {%4, %5, %6, %7, %8, %9, %10, %11}, {%12, %13, %14, %15}, {%0, %1, %2, %3};"
	             : "+d"(sums[0]), "+d"(sums[1]), "+d"(sums[2]), "+d"(sums[3])
	             : "d"(a[0]), "d"(a[1]), "d"(a[2]), "d"(a[3]), "d"(a[4]), "d"(a[5]), "d"(a[6]),
	               "d"(a[7]), "d"(b[0]), "d"(b[1]), "d"(b[2]), "d"(b[3]));
}

KERNEL(gt_mma_m16n8k16_fp64)
{
	const struct spent begun = begin();
	double a[8];
	double b[4];
	unsigned number = threadIdx.x;
	double sums[TILES][4] = {};
	double sum = 0;

	for (int i = 0; i < 8; i++)
		a[i] = 0.5 + 1e-10 * scrambled(threadIdx.x * 12 + i);
	for (int i = 0; i < 4; i++)
		b[i] = 0.5 + 1e-10 * scrambled(threadIdx.x * 12 + 8 + i);
	for (unsigned round = 0; round < rounds; round++)
#pragma unroll
		for (int turn = 0; turn < TURNS; turn++) {
			number = number * 1664525u + 1013904223u;
			b[turn % 4] = changed(b[turn % 4], number);
#pragma unroll
			for (int i = 0; i < TILES; i++)
				m16n8k16_fp64(sums[i], a, b);
		}
	for (int i = 0; i < TILES; i++)
		sum += sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];
	keep((unsigned)__double2loint(sum), to);
	end(begun, spent);
}
