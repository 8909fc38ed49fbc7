/* SPDX-License-Identifier: Apache-2.0 */
#ifndef GT_REPLAY_MMA_CUH
#define GT_REPLAY_MMA_CUH

#include "replay/kernels/kernel.cuh"

/*
 * Tensor cores by mma.sync, whose operands are in registers of a warp: each warp multiplies the
 * same operands into TILES sums that do not wait for each other, TURNS times each in a round.
 */
#define TILES 8
#define TURNS 8

/* Of a kernel whose sums are four FP32 of each thread. a and b: registers of the operands. */
#define MMA_KERNEL(name, values, a_count, b_count, multiply)                                       \
	KERNEL(name)                                                                               \
	{                                                                                          \
		const struct spent begun = begin();                                                \
		unsigned a[a_count];                                                               \
		unsigned b[b_count];                                                               \
		float sums[TILES][4] = {};                                                         \
		float sum = 0;                                                                     \
                                                                                                   \
		for (int i = 0; i < a_count; i++)                                                  \
			a[i] = operand(threadIdx.x * 8 + i, values);                               \
		for (int i = 0; i < b_count; i++)                                                  \
			b[i] = operand(threadIdx.x * 8 + 4 + i, values);                           \
		for (unsigned round = 0; round < rounds; round++)                                  \
			_Pragma("unroll") for (int turn = 0; turn < TURNS; turn++)                 \
				_Pragma("unroll") for (int i = 0; i < TILES; i++)                  \
					multiply(sums[i], a, b);                                   \
		for (int i = 0; i < TILES; i++)                                                    \
			sum += sums[i][0] + sums[i][1] + sums[i][2] + sums[i][3];                  \
		keep(__float_as_uint(sum), to);                                                    \
		end(begun, spent);                                                                 \
	}

/* Four registers of A and two of B. */
#define MMA_4_2(instruction)                                                                       \
	asm volatile("mma.sync.aligned." instruction                                               \
	             " {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, %3};"            \
	             : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])                  \
	             : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b[0]), "r"(b[1]))

#endif
